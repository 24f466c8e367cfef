// A sibling inside its kernel: what is written computes the same in launches with the promised
// block, in all others, and with arguments that the sibling could not have; and whatever one
// changes of the code before the two bodies, the proof refuses it unless it changes nothing.

#include "synth/in_kernel/in_kernel.h"
#include "synth/rewrite.h"

#include "emulator/machine/warp_verify.h"
#include "tests/synth/versions.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <regex>
#include <sstream>

namespace in_kernel_test {

using namespace ptxasw::test;

namespace {

std::string read(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(std::filesystem::path(SOURCE_DIR "/tests/synth") / path).rdbuf();
  return text.str();
}

const Function &function(const Module &module, std::string_view name) {
  const auto found = std::find_if(module.functions.begin(), module.functions.end(),
                                  [&](const Function &f) { return f.name == name; });
  REQUIRE(found != module.functions.end());
  return *found;
}

/// The module with a `.reqntid` at one kernel.
std::string with_block(const std::string &text, std::string_view kernel, const BlockShape &block) {
  const auto module = parsed(text);
  const std::uint32_t at = function(*module, kernel).body.begin;
  return text.substr(0, at) + fmt::format(".reqntid {}, {}, {}\n", block.x, block.y, block.z) +
         text.substr(at);
}

KernelVerdict compare(const std::string &before, const std::string &after,
                      const std::string &kernel, unsigned search) {
  VerifyOptions how;
  how.kernel = kernel;
  how.runs = 8;
  how.search = search;
  how.schedules = 1;
  how.small = true;
  how.step_limit = 400'000;
  how.whole_grid = true;
  return verify(*parsed(before), *parsed(after), how).at(0);
}

struct Case {
  const char *file, *kernel, *variant;
  BlockShape block;
};

const Case cases[] = {
    {"retile/nvcc.ptx", "_Z4axpyPfPKffi", "x4", {6, 1, 1}},
    {"retile/by-hand.ptx", "loops", "y2", {4, 2, 1}},
    {"retile/rows.ptx", "column", "y2-rows", {32, 1, 1}},
    {"retile/rows.ptx", "column", "y4-neighbours", {4, 8, 1}},
    {"wide/points.ptx", "stencil", "wide-x2", {16, 2, 1}},
    {"wide/points.ptx", "stencil", "wide-x4", {32, 1, 1}},
};

InKernelResult made(const std::string &text, const Case &one) {
  return replace_in_kernel(*parsed(text), {{one.kernel}, {one.variant}, one.block});
}

} // namespace

TEST_CASE("what is written computes the same, nearly every line of it") {
  for (const Case &one : cases) {
    CAPTURE(one.kernel);
    CAPTURE(one.variant);
    const std::string text = read(one.file);
    // With the block in the PTX, and with the caller's word for it.
    for (const std::string &before : {with_block(text, one.kernel, one.block), text}) {
      const InKernelResult result = made(before, one);
      REQUIRE(result.kernels.size() == 1);
      INFO((result.kernels[0].why.empty() ? "" : result.kernels[0].why[0]));
      REQUIRE(result.kernels[0].variant == one.variant);
      CHECK(result.kernels[0].block_assumed == (before == text));
      // The assembler is told of a block that only the caller knows.
      CHECK((result.text.find(".maxntid 1024") != std::string::npos) == (before == text));
      const KernelVerdict verdict = compare(before, result.text, one.kernel, 300);
      INFO(verdict.counter_example);
      CHECK(verdict.kind != KernelVerdict::Kind::differ);
      CHECK(verdict.agreed >= 3);
      if (before != text)
        CHECK(verdict.not_exercised.size() * 5 < verdict.changed);
      // Every line belongs to one of the module's.
      const auto lines = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n'));
      for (std::size_t i = 1; i < result.lines.size(); ++i)
        CHECK((result.lines[i] >= 1 && result.lines[i] <= lines + 1));
    }
  }
}

TEST_CASE("the proof refuses what is changed before the bodies") {
  const std::pair<const char *, const char *> changes[] = {
      {"@%", "@!%"},
      {"@%[a-z_0-9]+ ", ""},
      {"bra .*;", "ret;"},
      {"\\bret;", "bra $ptxasw_original;"},
      {"setp\\.ne", "setp.eq"},
      {"setp\\.ne", "setp.lt"},
      {"setp\\.ge", "setp.gt"},
      {"setp\\.gt", "setp.ge"},
      {"\\.x", ".y"},
      {"\\.y", ".x"},
      {"%ntid", "%nctaid"},
      {"%nctaid", "%ntid"},
      {"%ctaid", "%nctaid"},
      {"%tid", "%ctaid"},
      {"%ptxasw_word0", "%ptxasw_word1"},
      {"%ptxasw_word(\\d)", "%ptxasw_word3"},
      {"%ptxasw_test(\\d)", "%ptxasw_test0"},
      {", 1;", ", 3;"},
      {", 3;", ", 1;"},
      {", 0;", ", 1;"},
      {", (\\d+);", ", 5;"},
      {"div\\.u32", "rem.u32"},
      {"rem\\.u32", "div.u32"},
      {"div\\.u32", "div.s32"},
      {"shr\\.u32", "shl.b32"},
      {"add\\.u32", "sub.u32"},
      {"and\\.b", "or.b"},
      {"_param_\\d", "_param_1"},
      {"%ptxasw_ctaid_", "%ptxasw_tid_"},
  };
  unsigned tried = 0, refused = 0, harmless = 0;
  for (const Case &one : cases) {
    CAPTURE(one.kernel);
    CAPTURE(one.variant);
    const std::string text = read(one.file);
    const InKernelResult result = made(text, one);
    REQUIRE(result.changed);
    const auto original = parsed(text);
    // The sibling, as its family writes it.
    Proposal proposal;
    const Family *family = nullptr;
    for (const Family &each : families())
      for (Proposal &offered :
           propose(each, {*original, function(*original, one.kernel)}).proposals)
        if (offered.variant == one.variant) {
          proposal = std::move(offered);
          family = &each;
        }
    REQUIRE(family);
    const auto beside = parsed(
        text + "\n" + family->write({*original, function(*original, one.kernel)}, proposal) + "\n");
    const auto proved = [&](const std::string &changed, const InKernelForm &form) {
      auto module = parse(changed, "mutant.ptx");
      if (!module)
        return std::string("no PTX");
      return fault_of(prove_in_kernel({*original, function(*original, one.kernel)},
                                      {*beside, function(*beside, one.kernel)},
                                      {*beside, function(*beside, proposal.sibling.name)},
                                      {**module, function(**module, one.kernel)}, form));
    };
    const InKernelForm form{proposal.sibling, one.block};
    REQUIRE(proved(result.text, form).empty());
    // Another block than the one it was made for, and another table.
    for (int axis = 0; axis < 3; ++axis) {
      InKernelForm other = form;
      other.block[axis] *= 2;
      CHECK_FALSE(proved(result.text, other).empty());
      other = form;
      other.sibling.grid[static_cast<std::size_t>(axis)] *= 2;
      CHECK_FALSE(proved(result.text, other).empty());
      other = form;
      other.sibling.needs.max_extent[static_cast<std::size_t>(axis)] = 77;
      CHECK_FALSE(proved(result.text, other).empty());
    }
    std::vector<std::string> lines;
    std::istringstream stream(result.text);
    for (std::string line; std::getline(stream, line);)
      lines.push_back(line);
    const auto attempt = [&](std::size_t from, std::size_t count, const std::string &with) {
      std::string changed;
      for (std::size_t i = 0; i < lines.size(); ++i)
        if (i == from)
          changed += with;
        else if (i < from || i >= from + count)
          changed += lines[i] + "\n";
      if (!next_in_sample())
        return;
      ++tried;
      if (!proved(changed, form).empty()) {
        ++refused;
        return;
      }
      ++harmless;
      INFO(with);
      const KernelVerdict verdict =
          compare(with_block(text, one.kernel, one.block),
                  with_block(changed, one.kernel, one.block), one.kernel, 10);
      INFO(verdict.counter_example);
      CHECK(verdict.kind != KernelVerdict::Kind::differ);
      CHECK(verdict.agreed >= 3);
    };
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string &line = lines[i];
      const bool added = line.find("ptxasw_") != std::string::npos || line == "\tret;" ||
                         line.find("%nctaid") != std::string::npos;
      if (!added || line.find(".reg") != std::string::npos)
        continue;
      attempt(i, 1, "");
      attempt(i, 1, line + "\n" + line + "\n");
      if (i + 1 < lines.size())
        attempt(i, 2, lines[i + 1] + "\n" + line + "\n");
      for (const auto &[from, to] : changes)
        if (std::string changed = std::regex_replace(line, std::regex(from), to); changed != line)
          attempt(i, 1, changed + "\n");
    }
  }
  MESSAGE(fmt::format("{} mutants, {} refused, {} harmless", tried, refused, harmless));
  CHECK(more_than(refused, 500));
  // A line twice, or two lines in another order.
  CHECK(harmless * 3 < refused);
}

TEST_CASE("what is not known or cannot be is refused by name") {
  const std::string text = read("retile/nvcc.ptx");
  const auto why = [&](const std::string &module, const InKernelOptions &options) {
    const InKernelResult result = replace_in_kernel(*parsed(module), options);
    CHECK_FALSE(result.changed);
    CHECK(result.text == module);
    REQUIRE_FALSE(result.kernels.empty());
    return result.kernels[0].why.empty() ? std::string() : result.kernels[0].why[0];
  };
  const std::vector<std::string> axpy = {"_Z4axpyPfPKffi"};
  CHECK(why(text, {axpy, {"x4"}, std::nullopt}).starts_with("block-unknown"));
  // A block that no four threads of can be one.
  const InKernelResult odd =
      replace_in_kernel(*parsed(text), {axpy, {"wide-x4"}, BlockShape{30, 1, 1}});
  CHECK_FALSE(odd.changed);
  REQUIRE_FALSE(odd.kernels[0].why.empty());
  CHECK(odd.kernels[0].why.back().starts_with("wide-x4: block-shape"));
  // Twice in one kernel is once.
  const InKernelResult once =
      replace_in_kernel(*parsed(text), {axpy, {"x4"}, BlockShape{64, 1, 1}});
  REQUIRE(once.changed);
  CHECK_FALSE(why(once.text, {axpy, {"x4"}, BlockShape{64, 1, 1}}).empty());
  // Other kernels of the module stay as they are, and nothing happens unless asked.
  CHECK(replace_in_kernel(*parsed(text), {{"none"}, {"x4"}, BlockShape{64, 1, 1}}).kernels.empty());
  CHECK_FALSE(replace_in_kernel(*parsed(text), {axpy, {}, BlockShape{64, 1, 1}}).changed);
  RewriteOptions options;
  options.assume_block = BlockShape{64, 1, 1};
  const auto plain = rewrite_module(text, "k.ptx", options);
  REQUIRE(plain);
  CHECK_FALSE(plain->report.kernels[0].in_kernel);
  CHECK(plain->text == text);
  options.in_kernel = {"x4"};
  const auto rewritten = rewrite_module(text, "k.ptx", options);
  REQUIRE(rewritten);
  CHECK(rewritten->changed);
  REQUIRE(rewritten->report.kernels[0].in_kernel);
  CHECK(rewritten->report.kernels[0].in_kernel->variant == "x4");
  CHECK(rewritten->report.kernels[0].assumptions == std::vector<std::string>{"block-shape"});
}

} // namespace in_kernel_test
