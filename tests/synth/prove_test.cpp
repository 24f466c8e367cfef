// The proof after emission: it accepts what emission writes, and refuses it after every single edit
// that makes it wrong. The edits are to the text, line by line, of all golden modules and of the
// benchmark's kernels.

#include "synth/proof/prove.h"

#include "golden_file.h"
#include "synth/rewrite.h"
#include "tests/hazards/hazard.h"
#include "tests/synth/versions.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

namespace prove_test {

using namespace ptxasw::test;

namespace {

/// A module, its rewritten form, and which loads were replaced.
struct Rewritten {
  std::unique_ptr<Module> original;
  RewriteOptions options;
  std::string text;
  std::vector<std::vector<std::uint32_t>> replaced; ///< by function
};

/// Nothing if no load was replaced.
std::optional<Rewritten> rewritten(const std::string &text, const RewriteOptions &options) {
  const auto result = rewrite_module(text, "module", options);
  REQUIRE(result);
  if (!result->changed)
    return std::nullopt;
  auto module = parse(text, "module");
  REQUIRE(module);
  Rewritten all{std::move(*module), options, result->text, {}};
  all.replaced.resize(all.original->functions.size());
  for (const KernelReport &kernel : result->report.kernels) {
    for (std::size_t f = 0; f < all.replaced.size(); ++f) {
      const Function &function = all.original->functions[f];
      if (function.name != kernel.name)
        continue;
      for (std::uint32_t i = 0; i < function.instructions.size(); ++i)
        for (const RewriteRecord &record : kernel.rewrites)
          if (record.line == function.instructions[i].line)
            all.replaced[f].push_back(i);
    }
  }
  return all;
}

/// What the proof refuses in some version of the rewritten text.
std::vector<Unproved> refused(const Rewritten &module, const std::string &text) {
  std::vector<Unproved> all;
  for (const FunctionProof &proof :
       prove(*module.original, text, module.replaced, module.options)) {
    all.insert(all.end(), proof.unproved.begin(), proof.unproved.end());
  }
  return all;
}

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

/// An index, its comparison and its bound in a test for wrap-around.
std::optional<std::tuple<std::string, std::string, long long>> wrap_test(const std::string &line) {
  static const std::regex form(
      R"(setp\.(gt|lt)(?:\.or)?(\.[su]32) [^,]*, ([^,]*), (-?[0-9]{6,})[,;].*)");
  std::smatch found;
  if (!std::regex_search(line, found, form))
    return std::nullopt;
  return std::tuple(found[3].str(), found[1].str() + found[2].str(), std::stoll(found[4]));
}

/// Returns true if a line tests for wrap-around what another line tests as strictly: then it may
/// go, and so may the predicates that only such lines made.
bool is_redundant(const std::vector<std::string> &lines, std::size_t i) {
  const auto own = wrap_test(lines[i]);
  for (std::size_t k = 0; own && k < lines.size(); ++k)
    if (const auto another = k == i ? std::nullopt : wrap_test(lines[k]))
      if (std::get<0>(*another) == std::get<0>(*own) &&
          std::get<1>(*another) == std::get<1>(*own) &&
          (std::get<1>(*own)[0] == 'g' ? std::get<2>(*another) <= std::get<2>(*own)
                                       : std::get<2>(*another) >= std::get<2>(*own)))
        return true;
  return false;
}

/// Returns true if everything a line of such a chain joins with its own test is redundant.
bool joins_redundant(const std::vector<std::string> &lines, std::size_t i) {
  if (!wrap_test(lines[i]))
    return false;
  const std::string before = lines[i].substr(lines[i].rfind(", ") + 2);
  for (std::size_t k = 0; k < i; ++k)
    if (lines[k].find(" " + before.substr(0, before.size() - 1) + ",") != std::string::npos)
      return is_redundant(lines, k) &&
             (lines[k].find(".or.") == std::string::npos || joins_redundant(lines, k));
  return false;
}

/// A way to spoil an added line: what it looks like, and what it becomes. Each makes the kernel
/// wrong for some launch, input or schedule whenever it applies.
struct Edit {
  const char *name;
  std::regex pattern;
  std::function<std::string(const std::smatch &)> replacement;
};

std::string other(const std::string &word, const char *a, const char *b) {
  return word == a ? b : a;
}

std::string plus(const std::string &number, long long amount) {
  return std::to_string(std::stoll(number) + amount);
}

std::string removed(const std::smatch &) { return ""; }

const std::vector<Edit> &edits() {
  const std::string own = "%ptxasw[0-9]*_";
  static const std::vector<Edit> all{
      {"shuffle the other way", std::regex(R"(shfl\.sync\.(up|down)(.*), (0|31), ([^,]*);)"),
       [](const std::smatch &m) {
         return fmt::format("shfl.sync.{}{}, {}, {};", other(m[1], "up", "down"), m[2].str(),
                            other(m[3], "0", "31"), m[4].str());
       }},
      {"shuffle one lane too far", std::regex(R"((shfl\.sync\..*, )([0-9]+)(, (?:0|31), [^,]*;))"),
       [](const std::smatch &m) { return m[1].str() + plus(m[2], 1) + m[3].str(); }},
      {"shuffle within half warps", std::regex(R"((shfl\.sync\..*, [0-9]+, )(0|31)(, [^,]*;))"),
       [](const std::smatch &m) {
         return m[1].str() + (m[2] == "0" ? "4096" : "4127") + m[3].str();
       }},
      {"shuffle with every lane of the warp", std::regex(R"((shfl\.sync\..*, (?:0|31), )[^,]*;)"),
       [](const std::smatch &m) { return m[1].str() + "-1;"; }},
      {"mask read again behind its test", std::regex(R"((shfl\.sync\..*, (?:0|31), )([^,]*);)"),
       [](const std::smatch &m) {
         return fmt::format("activemask.b32 {0}; {1}{0};", m[2].str(), m[1].str());
       }},
      {"shuffle without", std::regex(R"(shfl\.sync.*;)"), removed},
      {"shuffle another register", std::regex(R"((shfl\.sync\.[^,]*, )[^,]*(,.*;))"),
       [](const std::smatch &m) { return m[1].str() + "%ptxasw_r0" + m[2].str(); }},
      {"mask not read", std::regex(R"(activemask.*;)"), removed},
      {"mask made up", std::regex(R"(activemask\.b32 (.*);)"),
       [](const std::smatch &m) { return "mov.b32 " + m[1].str() + ", -1;"; }},
      {"mask tested for the opposite", std::regex(R"(setp\.ne((?:\.or)?\.s32 .*, -1[,;].*))"),
       [](const std::smatch &m) { return "setp.eq" + m[1].str(); }},
      {"mask tested for another value", std::regex(R"((setp\.ne(?:\.or)?\.s32 .*, )-1([,;].*))"),
       [](const std::smatch &m) { return m[1].str() + "0x7fffffff" + m[2].str(); }},
      {"test dropped", std::regex(R"(setp\.([a-z]+)\.or(\..*), ([^,]*);)"),
       [](const std::smatch &m) { return "setp." + m[1].str() + m[2].str() + ";"; }},
      {"test without the one before",
       std::regex(R"(setp\.[a-z]+\.or\.[a-z0-9]+ ([^,]*),.*, ([^,]*);)"),
       [](const std::smatch &m) { return "mov.pred " + m[1].str() + ", " + m[2].str() + ";"; }},
      {"tests joined by and", std::regex(R"((setp\.[a-z]+)\.or(\..*;))"),
       [](const std::smatch &m) { return m[1].str() + ".and" + m[2].str(); }},
      {"one of two predicates", std::regex(R"(or\.pred ([^,]*), ([^,]*), ([^,]*);)"),
       [](const std::smatch &m) { return "mov.pred " + m[1].str() + ", " + m[2].str() + ";"; }},
      {"the other of two predicates", std::regex(R"(or\.pred ([^,]*), ([^,]*), ([^,]*);)"),
       [](const std::smatch &m) { return "mov.pred " + m[1].str() + ", " + m[3].str() + ";"; }},
      {"a lane too near the edge",
       std::regex("(setp\\.lt.*" + own + "(?:below|above), )([0-9]+)(.*;)"),
       [](const std::smatch &m) { return m[1].str() + plus(m[2], -1) + m[3].str(); }},
      {"the other edge", std::regex("(setp\\.lt.*" + own + ")(below|above)(.*;)"),
       [](const std::smatch &m) {
         return m[1].str() + other(m[2], "below", "above") + m[3].str();
       }},
      {"beyond the edge only", std::regex("setp\\.lt(.*" + own + "(?:below|above).*;)"),
       [](const std::smatch &m) { return "setp.gt" + m[1].str(); }},
      {"rows not looked at", std::regex("min\\.u32 (" + own + "(?:below|above)), ([^,]*), [^,]*;"),
       [](const std::smatch &m) { return "mov.u32 " + m[1].str() + ", " + m[2].str() + ";"; }},
      {"warp not looked at", std::regex("min\\.u32 (" + own + "(?:below|above)), [^,]*, ([^,]*);"),
       [](const std::smatch &m) { return "mov.u32 " + m[1].str() + ", " + m[2].str() + ";"; }},
      {"the farther edge", std::regex("min\\.u32(.*;)"),
       [](const std::smatch &m) { return "max.u32" + m[1].str(); }},
      {"warps of 33", std::regex("(sub\\.s32 " + own + "above, )31(.*;)"),
       [](const std::smatch &m) { return m[1].str() + "32" + m[2].str(); }},
      {"rows too long", std::regex("(add\\.s32 " + own + "r[0-9]+, .*, )-1;"),
       [](const std::smatch &m) { return m[1].str() + "0;"; }},
      {"another lane number", std::regex("(mov\\.u32 " + own + "[a-z0-9]+, )%laneid;"),
       [](const std::smatch &m) { return m[1].str() + "%warpid;"; }},
      {"another position in the row", std::regex("(mov\\.u32 " + own + "r[0-9]+, )%tid\\.x;"),
       [](const std::smatch &m) { return m[1].str() + "%tid.y;"; }},
      {"another length of the row", std::regex("(mov\\.u32 " + own + "r[0-9]+, )%ntid\\.x;"),
       [](const std::smatch &m) { return m[1].str() + "%nctaid.x;"; }},
      {"copy not made", std::regex("mov\\.b(?:16|32|64) \\{?" + own + "[^,]*, .*;"), removed},
      {"copy made of nothing", std::regex("(mov\\.b(?:32|64) " + own + "[a-z0-9]*, )[^,{}]*;"),
       [](const std::smatch &m) { return m[1].str() + "0;"; }},
      {"copied the other way", std::regex("mov\\.b(16|32|64) (" + own + "[a-z0-9]*), (%[^,{}]*);"),
       [](const std::smatch &m) {
         return fmt::format("mov.b{} {}, {};", m[1].str(), m[3].str(), m[2].str());
       }},
      {"words swapped", std::regex(R"((mov\.b64.*)\{([^,]*), ([^,]*)\}(.*;))"),
       [](const std::smatch &m) {
         return fmt::format("{}{{{}, {}}}{}", m[1].str(), m[3].str(), m[2].str(), m[4].str());
       }},
      {"halves swapped", std::regex(R"((mov\.b32 )\{([^,]*), ([^,]*)\}(,.*;))"),
       [](const std::smatch &m) {
         // The source holds the value in both halves: only what is kept counts.
         return fmt::format("{}{{{}, {}}}, 0;", m[1].str(), m[2].str(), m[3].str());
       }},
      {"edges load from elsewhere",
       std::regex("(@" + own + ".* ld.*\\[)([^\\]+]*)((?:\\+-?[0-9]+)?)(\\].*;)"),
       [](const std::smatch &m) {
         return m[1].str() + m[2].str() + "+" +
                (m[3].length() ? plus(m[3].str().substr(1), 4) : "4") + m[4].str();
       }},
      {"edges load where they should not", std::regex("@(" + own + ".* ld.*;)"),
       [](const std::smatch &m) { return "@!" + m[1].str(); }},
      {"edges not loaded", std::regex("@" + own + ".* ld.*;"), removed},
      {"loads where the kernel does not",
       std::regex("and\\.pred (" + own + "[^,]*), [^,]*, ([^,]*);"),
       [](const std::smatch &m) { return "mov.pred " + m[1].str() + ", " + m[2].str() + ";"; }},
      {"written under the opposite", std::regex("@(" + own + "[^ ]* mov.*;)"),
       [](const std::smatch &m) { return "@!" + m[1].str(); }},
      {"wraps one later", std::regex("(setp\\.gt(?:\\.or)?\\.[su]32 .*, )([0-9]{6,})([,;].*)"),
       [](const std::smatch &m) { return m[1].str() + plus(m[2], 1) + m[3].str(); }},
      {"wraps one earlier", std::regex("(setp\\.lt(?:\\.or)?\\.[su]32 .*, )(-?[0-9]{6,})([,;].*)"),
       [](const std::smatch &m) { return m[1].str() + plus(m[2], -1) + m[3].str(); }},
      {"wraps at the other end", std::regex("setp\\.gt((?:\\.or)?\\.[su]32 .*, [0-9]{6,}[,;].*)"),
       [](const std::smatch &m) { return "setp.lt" + m[1].str(); }},
      {"test not made", std::regex("setp.*;"), removed},
      {"addresses tested for the opposite", std::regex(R"(setp\.(eq|ne)((?:\.or)?\.s64 .*;))"),
       [](const std::smatch &m) { return "setp." + other(m[1], "eq", "ne") + m[2].str(); }},
      {"addresses tested for another distance",
       std::regex(R"((setp\.(?:eq|ne)(?:\.or)?\.s64 [^,]*, [^,]*, )(-?[0-9]+)([,;].*))"),
       [](const std::smatch &m) { return m[1].str() + plus(m[2], 4) + m[3].str(); }},
      {"another butterfly", std::regex("(xor\\.b32 " + own + "[^,]*, .*, )([0-9]+);"),
       [](const std::smatch &m) { return m[1].str() + plus(m[2], 1) + ";"; }},
      {"butterfly the other way",
       std::regex("(sub\\.s32 )(" + own + "r[0-9]+), (" + own + "r[0-9]+), (" + own + "r[0-9]+);"),
       [](const std::smatch &m) {
         return fmt::format("{}{}, {}, {};", m[1].str(), m[2].str(), m[4].str(), m[3].str());
       }},
      {"lanes farther apart", std::regex("(mul\\.wide\\.s32 " + own + "[^,]*, .*, )(-?[0-9]+);"),
       [](const std::smatch &m) { return m[1].str() + plus(m[2], 4) + ";"; }},
      {"one beyond the row", std::regex("setp\\.ge\\.u32( " + own + ".*;)"),
       [](const std::smatch &m) { return "setp.gt.u32" + m[1].str(); }},
      {"another divisor", std::regex("(setp\\.lt(?:\\.or)?\\.u32 .*, %r[0-9]+, )1([,;].*)"),
       [](const std::smatch &m) { return m[1].str() + "0" + m[2].str(); }},
      {"overlap too small",
       std::regex(R"((setp\.lt(?:\.or)?\.u64 [^,]*, [^,]*, )([0-9]+)([,;].*))"),
       [](const std::smatch &m) { return m[1].str() + plus(m[2], -1) + m[3].str(); }},
  };
  return all;
}

struct Count {
  unsigned accepted = 0;
  unsigned edits = 0;
  unsigned refused = 0;
};

/// Every edit on every `stride`-th line that it fits.
void spoil(const Rewritten &module, unsigned stride, Count &count) {
  const std::vector<Unproved> none = refused(module, module.text);
  for (const Unproved &one : none)
    FAIL_CHECK("refused as it is: instruction " << one.load << ": "
                                                << std::string(one.missing.why));
  count.accepted += none.empty();
  const std::vector<std::string> lines = lines_of(module.text);
  const auto check = [&](const std::vector<std::string> &changed, const std::string &what) {
    const std::string text = joined(changed);
    ++count.edits;
    const bool found = !refused(module, text).empty();
    count.refused += found;
    CHECK_MESSAGE(found, what);
  };
  unsigned fitting = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool added = lines[i].find("%ptxasw") != std::string::npos;
    if (!added || lines[i].find(".reg") != std::string::npos || is_redundant(lines, i))
      continue;
    for (const Edit &edit : edits()) {
      std::smatch found;
      if (!std::regex_search(lines[i], found, edit.pattern) || fitting++ % stride != 0)
        continue;
      std::vector<std::string> changed = lines;
      changed[i] = found.prefix().str() + edit.replacement(found) + found.suffix().str();
      if (changed[i] != lines[i] &&
          !(std::string_view(edit.name) == "test dropped" && joins_redundant(lines, i)))
        check(changed, fmt::format("{}: {} -> {}", edit.name, lines[i], changed[i]));
    }
  }
  // What was there before must stay as it was, and in its order.
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].find("%ptxasw") == std::string::npos && lines[i].ends_with(";") &&
        lines[i].find_first_not_of("\t ") != std::string::npos &&
        lines[i][lines[i].find_first_not_of("\t ")] != '.' && lines[i][0] != '.')
      own.push_back(i);
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (fitting++ % stride != 0)
      continue;
    std::vector<std::string> changed = lines;
    changed[own[k]].clear();
    check(changed, "removed: " + lines[own[k]]);
    changed = lines;
    changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(own[k]), lines[own[k]]);
    check(changed, "twice: " + lines[own[k]]);
    if (k + 1 < own.size() && lines[own[k]] != lines[own[k + 1]]) {
      changed = lines;
      std::swap(changed[own[k]], changed[own[k + 1]]);
      // A load may move up as long as nothing depends on the order.
      if (lines[own[k + 1]].find("ld.") == std::string::npos)
        check(changed, "swapped: " + lines[own[k]] + " and " + lines[own[k + 1]]);
    }
  }
}

} // namespace

TEST_CASE("golden modules: accepted as they are, refused when spoiled") {
  Count count;
  for (const fs::path &file : files_below(SOURCE_DIR "/tests/synth/golden")) {
    CAPTURE(file.filename().string());
    const std::string text = read(file);
    RewriteOptions options = options_of(text);
    options.in_kernel.clear(); // has a proof of its own
    if (options.variant != Variant::full || file.stem() == "guard-known-to-hold")
      continue; // wrong on purpose; with or without the guard it is the same
    if (const auto module = rewritten(text.substr(text.find(".version")), options))
      spoil(*module, mutant_stride(), count);
  }
  MESSAGE(count.accepted << " modules accepted, " << count.refused << " of " << count.edits
                         << " wrong edits refused");
  CHECK(count.accepted > 40);
}

TEST_CASE("the benchmark's kernels: accepted as they are, refused when spoiled") {
  Count count;
  for (const char *folder : {"suite", "ptx"}) {
    for (const fs::path &file : files_below(fs::path(SOURCE_DIR) / "kernelgen-bench" / folder)) {
      CAPTURE(file.string());
      RewriteOptions options;
      options.shuffle = ShuffleMode::always;
      if (const auto module = rewritten(read(file), options))
        // Larger kernels have more lines of the same kind and take longer to prove. The sample of
        // the set `all` is all that there are.
        spoil(*module,
              static_cast<unsigned>(1 + module->text.size() / 2000) *
                  std::max(1U, mutant_stride() / 3),
              count);
    }
  }
  MESSAGE(count.accepted << " modules accepted, " << count.refused << " of " << count.edits
                         << " wrong edits refused");
  CHECK(count.accepted > 35);
  CHECK(count.refused > 100);
}

namespace {

/// What the proof says of the naive rewrite of a hazard or its twin; empty: proved. It tests no
/// index for wrap-around, so except for the rule about that, none counts as wrapping.
proof::NotProved naive_verdict(const test::Hazard &hazard, const std::string &text) {
  RewriteOptions options;
  options.assume_no_wrap = hazard.rule != "3";
  auto module = parse(text, "module");
  REQUIRE(module);
  std::vector<std::vector<std::uint32_t>> replaced((*module)->functions.size());
  for (std::size_t f = 0; f < replaced.size(); ++f) {
    const Function &function = (*module)->functions[f];
    for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
      const std::string_view rest = (*module)->text().substr(function.instructions[i].span.end);
      if (rest.substr(0, rest.find('\n')).ends_with("// D"))
        replaced[f].push_back(i);
    }
  }
  for (const FunctionProof &proof :
       prove(**module, rewrite_naively(text, hazard.naive), replaced, options))
    if (!proof.unproved.empty())
      return proof.unproved[0].missing;
  return {};
}

} // namespace

TEST_CASE("rewrites that fall into a hazard are refused") {
  unsigned hazards = 0, twins = 0, proved_twins = 0;
  std::map<std::string, unsigned> by_obligation;
  for (const fs::path &file : files_below(fs::path(TRAPS_DIR) / "kernels")) {
    const test::Hazard hazard = test::hazard_of(test::read_trap(file));
    if (!hazard.has_naive)
      continue;
    CAPTURE(hazard.name);
    ++hazards;
    const proof::NotProved missing = naive_verdict(hazard, hazard.text);
    CHECK_FALSE(missing.why.empty());
    ++by_obligation[std::string(missing.part)];
    if (hazard.twin.empty())
      continue;
    ++twins;
    proved_twins += naive_verdict(hazard, hazard.twin).why.empty();
  }
  MESSAGE(hazards << " hazards refused, the same rewrite proved in " << proved_twins << " of "
                  << twins << " twins");
  CHECK(hazards > 100);
  CHECK(proved_twins > 100); // so it is the hazard that was seen
  for (const auto &[name, count] : by_obligation)
    MESSAGE(name << ": " << count);
  for (const char *name :
       {"same-kind", "runs-before", "equal-address", "nothing-between", "in-row", "full-warp"})
    CHECK_MESSAGE(by_obligation[name] > 0, name);
}

namespace {

/// One kernel in which p points to x, q to y, and the lanes of a warp lie in one row.
std::string kernel(const std::string &body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param "
         ".u64 q)\n.reqntid 128, 1, 1\n{\n\t.reg .b64 %rd<16>;\n\t.reg .b32 %r<16>;\n\t.reg .f32 "
         "%f<16>;\n\tld.param.u64 %rd1, [p];\n\tld.param.u64 %rd5, [q];\n\tmov.u32 %r1, "
         "%tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n\tadd.s64 %rd6, "
         "%rd5, %rd2;\n" +
         body + "\tret;\n}\n";
}

/// What the proof says when the load on line `line` (from 1, of the body) was replaced and `after`
/// resulted; empty if all is proved.
std::string verdict(const std::string &before, std::uint32_t line, const std::string &after) {
  auto module = parse(kernel(before), "module");
  REQUIRE(module);
  const auto &instructions = (*module)->functions[0].instructions;
  std::vector<std::uint32_t> replaced;
  for (std::uint32_t i = 0; i < instructions.size(); ++i)
    if (instructions[i].line == 15 + line)
      replaced.push_back(i);
  REQUIRE(replaced.size() == 1);
  const auto proofs = prove(**module, kernel(after), {replaced}, {});
  return proofs[0].unproved.empty() ? "" : std::string(proofs[0].unproved[0].missing.why);
}

} // namespace

TEST_CASE("a copy of what the thread has read itself") {
  const std::string before = "\tld.global.f32 %f1, [%rd3];\n\tadd.f32 %f1, %f1, %f1;\n"
                             "\tld.global.f32 %f2, [%rd3];\n";
  const std::string copy = "\t.reg .b32 %own;\n\tld.global.f32 %f1, [%rd3];\n\tmov.b32 %own, "
                           "%f1;\n\tadd.f32 %f1, %f1, %f1;\n\tmov.b32 %f2, %own;\n";
  CHECK(verdict(before, 3, copy) == "");
  // Behind the addition the register holds something else.
  CHECK(verdict(before, 3,
                "\t.reg .b32 %own;\n\tld.global.f32 %f1, [%rd3];\n\tadd.f32 %f1, %f1, "
                "%f1;\n\tmov.b32 %own, %f1;\n\tmov.b32 %f2, %own;\n") != "");
  // A rewrite must not write a register that the kernel uses.
  CHECK(verdict(before, 3,
                "\tld.global.f32 %f1, [%rd3];\n\tmov.b32 %r1, %f1;\n\tadd.f32 %f1, %f1, "
                "%f1;\n\tmov.b32 %f2, %r1;\n") != "");
}

TEST_CASE("what is loaded at the edges is aligned to all of its size") {
  const std::string four = "\tld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3];\n";
  const auto edges = [&](const std::string &part) {
    return verdict(four + "\tld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%rd3];\n", 2,
                   "\t.reg .b32 %own<5>;\n\t.reg .pred %far;\n" + four +
                       "\tmov.b32 %own1, %f1;\n\tmov.b32 %own2, %f2;\n\tmov.b32 %own3, "
                       "%f3;\n\tmov.b32 %own4, %f4;\n\tsetp.gt.u32 %far, %r1, 5;\n\tmov.b32 "
                       "%f5, %own1;\n\tmov.b32 %f6, %own2;\n\tmov.b32 %f7, %own3;\n\tmov.b32 "
                       "%f8, %own4;\n\t@%far ld.global." +
                       part + ";\n");
  };
  CHECK(edges("v2.f32 {%f7, %f8}, [%rd3+8]") == "");
  CHECK(edges("v2.f32 {%f6, %f7}, [%rd3+4]") != "");
}

TEST_CASE("nothing may store in between, unless it is tested") {
  const auto before = [](const std::string &store) {
    return "\tld.global.f32 %f1, [%rd3];\n" + store + "\tld.global.f32 %f2, [%rd3];\n";
  };
  const auto after = [](const std::string &store) {
    return "\t.reg .b32 %own;\n\tld.global.f32 %f1, [%rd3];\n\tmov.b32 %own, %f1;\n" + store +
           "\tmov.b32 %f2, %own;\n";
  };
  for (const auto &[line, fine] :
       {std::pair("\tst.global.f32 [%rd3+4], %f1;\n", true),
        std::pair("\tst.global.f32 [%rd3], %f3;\n", false),
        std::pair("\tst.global.f32 [%rd6], %f3;\n", false),
        std::pair("\tst.shared.f32 [%rd6], %f3;\n", true), std::pair("\tbar.sync 0;\n", false),
        std::pair("\tred.global.add.f32 [%rd6], %f3;\n", false)}) {
    const std::string store = line; // clang 14 captures no binding
    CAPTURE(store);
    CHECK((verdict(before(store), 3, after(store)) == "") == fine);
  }
  const std::string store = "\tst.global.f32 [%rd6], %f3;\n";
  const auto tested = [&](const std::string &test) {
    return verdict(before(store), 3,
                   "\t.reg .b32 %own;\n\t.reg .b64 %at, %by;\n\t.reg .pred %same;\n\tld.global.f32 "
                   "%f1, [%rd3];\n\tmov.b32 %own, %f1;\n" +
                       store + "\tmov.b64 %at, %rd6;\n\tsub.s64 %by, %rd3, %at;\n" + test +
                       "\tmov.b32 %f2, %own;\n\t@%same ld.global.f32 %f2, [%rd3];\n");
  };
  CHECK(tested("\tsetp.eq.s64 %same, %by, 0;\n") == "");
  CHECK(tested("\tsetp.eq.s64 %same, %rd3, %at;\n") == "");
  CHECK(tested("\tsetp.ne.s64 %same, %by, 0;\n") != "");
  CHECK(tested("\tsetp.eq.s64 %same, %by, 4;\n") != "");
  CHECK(tested("\tsetp.eq.s64 %same, %at, 0;\n") != "");
}

TEST_CASE("a load may move up past what it does not depend on") {
  const auto moved = [](const std::string &between) {
    return verdict(between + "\tld.global.f32 %f1, [%rd3];\n\tld.global.f32 %f2, [%rd3];\n",
                   static_cast<std::uint32_t>(2 + std::count(between.begin(), between.end(), '\n')),
                   "\t.reg .b32 %own;\n\tld.global.f32 %f1, [%rd3];\n\tmov.b32 %own, %f1;\n" +
                       between + "\tmov.b32 %f2, %own;\n");
  };
  CHECK(moved("\tadd.f32 %f3, %f4, %f5;\n") == "");
  CHECK(moved("\tst.global.f32 [%rd3+4], %f4;\n") == "");
  CHECK(moved("\tst.global.f32 [%rd6], %f4;\n") != "");
  CHECK(moved("\tadd.s64 %rd3, %rd3, 4;\n") != "");
  CHECK(moved("\tadd.f32 %f3, %f1, %f5;\n") != "");
  CHECK(moved("\tadd.f32 %f1, %f4, %f5;\n") != "");
  CHECK(moved("\tbar.sync 0;\n") != "");
  CHECK(moved("\tret;\n") != "");
}

TEST_CASE("a value is made on one side of a label") {
  const std::string two = "\tld.global.v2.f32 {%f1, %f2}, [%rd3];\n";
  const auto split = [&](const std::string &label, const std::string &inside) {
    return verdict(two + "\tld.global.v2.f32 {%f3, %f4}, [%rd3];\n" + label + inside, 2,
                   "\t.reg .b32 %own<3>;\n" + two +
                       "\tmov.b32 %own1, %f1;\n\tmov.b32 %own2, %f2;\n\tmov.b32 %f3, %own1;\n" +
                       inside + "\tmov.b32 %f4, %own2;\n" + label);
  };
  CHECK(split("L:\n", "") == "");
  CHECK(split("", "L:\n") != "");
}

TEST_CASE("a load that moved writes the register that it wrote") {
  const auto moved = [](const std::string &inner) {
    const std::string outer = "\t.reg .f32 %x;\n\tmov.f32 %x, 0f00000000;\n",
                      add = "\tadd.f32 %f3, %f4, %f5;\n",
                      end = "\tadd.f32 %f4, %x, %f2;\n\t}\n\tadd.f32 %f5, %x, %f4;\n",
                      load = "\tld.global.f32 %x, [%rd3];\n";
    return verdict(outer + "\t{\n" + inner + add + load + "\tld.global.f32 %f2, [%rd3];\n" + end,
                   inner.empty() ? 6 : 7,
                   "\t.reg .b32 %own;\n" + outer + load + "\tmov.b32 %own, %x;\n\t{\n" + inner +
                       add + "\tmov.b32 %f2, %own;\n" + end);
  };
  CHECK(moved("") == "");
  CHECK(moved("\t.reg .f32 %x;\n") != "");
}

TEST_CASE("what was added is written before it is read") {
  const std::string begin = "\t.reg .pred %p;\n\tsetp.gt.u32 %p, %r1, 5;\n"
                            "\tld.global.f32 %f1, [%rd3];\n",
                    branch = "\t@%p bra L;\n\tadd.f32 %f3, %f4, %f5;\n";
  const auto tested = [&](const std::string &before, const std::string &inside) {
    return verdict(begin + branch + "L:\n\tld.global.f32 %f2, [%rd3];\n", 7,
                   "\t.reg .b32 %own;\n\t.reg .pred %q;\n" + begin + "\tmov.b32 %own, %f1;\n" +
                       before + branch + inside +
                       "L:\n\tmov.b32 %f2, %own;\n\t@%q ld.global.f32 %f2, [%rd3];\n");
  };
  const std::string test = "\tsetp.gt.u32 %q, %r1, 7;\n";
  CHECK(tested(test, "") == "");
  CHECK(tested("", test) != "");
}

TEST_CASE("a register that a load writes twice has its last element") {
  const auto copied = [&](const std::string &of) {
    const std::string two = "\tld.global.v2.f32 {%f1, %f1}, [%rd3];\n";
    return verdict(two + "\tld.global.f32 %f2, [%rd3" + of + "];\n", 2,
                   "\t.reg .b32 %own;\n" + two + "\tmov.b32 %own, %f1;\n\tmov.b32 %f2, %own;\n");
  };
  CHECK(copied("+4") == "");
  CHECK(copied("") != "");
}

TEST_CASE("what one function does is not proved by another one that is not lined up") {
  const auto module = [](const std::string &in_function, const std::string &in_kernel) {
    std::string text = kernel("\tld.global.f32 %f1, [%rd3];\n" + in_kernel);
    text.insert(text.find(".visible"),
                ".visible .func f(.param .b64 at)\n{\n\t.reg .b64 %rd<4>;\n\t.reg .f32 %f<8>;\n"
                "\t.reg .b32 %own;\n\tld.param.u64 %rd3, [at];\n\tld.global.f32 %f1, [%rd3];\n" +
                    in_function + "\tret;\n}\n");
    return text;
  };
  const std::string call = "\t{\n\t.param .b64 a;\n\tst.param.b64 [a], %rd3;\n\tcall.uni f, "
                           "(a);\n\t}\n",
                    load = "\tld.global.f32 %f2, [%rd3];\n",
                    store = "\tst.global.f32 [%rd3], %f7;\n", copy = "\tmov.b32 %own, %f1;\n",
                    put = "\tmov.b32 %f2, %own;\n";
  const auto before = parse(module(load + store, "\t.reg .b32 %own;\n" + call + load), "module");
  REQUIRE(before);
  std::vector<std::vector<std::uint32_t>> replaced(2);
  for (const std::size_t f : {0, 1}) {
    const Function &one = (*before)->functions[f];
    for (std::uint32_t i = 0; i < one.instructions.size(); ++i)
      if ((*before)->text(one.instructions[i].span).starts_with("ld.global.f32 %f2"))
        replaced[f].push_back(i);
  }
  // In the function the store is gone, or something is added that nobody understands.
  for (const std::string &changed :
       {copy + put, "\tvote.sync.ballot.b32 %own, 1, -1;\n" + put + store}) {
    const auto proofs =
        prove(**before, module(changed, "\t.reg .b32 %own;\n" + copy + call + put), replaced, {});
    CHECK_FALSE(proofs[0].unproved.empty());
    CHECK_FALSE(proofs[1].unproved.empty());
  }
}

TEST_CASE("what is not proved is withdrawn and counted") {
  const std::string text = kernel("\tld.global.f32 %f1, [%rd3];\n\tld.global.f32 %f2, [%rd3+4];\n"
                                  "\tld.global.f32 %f3, [%rd3];\n");
  RewriteOptions options;
  options.shuffle = ShuffleMode::always;
  const auto all = rewrite_module(text, "module", options);
  REQUIRE(all);
  REQUIRE(all->report.kernels[0].rewrites.size() == 2);
  int rounds = 0;
  const auto doubts = [&](int until) {
    return [&rounds, until](const Module &original, std::string_view rewritten,
                            const auto &replaced, const RewriteOptions &given) {
      auto proofs = prove(original, rewritten, replaced, given);
      if (rounds++ < until)
        proofs[0].unproved.push_back({replaced[0].back(), unmet(Obligation::in_row, "a doubt")});
      return proofs;
    };
  };
  const auto one = rewrite_module(text, "module", options, doubts(1));
  REQUIRE(one);
  CHECK(rounds == 2);
  const KernelReport &kernel = one->report.kernels[0];
  CHECK(kernel.rewrites.size() == 1);
  const auto unproved =
      std::find_if(kernel.kept.begin(), kernel.kept.end(),
                   [](const KeptRecord &kept) { return kept.reason == Reason::unproved; });
  REQUIRE(unproved != kernel.kept.end());
  CHECK(unproved->detail == "a doubt");
  CHECK(unproved->obligation == "in-row");
  CHECK(std::count_if(kernel.kept.begin(), kernel.kept.end(),
                      [](const KeptRecord &kept) { return kept.reason == Reason::unproved; }) == 1);
  CHECK(one->changed);
  rounds = 0;
  const auto none = rewrite_module(text, "module", options, doubts(100));
  REQUIRE(none);
  CHECK_FALSE(none->changed);
  CHECK(none->text == text);
  CHECK(none->report.kernels[0].shuffles + none->report.kernels[0].copies == 0);
}

TEST_CASE("a guard that the way to a load shows to hold is none, for the proof, too") {
  const std::string text = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out, .param .u32 n)
{
	.reg .b64 %a, %out, %t4, %pa, %po;
	.reg .b32 %t, %n;
	.reg .f32 %f<5>;
	.reg .pred %p, %q;
	ld.param.u64 %a, [a];
	ld.param.u64 %out, [out];
	ld.param.u32 %n, [n];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %t4, %t, 4;
	add.s64 %pa, %a, %t4;
	add.s64 %po, %out, %t4;
	setp.gt.u32 %p, %n, 100;
	@!%p bra END;
	setp.gt.u32 %q, %n, 50;
	mov.f32 %f2, 0f00000000;
	@%q ld.global.f32 %f1, [%pa];
	@%q ld.global.f32 %f2, [%pa+4];
	add.f32 %f4, %f1, %f2;
	st.global.f32 [%po], %f4;
END:
	ret;
}
)";
  RewriteOptions options;
  options.shuffle = ShuffleMode::always;
  const auto result = rewrite_module(text, "k.ptx", options);
  REQUIRE(result);
  CHECK(result->report.kernels[0].shuffles == 1);
}

} // namespace prove_test
