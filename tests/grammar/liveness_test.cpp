#include "grammar/liveness.h"
#include "support.h"

#include <doctest/doctest.h>

using namespace ptxasw::test;

namespace {

/// Names of the registers live at a block's entry or exit, sorted.
std::string live(const std::string &text, BlockId block, bool in) {
  const auto module = parse_good(text);
  const Function &function = module->functions[0];
  const ControlFlowGraph cfg(*module, function);
  const Liveness liveness(*module, function, cfg);
  std::vector<std::string> names;
  for (RegisterId reg = 0; reg < function.registers.size(); ++reg)
    if (in ? liveness.live_in(block, reg) : liveness.live_out(block, reg))
      names.emplace_back(function.registers[reg].name);
  std::sort(names.begin(), names.end());
  std::string result;
  for (const std::string &name : names)
    result += (result.empty() ? "" : " ") + name;
  return result;
}

} // namespace

TEST_CASE("straight line, diamond, loop, guards") {
  struct Row {
    const char *body;
    BlockId block;
    const char *in;
    const char *out;
  };
  static constexpr Row rows[] = {
      {"add.u32 u32a, u32a, u32b; ret;", 0, "u32a u32b", ""},
      {"mov.u32 u32a, 1; @p bra L; mov.u32 u32b, u32a; L: st.global.u32 [u64a], u32b;", 0,
       "p u32b u64a", "u32a u32b u64a"},
      {"mov.u32 u32a, 1; @p bra L; mov.u32 u32b, u32a; L: st.global.u32 [u64a], u32b;", 1,
       "u32a u64a", "u32b u64a"},
      {"mov.u32 u32a, 0; L: add.u32 u32a, u32a, u32b; @p bra L; ret;", 1, "p u32a u32b",
       "p u32a u32b"},
      // A guarded write kills nothing, nor does one of a part or of an unknown opcode.
      {"@p mov.u32 u32a, 1; bra L; L: st.global.u32 [u64a], u32a;", 0, "p u32a u64a", "u32a u64a"},
      {"mov.f32 v.x, f32a; bra L; L: st.global.v4.f32 [u64a], v;", 0, "f32a u64a v", "u64a v"},
      {"novel.u32 u32a, u32b; bra L; L: st.global.u32 [u64a], u32a;", 0, "u32a u32b u64a",
       "u32a u64a"},
      {"mov.u32 u32a, 1; bra L; L: st.global.u32 [u64a], u32a;", 0, "u64a", "u32a u64a"},
      {"ld.global.v2.u32 {u32a, u32b}, [u64a]; bra L; L: st.global.u32 [u64a], u32a;", 0, "u64a",
       "u32a u64a"},
      // The accumulators of wgmma are read too.
      {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {f32a}, b64a, b64b, p, 1, 1; ret;", 0,
       "b64a b64b f32a p", ""},
  };
  for (const Row &row : rows) {
    INFO(std::string(row.body));
    CHECK(live(in_kernel(row.body), row.block, true) == row.in);
    CHECK(live(in_kernel(row.body), row.block, false) == row.out);
  }
}

TEST_CASE("results in registers are read where their function ends") {
  const std::string text = ".version 8.8\n.target sm_90a\n.func (.reg .u32 rv) f (.reg .u32 a)\n"
                           "{ .reg .pred p; mov.u32 rv, 1; @p ret; mov.u32 rv, a; }";
  CHECK(live(text, 0, false) == "a rv");
  CHECK(live(text, 1, false) == "rv");
  CHECK(live(text, 1, true) == "a");
}

TEST_CASE("a function too large for the table: everything that crosses blocks is live") {
  std::string body = ".reg .u32 %r<30001>;";
  for (int i = 0; i < 30000; ++i)
    body += "L" + std::to_string(i) + ": @p bra L" + std::to_string(29999 - i) + "; add.u32 %r" +
            std::to_string(i) + ", %r" + std::to_string(i + 1) + ", 1;";
  const auto module = parse_good(in_kernel(body));
  const Function &function = module->functions[0];
  const ControlFlowGraph cfg(*module, function);
  const Liveness liveness(*module, function, cfg);
  CHECK(liveness.live_in(5, 17));
  CHECK(liveness.live_out(40000, 17));
}
