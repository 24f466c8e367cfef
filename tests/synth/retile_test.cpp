// Re-tiled kernels: all that are proposed are proved and compute what the kernel does, for grids
// that K divides and that it does not; and whatever one changes in the text, the proof refuses it
// unless it changes nothing.

#include "synth/coarsen/coarsen.h"
#include "synth/siblings.h"
#include "tests/synth/versions.h"

#include "emulator/machine/warp_verify.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>

namespace retile_test {

using namespace ptxasw::test;

namespace {

const Function &function(const Module &module, std::string_view name) {
  const auto found = std::find_if(module.functions.begin(), module.functions.end(),
                                  [&](const Function &f) { return f.name == name; });
  REQUIRE(found != module.functions.end());
  return *found;
}

/// A sibling on the warp emulator beside its kernel.
KernelVerdict compare(const Module &written, std::string_view kernel, const Sibling &sibling,
                      unsigned runs, unsigned search) {
  VerifyOptions how;
  how.kernel = kernel;
  how.stand_in = sibling;
  how.runs = runs;
  how.search = search;
  how.schedules = 1;
  how.small = true;
  how.step_limit = 400'000;
  return verify(written, written, how).at(0);
}

/// A module with one sibling of one kernel, as text around it.
struct Written {
  std::string before, sibling, after;
  std::string kernel;
  Proposal proposal;
};

Written write_one(const std::string &text, const std::string &kernel, const std::string &variant) {
  const auto module = parsed(text);
  SiblingOptions options;
  options.kernels = {kernel};
  options.wanted["retile"] = {variant};
  const SiblingResult result = add_siblings(*module, options);
  REQUIRE(result.kernels.at(0).written.size() == 1);
  const auto all = parsed(result.text);
  const Span span = function(*all, result.kernels[0].written[0].sibling.name).span;
  return {result.text.substr(0, span.begin), result.text.substr(span.begin, span.size()),
          result.text.substr(span.end), kernel, result.kernels[0].written[0]};
}

} // namespace

TEST_CASE("what is proposed is proved and computes the same") {
  for (const auto &entry : std::filesystem::directory_iterator(SOURCE_DIR "/tests/synth/retile")) {
    const auto module = parsed(file_text(entry.path()));
    SiblingOptions options;
    options.wanted["retile"] = {
        "x2", "x4", "y2", "z2", "y2-rows", "z4-rows", "y2-neighbours", "z4-neighbours"};
    const SiblingResult result = add_siblings(*module, options);
    CHECK(result.changed);
    CHECK(result.text.starts_with(module->text()));
    const auto written = parsed(result.text);
    for (const KernelSiblings &kernel : result.kernels) {
      CAPTURE(kernel.kernel);
      CHECK(kernel.unproved.empty());
      CHECK(kernel.refusals.empty());
      CHECK_FALSE(kernel.written.empty());
      for (const Proposal &proposal : kernel.written) {
        CAPTURE(proposal.variant);
        const KernelVerdict verdict = compare(*written, kernel.kernel, proposal.sibling, 5, 15);
        INFO(verdict.counter_example);
        // Some ways no launch goes; those that one goes must be right.
        CHECK(verdict.kind != KernelVerdict::Kind::differ);
        CHECK(verdict.agreed >= 3);
      }
    }
    const std::vector<SiblingTable> tables = sibling_tables(*written);
    CHECK(tables.size() == result.kernels.size());
  }
}

TEST_CASE("of a kernel only so many, of a module only those kernels") {
  const auto module =
      parsed(file_text(std::filesystem::path(SOURCE_DIR "/tests/synth/retile") / "by-hand.ptx"));
  SiblingOptions options;
  options.most = 1;
  options.kernels = {"loops", "bare"};
  const SiblingResult result = add_siblings(*module, options);
  REQUIRE(result.kernels.size() == 2);
  for (const KernelSiblings &kernel : result.kernels) {
    REQUIRE(kernel.written.size() == 1);
    // The first of all, whatever the limit.
    options.most = ~0u;
    const SiblingResult all = add_siblings(*module, options);
    const auto same = std::find_if(all.kernels.begin(), all.kernels.end(), [&](const auto &other) {
      return other.kernel == kernel.kernel;
    });
    REQUIRE(same != all.kernels.end());
    CHECK(kernel.written[0].sibling == same->written[0].sibling);
  }
  options.most = 0;
  const SiblingResult none = add_siblings(*module, options);
  CHECK_FALSE(none.changed);
  CHECK(none.text == module->text());
  // What has siblings gets no others of the same names.
  const auto again = parsed(result.text);
  const SiblingResult twice = add_siblings(*again, {});
  for (const KernelSiblings &kernel : twice.kernels)
    if (kernel.kernel == "loops") {
      REQUIRE(kernel.refusals.size() == 1);
      CHECK(kernel.refusals[0].reason == "name-taken");
    }
}

namespace {

using Mutants = std::vector<std::string>;

/// All texts that one changed place makes of a line.
Mutants mutants_of(const std::string &line) {
  static const std::vector<std::pair<std::regex, std::string>> changes = [] {
    std::vector<std::pair<std::regex, std::string>> list;
    const auto add = [&](const char *from, const char *to) { list.emplace_back(from, to); };
    add("%c0_", "%c1_");
    add("%c1_", "%c0_");
    add("%s_", "%c0_");
    add("%c0_", "%s_");
    add("%u_", "%s_");
    add("%block0", "%block1");
    add("%block1", "%block0");
    add("%block,", "%grid,");
    add("%grid", "%block0");
    add("%own", "%block1");
    add("%lone_index", "%block1");
    add("%lone_point", "%point1");
    add("%block2", "%block3");
    add("%point2", "%point3");
    add("%c3_", "%c4_");
    add("%thread0", "%thread1");
    add("%thread1", "%thread0");
    add("%threads", "%thread0");
    add("%own_threads", "%own");
    add("ntid\\.y", "nctaid.y");
    add("ntid\\.y", "tid.y");
    add("ctaid\\.y", "tid.y");
    add("\\btid\\.y", "ctaid.y");
    add("%next", "%block");
    add("%point0", "%point1");
    add("%points", "%point1");
    add("%w0_0", "%w0_1");
    add("%w1_0", "%w0_0");
    add("%before0", "%end0");
    add("%end0", "%before0");
    add("\\.v2", "");
    add("\\.v4", ".v2");
    add("\\+4\\]", "+8]");
    add("\\+-4\\]", "+-8]");
    add("\\]", "+2]");
    add("%w0_1", "%w0_2");
    add("%w0_", "%w1_");
    add("%c2_", "%c3_");
    add("%before1", "%end1");
    add("\\{(%[a-z0-9_]+), (%[a-z0-9_]+)", "{$2, $1");
    add("bra \\$", "bra.uni $$");
    add("st\\.global", "st");
    add("\\.u16", ".s16");
    add("\\.u16", ".b16");
    add("sub\\.s64", "sub.s32");
    add("4294967295", "4294967294");
    add("setp\\.ne", "setp.eq");
    add("selp", "min");
    add("@%", "@!%");
    add("@!%", "@%");
    add("@!?%[a-z0-9_]+ ", "");
    add("and\\.pred", "or.pred");
    add("or\\.pred", "and.pred");
    add("setp\\.ge", "setp.gt");
    add("setp\\.eq", "setp.ne");
    add("setp\\.lt", "setp.le");
    add("add\\.", "sub.");
    add("mul\\.lo", "mul.hi");
    add("mad\\.lo\\.u32", "mad.lo.s32");
    add("mov\\.b32", "mov.u32");
    add("mov\\.b64", "cvta.to.global.u64");
    add("ld\\.global", "ld.volatile.global");
    add("st\\.global", "st.volatile.global");
    add("ld\\.global\\.f32", "ld.global.nc.f32");
    add(", 0;", ", 1;");
    add(", 1;", ", 2;");
    add(", 2;", ", 1;");
    add(", 3;", ", 0;");
    add(", 4;", ", 8;");
    add("_param_0", "_param_1");
    add("_param_1", "_param_0");
    add("ctaid\\.x", "ctaid.y");
    add("ctaid\\.x", "tid.x");
    add("tid\\.x", "ctaid.x");
    add("bra \\$.*;", "ret;");
    add("\\bret;", "bra $$retile_after_0;");
    add("room0_0", "room0_1");
    add("room0_1", "room0_0");
    add("room0_1", "room1_1");
    add("room1_0", "room1_1");
    add("room1_1", "room0_1");
    add("allocation", "tile");
    add("\\[__ptxasw_room0_0\\]", "[__ptxasw_room0_0+4]");
    add("sync ", "arrive ");
    add("sync 0", "sync 1");
    add("sync 1", "sync 0");
    add("sync \t0", "sync \t1");
    add("sync \t?[01]", "$0, 32");
    add("(\\$retile_)round(_[0-9]+)_0", "$1round$2_1");
    add("(\\$retile_)round(_[0-9]+)_1", "$1round$2_0");
    add("\\$retile_round_([0-9]+)", "$$retile_at_$1");
    add("shfl\\.sync\\.idx", "shfl.sync.up");
    add("0, 31, ", "1, 31, ");
    add("31, 0xf", "15, 0xf");
    add("0xffffffff", "0xfffffffe");
    add("bar\\.warp\\.sync", "bar.sync");
    add("ld\\.shared", "ld.volatile.shared");
    add("st\\.shared", "st.global");
    add("dynamic_smem_size", "total_smem_size");
    add("%begin0_1", "%begin0");
    add("%begin0_1", "%begin1_1");
    add("%begin1_1", "other");
    add("%begin0_1", "tile");
    add("%size", "%part");
    add("%part", "%dynamic");
    add("4294967168", "4294967040");
    add("4294967168", "4294967295");
    add("shr\\.u32", "shr.s32");
    add("shr\\.u32", "shl.b32");
    add("\\btile", "other");
    add("\\bother", "tile");
    add(", -1;", ", -2;");
    add("laneid", "warpid");
    add("laneid", "tid.x");
    add("lanemask_lt", "lanemask_le");
    add("atom\\.global\\.add", "atom.global.max");
    add("_u?r8;", "_r6;");
    add("relaxed\\.cta\\.", "");
    add("relaxed\\.cta", "relaxed.gpu");
    add("wait_group 1", "wait_group 2");
    add("wait_all", "wait_group 1");
    add("commit_group", "wait_all");
    add("launch_dependents", "wait");
    add("\\bwait;", "launch_dependents;");
    add("passed0", "passed1");
    add("passed1", "passed0");
    add("said([0-9]+)_0", "said$1_1");
    add("said([0-9]+)_1", "said$1_0");
    add("%said", "%u_d1");
    add("\\btwice", "thrice");
    add("\\bthrice", "twice");
    add("\\], 7", "], 8");
    add("%stride", "%distance");
    add("%c6_", "%c0_");
    add("%c4_", "%c2_");
    return list;
  }();
  Mutants result{"", line + "\n" + line};
  for (const auto &[from, to] : changes) {
    // Each place by itself.
    for (std::sregex_iterator match(line.begin(), line.end(), from), end; match != end; ++match) {
      std::string changed = line;
      changed.replace(static_cast<std::size_t>(match->position()),
                      static_cast<std::size_t>(match->length()), match->format(to));
      result.push_back(std::move(changed));
    }
  }
  return result;
}

struct Count {
  unsigned tried = 0, refused = 0, no_ptx = 0, harmless = 0;
};

void try_mutant(const Written &one, const std::string &text, const std::string &what,
                Count &count) {
  if (!next_in_sample())
    return;
  ++count.tried;
  const auto module = parse(one.before + text + one.after, "mutant.ptx");
  if (!module) {
    ++count.no_ptx;
    return;
  }
  const auto find = [&](std::string_view name) {
    return std::find_if((*module)->functions.begin(), (*module)->functions.end(),
                        [&](const Function &f) { return f.name == name; });
  };
  const auto sibling = find(one.proposal.sibling.name);
  if (sibling == (*module)->functions.end()) {
    ++count.no_ptx;
    return;
  }
  if (!prove_coarsen({**module, *find(one.kernel)}, *sibling, one.proposal).has_value()) {
    ++count.refused;
    return;
  }
  ++count.harmless;
  const KernelVerdict verdict = compare(**module, one.kernel, one.proposal.sibling, 4, 10);
  CAPTURE(what);
  INFO(verdict.counter_example);
  CHECK(verdict.kind != KernelVerdict::Kind::differ);
  CHECK(verdict.agreed >= 3);
}

Count try_all(const Written &one) {
  Count count;
  std::vector<std::string> lines;
  std::istringstream stream(one.sibling);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  const auto join = [&](std::size_t changed, const std::string &with, std::size_t without) {
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (i != without)
        text += (i == changed ? with : lines[i]) + "\n";
    return text;
  };
  const auto first = static_cast<std::size_t>(std::find(lines.begin(), lines.end(), "") -
                                              lines.begin()); // behind the declarations
  for (std::size_t i = first + 1; i + 1 < lines.size(); ++i) {
    for (const std::string &mutant : mutants_of(lines[i]))
      try_mutant(one, join(i, mutant, lines.size()), fmt::format("{}: {}", lines[i], mutant),
                 count);
    if (lines[i] != lines[i + 1] && i + 2 < lines.size())
      try_mutant(one, join(i, lines[i + 1] + "\n" + lines[i], i + 1),
                 fmt::format("{} behind {}", lines[i], lines[i + 1]), count);
  }
  // What fills a copy's registers, once more where it goes on alone, or before all else.
  std::set<std::string> fills;
  for (const std::string &line : lines)
    if (line.starts_with("\tmov.") &&
        (line.find(" %s_") != std::string::npos || line.find(" %lone_") != std::string::npos))
      fills.insert(line);
  for (std::size_t i = first; i < lines.size(); ++i)
    if (i == first || lines[i].starts_with("\tbra $retile_alone"))
      for (const std::string &fill : fills)
        try_mutant(one, join(i, fill + "\n" + lines[i], lines.size()),
                   fmt::format("{} before {}", fill, lines[i]), count);
  return count;
}

/// Lines moved by a few, behind or before others of their copy where copies take turns.
Count try_moves(const Written &one) {
  Count count;
  std::vector<std::string> lines;
  std::istringstream stream(one.sibling);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  const auto first = std::find(lines.begin(), lines.end(), "") - lines.begin() + 1;
  for (const int by : {2, 3, 5, 8, -2, -3, -4, -6})
    for (auto i = first + 8; i + 9 < std::ssize(lines); ++i) {
      if (lines[static_cast<std::size_t>(i)].find("%c") == std::string::npos)
        continue;
      std::vector<std::string> moved = lines;
      const auto place = moved.begin() + i;
      if (by > 0)
        std::rotate(place, place + 1, place + by + 1);
      else
        std::rotate(place + by, place, place + 1);
      std::string text;
      for (const std::string &line : moved)
        text += line + "\n";
      try_mutant(one, text, fmt::format("{} moved by {}", *(lines.begin() + i), by), count);
    }
  return count;
}

} // namespace

TEST_CASE("the proof refuses what is changed, unless it changes nothing") {
  Count all;
  const auto run = [&](const char *file, const char *kernel, const char *variant) {
    const Count count =
        try_all(write_one(file_text(std::filesystem::path(SOURCE_DIR "/tests/synth/retile") / file),
                          kernel, variant));
    MESSAGE(fmt::format("{} {}: {} mutants, {} refused, {} no PTX, {} harmless", kernel, variant,
                        count.tried, count.refused, count.no_ptx, count.harmless));
    all.tried += count.tried;
    all.refused += count.refused;
    all.harmless += count.harmless;
  };
  run("nvcc.ptx", "_Z4axpyPfPKffi", "x2");
  run("by-hand.ptx", "loops", "y2");
  run("by-hand.ptx", "mixed", "x2");
  run("rows.ptx", "column", "y2-rows");
  run("rows.ptx", "column", "y2-neighbours");
  run("tiled.ptx", "sum", "x2");
  run("tiled.ptx", "rounds", "x2");
  run("tiled.ptx", "turn", "y2");
  run("warps.ptx", "gangs", "x2");
  run("warps.ptx", "rows", "x2");
  run("textured.ptx", "sampled", "x2");
  run("local.ptx", "stacked", "x2");
  run("calls.ptx", "called", "x2");
  run("calls.ptx", "sure", "x2");
  run("dynamic.ptx", "sums", "x2");
  run("steps.ptx", "columns", "x2");
  run("steps.ptx", "staged", "x2");
  run("steps.ptx", "dependent", "x2");
  run("matrices.ptx", "matrices", "x2");
  run("surfaces.ptx", "drawn", "x2");
  run("told.ptx", "slots", "x2");
  run("told.ptx", "words", "x2");
  run("steps.ptx", "relaxed", "x2");
  run("../wide/points.ptx", "stencil", "wide-x2");
  run("../wide/points.ptx", "four", "wide");
  run("../wide/points.ptx", "rows", "wide-x2y2-neighbours");
  // Copies that go on alone have one code.
  run("by-hand.ptx", "loops", "y8");
  run("../wide/points.ptx", "rows", "wide-x4y2-neighbours");
  CHECK(more_than(all.refused, 3000));
  // Mostly added code whose order is free, or that is there twice.
  CHECK(all.harmless * 5 < all.refused);
}

TEST_CASE("where rows are skewed, what is read is there") {
  const Written one = write_one(file_text(SOURCE_DIR "/tests/synth/wide/skewed.ptx"), "column",
                                "wide-x2y4-rows-skewed-once-r64");
  // The first line behind `from` that begins so goes to before that.
  const auto fault = [&](const std::string &from, const std::string &line) {
    std::string text = one.sibling;
    const std::size_t to = text.find("\t" + from), at = text.find("\t" + line, to);
    REQUIRE(to != std::string::npos);
    REQUIRE(at != std::string::npos);
    const std::string moved = text.substr(at, text.find('\n', at) + 1 - at);
    text.erase(at, moved.size()).insert(to, moved);
    const auto module = parsed(one.before + text + one.after);
    return fault_of(prove_coarsen({*module, function(*module, one.kernel)},
                                  function(*module, one.proposal.sibling.name), one.proposal));
  };
  const auto has = [](const std::string &text, const char *words) {
    CAPTURE(text);
    return text.find(words) != std::string::npos;
  };
  CHECK(has(fault("ld.global.v2.u32 {%w1_0", "mov.b32 %c2_v1, %w1_0"),
            "a wide load is not done yet"));
  CHECK(has(fault("ld.global.u32 %w2_0, [%c0_p1+8]", "add.s64 %c0_p1"),
            "an address is not that of another copy"));
}

TEST_CASE("the proof refuses what is changed where rows are skewed, unless it changes nothing") {
  Count all;
  const auto run = [&](const char *file, const char *kernel, const char *variant) {
    const std::filesystem::path tests = SOURCE_DIR "/tests/synth";
    const Written one = write_one(file_text(tests / file), kernel, variant);
    for (const Count &count : {try_all(one), try_moves(one)}) {
      MESSAGE(fmt::format("{} {}: {} mutants, {} refused, {} no PTX, {} harmless", file, variant,
                          count.tried, count.refused, count.no_ptx, count.harmless));
      all.refused += count.refused;
      all.harmless += count.harmless;
    }
  };
  run("versions/vectorise/skewed.ptx", "k", "wide-x2y4-rows-skewed-once-r64");
  run("wide/skewed.ptx", "column", "wide-x2y4-rows-skewed-once-r64");
  CHECK(more_than(all.refused, 2000));
  // Lines of different copies may come in any order.
  CHECK(more_than(all.harmless, 100));
}

TEST_CASE(
    "the proof refuses what is changed of a version for one round, unless it changes nothing") {
  Count all;
  const auto run = [&](const char *file, const char *kernel, const char *variant) {
    const std::filesystem::path tests = SOURCE_DIR "/tests";
    const Count count = try_all(write_one(file_text(tests / file), kernel, variant));
    MESSAGE(fmt::format("{} {}: {} mutants, {} refused, {} no PTX, {} harmless", file, variant,
                        count.tried, count.refused, count.no_ptx, count.harmless));
    all.refused += count.refused;
    all.harmless += count.harmless;
  };
  run("data/jacobi.ptx", "jacobi", "wide-x2-once");
  run("synth/versions/vectorise/once.ptx", "k", "wide-x2-once");
  run("synth/versions/vectorise/once-at-head.ptx", "k", "wide-x2-once");
  run("synth/versions/vectorise/once-rows.ptx", "k", "wide-x2y2-rows-once-r64");
  CHECK(more_than(all.refused, 2000));
  CHECK(all.harmless * 5 < all.refused);
}

TEST_CASE("the proof refuses what is changed of ends under predicates, unless it changes nothing") {
  const Written one =
      write_one(file_text(SOURCE_DIR "/tests/synth/versions/vectorise/once-ends.ptx"), "k",
                "wide-x4y2-rows-once");
  const Count count = try_all(one);
  MESSAGE(fmt::format("{} mutants, {} refused, {} no PTX, {} harmless", count.tried, count.refused,
                      count.no_ptx, count.harmless));
  CHECK(more_than(count.refused, 1000));
  CHECK(count.harmless * 5 < count.refused);
}

TEST_CASE("where lanes come alike in blocks of whole rows alone, the table demands such blocks") {
  const auto text =
      file_text(std::filesystem::path(SOURCE_DIR "/tests/synth/retile") / "steps.ptx");
  for (const char *kernel : {"columns", "staged"}) {
    CAPTURE(kernel);
    const Written one = write_one(text, kernel, "x2");
    const auto module = parsed(one.before + one.sibling + one.after);
    const auto proved = [&](const std::vector<std::array<std::uint32_t, 3>> &blocks) {
      Proposal claim = one.proposal;
      claim.sibling.needs.blocks = blocks;
      return prove_coarsen({*module, function(*module, kernel)},
                           function(*module, one.proposal.sibling.name), claim)
          .has_value();
    };
    // The second does nothing in warps.
    const bool asks = kernel == std::string_view("columns");
    CHECK(one.proposal.sibling.needs.blocks.empty() == !asks);
    CHECK(proved(whole_row_blocks()) == asks);
    CHECK(proved({}) == !asks);
    CHECK_FALSE(proved({{16, 4, 1}}));
    auto more = whole_row_blocks();
    more.push_back({16, 4, 1});
    CHECK_FALSE(proved(more));
  }
  for (const auto &block : whole_row_blocks())
    CHECK((block[0] % 32 == 0 && block[2] == 1 && block[0] * block[1] <= 1024));
}

TEST_CASE("a register does not hide a variable") {
  const auto unproved = [](const std::string &name) {
    const auto module = parsed(fmt::format(R"(.version 7.0
.target sm_70
.address_size 64
.entry k(.param .u64 {0}) {{
  .reg .u64 %p;
  .reg .u32 %r;
  ld.param.u64 %p, [{0}];
  mov.u32 %r, %ctaid.x;
  st.global.u32 [%p], %r;
  ret;
}}
)",
                                           name));
    SiblingOptions options;
    options.wanted["retile"] = {"x2"};
    const SiblingResult result = add_siblings(*module, options);
    CHECK(result.kernels.at(0).written.size() + result.kernels[0].unproved.size() == 1);
    return !result.kernels[0].unproved.empty();
  };
  CHECK_FALSE(unproved("%in_ar0"));
  CHECK(unproved("%grid"));
  CHECK(unproved("%c1_r"));
}

TEST_CASE("the kernel with fewer registers is the kernel") {
  const std::string text =
      file_text(std::filesystem::path(SOURCE_DIR "/tests/synth/retile") / "by-hand.ptx");
  SiblingOptions options;
  options.kernels = {"mixed"};
  options.defaults = false;
  options.wanted["maxnreg"] = {"32", "64"};
  const auto module = parsed(text);
  const SiblingResult result = add_siblings(*module, options);
  REQUIRE(result.kernels.at(0).written.size() == 2);
  const Proposal &proposal = result.kernels[0].written[0];
  CHECK(result.text.find("\n.maxnreg 32\n") != std::string::npos);
  const auto proved = [&](
                          const std::string &from, const std::string &to,
                          const std::function<void(Sibling &)> &change = [](Sibling &) {}) {
    std::string changed = result.text;
    const std::size_t at = changed.find(from, changed.find(proposal.sibling.name));
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    const auto other = parsed(changed);
    Proposal claim = proposal;
    change(claim.sibling);
    return registers_family
        .prove({*other, function(*other, "mixed")}, function(*other, proposal.sibling.name), claim)
        .has_value();
  };
  CHECK(proved(".maxnreg 32", ".maxnreg 24"));
  CHECK(proved(".maxnreg 32", ""));
  CHECK_FALSE(proved(".maxnreg 32", ".maxntid 32"));
  CHECK_FALSE(proved("add.", "sub."));
  CHECK_FALSE(proved(".param .u", ".param .s"));
  CHECK_FALSE(proved("ret;", "ret; ret;"));
  CHECK_FALSE(proved(".maxnreg", ".maxnreg", [](Sibling &s) { s.grid = {2, 1, 1}; }));
  CHECK_FALSE(proved(".maxnreg", ".maxnreg", [](Sibling &s) { s.block = {2, 1, 1}; }));
  CHECK_FALSE(proved(".maxnreg", ".maxnreg", [](Sibling &s) { s.appended = {'x'}; }));
  // One that says itself what it may have is left alone.
  const auto limited = parsed(".version 7.0\n.target sm_70\n.address_size 64\n"
                              ".entry k() .maxnreg 16 { ret; }\n");
  options.kernels = {};
  const SiblingResult none = add_siblings(*limited, options);
  CHECK_FALSE(none.changed);
  CHECK(none.kernels.at(0).refusals.back().reason == "registers-given");
}

TEST_CASE("along x no copies are rows, for which blocks would be one thread thick") {
  const auto module =
      parsed(file_text(std::filesystem::path(SOURCE_DIR "/tests/synth/retile") / "by-hand.ptx"));
  SiblingOptions options;
  options.kernels = {"mixed"};
  options.defaults = false;
  options.wanted["retile"] = {"x2"};
  const SiblingResult result = add_siblings(*module, options);
  REQUIRE(result.kernels.at(0).written.size() == 1);
  Proposal claim = result.kernels[0].written[0];
  const auto with = parsed(result.text);
  const auto proved = [&] {
    return prove_coarsen({*with, function(*with, "mixed")}, function(*with, claim.sibling.name),
                         claim)
        .has_value();
  };
  CHECK(proved());
  claim.sibling.kind = "rows";
  CHECK_FALSE(proved());
}

TEST_CASE("a version promises of what its parameters point at what the kernel does") {
  const auto proves = [](const std::string &own, const std::string &others,
                         const std::string &variant) {
    const std::string text =
        file_text(std::filesystem::path(SOURCE_DIR "/tests/synth/retile") / "../wide/points.ptx");
    const std::size_t kernel = text.find(".param .u64", text.find("stencil("));
    REQUIRE(kernel != std::string::npos);
    std::string with = text;
    with.insert(kernel + 11, own);
    const auto module = parsed(with);
    SiblingOptions options;
    options.kernels = {"stencil"};
    options.defaults = false;
    if (variant == "maxnreg")
      options.wanted["maxnreg"] = {"64"};
    else
      options.wanted["retile"] = {variant};
    const SiblingResult result = add_siblings(*module, options);
    REQUIRE(result.kernels.at(0).written.size() == 1);
    const Proposal &proposal = result.kernels[0].written[0];
    std::string changed = result.text;
    const std::size_t at =
        changed.find(".param .u64", changed.find(".entry " + proposal.sibling.name)) + 11;
    CHECK(changed.substr(at, own.size()) == own);
    changed.replace(at, own.size(), others);
    const auto other = parsed(changed);
    const auto prove = variant == "maxnreg" ? registers_family.prove : prove_coarsen;
    return prove({*other, function(*other, "stencil")}, function(*other, proposal.sibling.name),
                 proposal)
        .has_value();
  };
  for (const char *variant : {"x2", "wide-x4", "maxnreg"}) {
    CAPTURE(variant);
    CHECK(proves("", "", variant));
    CHECK(proves(" .ptr .global .align 4", " .ptr .global .align 4", variant));
    CHECK_FALSE(proves(" .ptr .global .align 4", " .ptr .global .align 16", variant));
    CHECK_FALSE(proves(" .ptr .global .align 4", "", variant));
    CHECK_FALSE(proves(" .ptr .global .align 4", " .ptr .align 4", variant));
    CHECK_FALSE(proves("", " .ptr .global .align 16", variant));
  }
}

TEST_CASE("a limit of registers must not change what a kernel does") {
  SiblingOptions options;
  options.defaults = false;
  options.wanted["maxnreg"] = {"64"};
  const std::string head = ".version 8.0\n.target sm_90a\n.address_size 64\n";
  const auto refused = [&](const std::string &body, const std::string &before = "") {
    const auto module = parsed(head + before + ".entry k(.param .u64 p) {\n" + body + "ret;\n}\n");
    const SiblingResult result = add_siblings(*module, options);
    // Neither proposed nor, written all the same, proved.
    Proposal proposal;
    proposal.variant = "64";
    proposal.sibling.name = "other";
    const auto both = parsed(std::string(module->text()) +
                             registers_family.write({*module, module->functions.back()}, proposal));
    const bool proved = registers_family
                            .prove({*both, both->functions[both->functions.size() - 2]},
                                   both->functions.back(), proposal)
                            .has_value();
    CHECK(proved == result.changed);
    return result.changed ? "" : std::string(result.kernels.back().refusals.back().reason);
  };
  CHECK(refused(".shared .u32 x; .local .u32 y;") == "");
  // What a launch leaves there the next one finds, but not one of the other body.
  CHECK(refused(".global .u32 x; red.global.add.u32 [x], 1;") == "variable");
  CHECK(refused("{ .global .u32 x; }") == "variable");
  CHECK(refused(".const .u32 x = 1;") == "variable");
  // The program may give the kernel a size of clusters, and not the sibling.
  CHECK(refused(".reg .b32 %r; mov.u32 %r, %cluster_ctarank;") == "cluster");
  CHECK(refused("barrier.cluster.arrive; barrier.cluster.wait;") == "cluster");
  // Warps would wait for registers that the block does not have.
  CHECK(refused("setmaxnreg.inc.sync.aligned.u32 240;") == "registers-moved");
  CHECK(refused("call f;", ".func f { setmaxnreg.dec.sync.aligned.u32 24; ret; }\n") ==
        "registers-moved");
}

TEST_CASE("wide accesses are proved for what the table needs, and for nothing less") {
  const Written one = write_one(
      file_text(std::filesystem::path(SOURCE_DIR "/tests/synth/retile") / "../wide/points.ptx"),
      "stencil", "wide-x4");
  const auto module = parsed(one.before + one.sibling + one.after);
  const auto proved = [&](const std::function<void(Sibling &)> &change) {
    Proposal proposal = one.proposal;
    change(proposal.sibling);
    return prove_coarsen({*module, function(*module, "stencil")},
                         function(*module, one.proposal.sibling.name), proposal)
        .has_value();
  };
  CHECK(one.sibling.find("st.global.v4.f32") != std::string::npos);
  REQUIRE(one.proposal.sibling.needs.aligned.size() == 2);
  REQUIRE(one.proposal.sibling.needs.divisible.size() == 1);
  CHECK(proved([](Sibling &) {}));
  CHECK_FALSE(proved([](Sibling &s) { s.needs.aligned.pop_back(); }));
  CHECK_FALSE(proved([](Sibling &s) { s.needs.aligned[0].alignment = 8; }));
  CHECK_FALSE(proved([](Sibling &s) { s.needs.divisible.clear(); }));
  CHECK_FALSE(proved([](Sibling &s) { s.needs.divisible[0].divisor = 2; }));
  CHECK_FALSE(proved([](Sibling &s) { s.needs.max_extent[0] = ~0u; }));
  CHECK_FALSE(proved([](Sibling &s) { s.kind = "neighbours"; }));
  CHECK_FALSE(proved([](Sibling &s) { s.block = {2, 1, 1}; }));
  CHECK_FALSE(proved([](Sibling &s) { s.block = {4, 2, 1}; }));
  CHECK_FALSE(proved([](Sibling &s) { s.grid = {2, 1, 1}; }));
}

TEST_CASE("shared memory is each copy's own, and the launch has no more of it") {
  const Written one =
      write_one(file_text(std::filesystem::path(SOURCE_DIR "/tests/synth/retile") / "tiled.ptx"),
                "rounds", "x2");
  const auto proved = [&](
                          const std::string &from, const std::string &to,
                          const std::function<void(Sibling &)> &change = [](Sibling &) {}) {
    std::string changed = one.sibling;
    const std::size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    const auto module = parsed(one.before + changed + one.after);
    Proposal proposal = one.proposal;
    change(proposal.sibling);
    return prove_coarsen({*module, function(*module, "rounds")},
                         function(*module, one.proposal.sibling.name), proposal)
        .has_value();
  };
  const std::string first = ".shared .align 16 .b8 __ptxasw_room0_0[16];";
  CHECK(proved(first, first));
  CHECK(proved(first, ".shared .align 32 .b32 __ptxasw_room0_0[4];"));
  CHECK(one.proposal.sibling.needs.dynamic_shared == 0);
  CHECK_FALSE(proved(first, first, [](Sibling &s) { s.needs.dynamic_shared = 1; }));
  CHECK_FALSE(proved(first, first, [](Sibling &s) { s.needs.dynamic_shared = 2; }));
  CHECK_FALSE(proved(first, ".shared .align 16 .b8 __ptxasw_room0_0[12];"));
  CHECK_FALSE(proved(first, ".shared .align 4 .b8 __ptxasw_room0_0[16];"));
  CHECK_FALSE(proved(first, ".local .align 16 .b8 __ptxasw_room0_0[16];"));
  CHECK_FALSE(proved(first, first + " .shared .b32 more;"));
  CHECK_FALSE(proved("room0_0[16]", "room0_0[49136]"));
  // Blocks stay whole where threads meet, whatever the table says.
  CHECK_FALSE(proved(first, first, [](Sibling &s) {
    s.grid = {1, 1, 1};
    s.block = {2, 1, 1};
    s.appended = {};
  }));
}

TEST_CASE("local memory is each copy's own, and no more than a thread has") {
  const Written one =
      write_one(file_text(std::filesystem::path(SOURCE_DIR "/tests/synth/retile") / "local.ptx"),
                "stacked", "x2");
  const auto proved = [&](const std::string &from, const std::string &to) {
    std::string changed = one.sibling;
    const std::size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    const auto module = parsed(one.before + changed + one.after);
    return prove_coarsen({*module, function(*module, "stacked")},
                         function(*module, one.proposal.sibling.name), one.proposal)
        .has_value();
  };
  const std::string first = ".local .align 16 .b8 __ptxasw_room0_0[32];";
  CHECK(proved(first, first));
  CHECK(one.proposal.sibling.needs.dynamic_shared == 1);
  CHECK_FALSE(proved(first, ".local .align 16 .b8 __ptxasw_room0_0[28];"));
  CHECK_FALSE(proved(first, ".local .align 4 .b8 __ptxasw_room0_0[32];"));
  CHECK_FALSE(proved(first, ".shared .align 16 .b8 __ptxasw_room0_0[32];"));
  CHECK_FALSE(proved(first, first + " .local .b32 more;"));
  // The second copy in the first one's place.
  CHECK_FALSE(proved("mov.u64 %c1_spl, __ptxasw_room0_1;", "mov.u64 %c1_spl, __ptxasw_room0_0;"));
  CHECK_FALSE(proved("[__ptxasw_room1_1]", "[__ptxasw_room1_0]"));
}

TEST_CASE("a table says that the kernel asks who came first, if only among threads of a block") {
  const auto asks = [](const std::string &code) {
    const auto module = parsed(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
	.shared .b32 c;
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [out];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	mul.wide.u32 %d2, %r4, 4;
	add.u64 %d3, %d1, %d2;
	mov.u32 %r5, 0;
	st.shared.u32 [c], %r5;
	bar.sync 0;
)" + code + R"(
	st.global.u32 [%d3], %r5;
	ret;
}
)");
    SiblingOptions options;
    options.wanted["retile"] = {"x2"};
    return sibling_tables(*parsed(add_siblings(*module, options).text)).at(0).any_order;
  };
  CHECK(asks("atom.shared.add.u32 %r5, [c], 1;"));
  CHECK(asks("atom.relaxed.cta.shared.exch.b32 %r5, [c], %r3;"));
  CHECK(asks("st.relaxed.cta.shared.u32 [c], %r3; ld.relaxed.cta.shared.u32 %r5, [c];"));
  CHECK_FALSE(asks("red.shared.add.u32 [c], 1; bar.sync 0; ld.shared.u32 %r5, [c];"));
  CHECK_FALSE(asks("atom.shared.add.u32 %r6, [c], 1; bar.sync 0; ld.shared.u32 %r5, [c];"));
}

TEST_CASE("what belongs to a call is each copy's own, and an assertion names the kernel's block") {
  const std::string text =
      file_text(std::filesystem::path(SOURCE_DIR "/tests/synth/retile") / "calls.ptx");
  const Written one = write_one(text, "sure", "x2");
  const auto proved = [&](const std::string &from, const std::string &to) {
    std::string changed = one.sibling;
    const std::size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    const auto module = parsed(one.before + changed + one.after);
    return prove_coarsen({*module, function(*module, "sure")},
                         function(*module, one.proposal.sibling.name), one.proposal)
        .has_value();
  };
  const auto bytes = [](std::string_view name) {
    std::string list;
    for (const char byte : name)
      list += fmt::format("{}, ", static_cast<unsigned>(byte));
    return list;
  };
  const std::string format =
      "{" + bytes("ptxasw: an assertion fails in the kernel's block [%u,%u,%u]\n") + "0};";
  CHECK(proved(format, format));
  CHECK_FALSE(proved(format, "{};"));
  CHECK_FALSE(proved(".global .align 1 .b8 __ptxasw_said", ".const .align 1 .b8 __ptxasw_said"));
  CHECK_FALSE(proved(".param .b64 __ptxasw_passed0;", ".param .b32 __ptxasw_passed0;"));
  CHECK_FALSE(proved(".param .b64 __ptxasw_passed0;", ".param .b8 __ptxasw_passed0[8];"));
  CHECK_FALSE(proved(".param .b64 __ptxasw_passed0;", ".local .b64 __ptxasw_passed0;"));
  CHECK_FALSE(
      proved(".param .b64 __ptxasw_passed0;", ".param .b64 __ptxasw_passed0; .param .b64 more;"));
  // Before that it prints which one it is.
  CHECK_FALSE(proved("mov.u32 %told, %block1", "mov.u32 %told, %block0"));
  CHECK_FALSE(proved("+8], %told", "+0], %told"));
  CHECK_FALSE(proved("), vprintf, (", "), another, ("));
  CHECK_FALSE(proved(bytes("[%u,"), bytes("[%d,")));
  CHECK_FALSE(proved(".align 8 .b32 __ptxasw_passed", ".align 4 .b32 __ptxasw_passed"));
  std::string before = one.before;
  const std::size_t print = before.rfind(".extern .func (.param .b32 result) vprintf");
  REQUIRE(print != std::string::npos);
  before.replace(print, 7, "").replace(before.rfind(';'), 1, " { ret; }");
  const auto own_print = parsed(before + one.sibling + one.after);
  CHECK_FALSE(prove_coarsen({*own_print, function(*own_print, "sure")},
                            function(*own_print, one.proposal.sibling.name), one.proposal)
                  .has_value());
  const auto proved_beside = [&](const std::string &declaration, const std::string &parameter) {
    std::string all = one.before + one.sibling + one.after;
    all.insert(print, declaration);
    for (const std::string name : {"[n]", ".u32 n,", ".u32 n)"})
      for (std::size_t at = 0; (at = all.find(name, at)) != std::string::npos; ++at)
        all.replace(at + name.size() - 2, 1, parameter);
    const auto module = parsed(all);
    return prove_coarsen({*module, function(*module, "sure")},
                         function(*module, one.proposal.sibling.name), one.proposal)
        .has_value();
  };
  CHECK(proved_beside("", "limit"));
  CHECK(proved_beside(".extern .func (.param .b32 a) vprintf (.param .u64 b, .param .b64 c);\n",
                      "n"));
  for (const char *other :
       {".extern .func (.param .b32 a) vprintf (.param .b64 b);\n",
        ".extern .func vprintf (.param .b64 b, .param .b64 c);\n",
        ".extern .func (.reg .b32 a) vprintf (.reg .b64 b, .reg .b64 c);\n",
        ".extern .func (.param .b32 a) vprintf (.param .b64 b, .param .b32 c);\n",
        ".global .u32 vprintf;\n", ".func $retile_first_0() { ret; }\n",
        ".global .u32 $retile_first_0;\n"})
    CHECK_FALSE(proved_beside(other, "n"));
  CHECK_FALSE(proved_beside("", "vprintf"));
  // Two copies' calls, one within the other.
  const Written both = write_one(text, "called", "x2");
  const std::string given = "st.param.b32 [__ptxasw_passed0], %c0_i;\n";
  const std::size_t at = both.sibling.find(given);
  REQUIRE(at != std::string::npos);
  std::string mixed = both.sibling;
  mixed.insert(at + given.size(), "\tst.param.b32 [__ptxasw_passed0], %c1_i;\n");
  const auto module = parsed(both.before + mixed + both.after);
  CHECK_FALSE(prove_coarsen({*module, function(*module, "called")},
                            function(*module, both.proposal.sibling.name), both.proposal)
                  .has_value());
}

TEST_CASE("each copy's part of dynamic memory is as large as the kernel's") {
  const Written one =
      write_one(file_text(std::filesystem::path(SOURCE_DIR "/tests/synth/retile") / "dynamic.ptx"),
                "sums", "x4");
  const auto proved = [&](
                          const std::string &from, const std::string &to,
                          const std::function<void(Sibling &)> &change = [](Sibling &) {}) {
    std::string changed = one.sibling;
    const std::size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    const auto module = parsed(one.before + changed + one.after);
    Proposal proposal = one.proposal;
    change(proposal.sibling);
    return prove_coarsen({*module, function(*module, "sums")},
                         function(*module, one.proposal.sibling.name), proposal)
        .has_value();
  };
  CHECK(one.proposal.sibling.needs.dynamic_shared == 4);
  const std::string part = "shr.u32 %part, %dynamic, 2;";
  CHECK(proved(part, part));
  for (const std::uint32_t times : {0u, 1u, 2u, 3u, 8u})
    CHECK_FALSE(proved(part, part, [&](Sibling &s) { s.needs.dynamic_shared = times; }));
  CHECK_FALSE(proved(part, "shr.u32 %part, %dynamic, 1;"));
  CHECK_FALSE(proved(part, "shr.u32 %part, %dynamic, 3;")); // parts overlap
  CHECK_FALSE(proved(part, "shr.u32 %part, %dynamic, 34;"));
  CHECK_FALSE(proved(part, "mov.u32 %part, 64;"));
  CHECK_FALSE(proved("mad.lo.u32 %begin0_2, %size, 2,", "mad.lo.u32 %begin0_2, %size, 1,"));
  CHECK_FALSE(proved("mov.u32 %begin0, tile", "mov.u32 %begin0, other"));
}

TEST_CASE("the words of the option are those of its variants") {
  const FamilyOption &option = family_option("retile");
  std::string words = option.values;
  REQUIRE(words.ends_with("[,...]"));
  words.resize(words.size() - 6);
  const auto matches_all = [&](std::string text) {
    for (const auto &[from, to] :
         {std::pair("\\[", "("), std::pair("\\]", ")?"), std::pair("N", "[0-9]+")})
      text = std::regex_replace(text, std::regex(from), to);
    return std::all_of(
        option.variants.begin(), option.variants.end(),
        [&](const std::string &variant) { return std::regex_match(variant, std::regex(text)); });
  };
  CHECK(matches_all(words));
  // Nor is any of them there for nothing.
  for (const std::string &word : std::vector<std::string>{
           "wide", "[-]", "xN", "yN", "zN", "-rows", "-neighbours", "-skewed", "-once", "-rN"}) {
    CAPTURE(word);
    std::string without = words;
    without.replace(without.find(word), word.size(), "#");
    CHECK_FALSE(matches_all(without));
  }
}

TEST_CASE("the table must say what is proved") {
  const Written one =
      write_one(file_text(std::filesystem::path(SOURCE_DIR "/tests/synth/retile") / "by-hand.ptx"),
                "mixed", "x2");
  const auto module = parsed(one.before + one.sibling + one.after);
  const auto proved = [&](const std::function<void(Sibling &)> &change) {
    Proposal proposal = one.proposal;
    change(proposal.sibling);
    return prove_coarsen({*module, function(*module, "mixed")},
                         function(*module, one.proposal.sibling.name), proposal)
        .has_value();
  };
  CHECK(proved([](Sibling &) {}));
  CHECK_FALSE(proved([](Sibling &s) { s.grid = {4, 1, 1}; }));
  CHECK_FALSE(proved([](Sibling &s) { s.grid = {1, 2, 1}; }));
  CHECK_FALSE(proved([](Sibling &s) { s.grid = {2, 2, 1}; }));
  CHECK_FALSE(proved([](Sibling &s) { s.grid = {1, 1, 1}; }));
  CHECK_FALSE(proved([](Sibling &s) { s.appended = {'y'}; }));
  CHECK_FALSE(proved([](Sibling &s) { s.appended = {}; }));
  CHECK_FALSE(proved([](Sibling &s) { s.appended = {'x', 'y'}; }));
  CHECK_FALSE(proved([](Sibling &s) { s.needs.dynamic_shared = 2; }));
  CHECK_FALSE(proved([](Sibling &s) { s.block = {2, 1, 1}; }));
  CHECK_FALSE(proved([](Sibling &s) {
    s.grid = {1, 1, 1};
    s.block = {2, 1, 1};
  }));
}

} // namespace retile_test
