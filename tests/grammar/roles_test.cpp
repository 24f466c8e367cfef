// Which registers an instruction reads and writes.

#include "grammar/roles.h"
#include "support.h"

#include <doctest/doctest.h>

using namespace ptxasw::test;

namespace {

/// `r` read, `w` written, `m` may be written, in the order of the visits.
std::string uses(std::string_view body) {
  const auto module = parse_good(in_kernel(body));
  const Function &function = module->functions[0];
  std::string text;
  for_each_register(*module, function.instructions[0], [&](RegisterId reg, RegisterUse use) {
    text += text.empty() ? "" : " ";
    text += "rwm"[static_cast<int>(use)];
    text += ':';
    text += function.registers[reg].name;
  });
  return text;
}

} // namespace

TEST_CASE("roles of operands") {
  struct Row {
    const char *body;
    const char *uses;
  };
  static constexpr Row rows[] = {
      {"add.u32 u32a, u32a, u32b;", "w:u32a r:u32a r:u32b"},
      {"@p add.u32 u32a, u32b, 1;", "r:p m:u32a r:u32b"},
      {"st.global.u32 [u64a], u32a;", "r:u64a r:u32a"},
      {"ld.global.v2.f32 {f32a, _}, [u64a+4];", "w:f32a r:u64a"},
      {"shfl.sync.up.b32 b32a|p, b32b, 1, 0, -1;", "w:b32a w:p r:b32b"},
      {"setp.lt.and.u32 p|q, u32a, u32b, !r;", "w:p w:q r:u32a r:u32b r:r"},
      {"mov.b64 {b32a, b32b}, b64a;", "w:b32a w:b32b r:b64a"},
      {"mov.f32 v.y, f32a;", "m:v r:f32a"},
      {"ld.global.v4.f32 v, [u64a];", "w:v r:u64a"},
      {"atom.global.add.u32 u32a, [u64a], u32b;", "w:u32a r:u64a r:u32b"},
      {"red.global.add.u32 [u64a], u32b;", "r:u64a r:u32b"},
      {"atom.global.v2.f32.add {f32a, f32b}, [u64a], {f32a, f32b};",
       "w:f32a w:f32b r:u64a r:f32a r:f32b"},
      {"bar.sync u32a, u32b;", "r:u32a r:u32b"},
      {"bar.red.popc.u32 u32a, 0, p;", "w:u32a r:p"},
      {"barrier.cta.red.and.aligned.pred p, 0, q;", "w:p r:q"},
      {"bar.warp.sync u32a;", "r:u32a"},
      {"mbarrier.init.shared.b64 [u32a], u32b;", "r:u32a r:u32b"},
      {"mbarrier.arrive.shared.b64 b64a, [u32a];", "w:b64a r:u32a"},
      {"mbarrier.try_wait.shared.b64 p, [u32a], b64a;", "w:p r:u32a r:b64a"},
      {"multimem.ld_reduce.global.add.f32 f32a, [u64a];", "w:f32a r:u64a"},
      {"multimem.red.global.add.f32 [u64a], f32a;", "r:u64a r:f32a"},
      {"wmma.store.d.sync.aligned.row.m16n16k16.f32 [u64a], {f32a, f32b}, u32a;",
       "r:u64a r:f32a r:f32b r:u32a"},
      {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {f32a}, b64a, b64b, p, 1, 1;",
       "r:f32a w:f32a r:b64a r:b64b r:p"},
      {"tex.2d.v4.f32.f32 {f32a, _, _, _}|p, [table, {f32a, f32b}];", "w:f32a w:p r:f32a r:f32b"},
      {"sust.b.1d.b32.trap [table, {s32a}], {b32a};", "r:s32a r:b32a"},
      {"brx.idx u32a, T; T: .branchtargets L; L:", "r:u32a"},
      {"nanosleep.u32 u32a;", "r:u32a"},
      {"elect.sync b32a|p, -1;", "w:b32a w:p"},
      {"lop3.or.b32 b32a|p, b32b, 1, 2, 0x3f, !q;", "w:b32a w:p r:b32b r:q"},
      // A call and any unknown opcode may write all they name, but not address registers.
      {"call (u32a), f, (u32b);", "r:u32a m:u32a r:u32b m:u32b"},
      {"novel.u32 u32a, [u64a], u32b;", "r:u32a m:u32a r:u64a r:u64a r:u32b m:u32b"},
      {"mov.u64 u64a, u64b+4;", "r:u64a m:u64a r:u64b m:u64b"},
      {"vadd4.u32.u32.u32 u32a, u32b.b3210, 1, 2;", "r:u32a m:u32a r:u32b m:u32b"},
  };
  for (const Row &row : rows) {
    INFO(std::string(row.body));
    std::string expected = row.uses;
    CHECK(uses(row.body) == expected);
  }
}

TEST_CASE("every opcode of the ISA that stores first is no destination") {
  for (const char *source : {"st", "red", "bra", "ret", "sust", "stmatrix", "cp", "prefetch", "bar",
                             "membar", "fence", "exit", "trap", "discard", "applypriority"})
    CHECK(first_operand(Opcode::of(source)) == FirstOperand::source);
  for (const char *unknown : {"call", "tcgen05", "novel", ""})
    CHECK(first_operand(Opcode::of(unknown)) == FirstOperand::unknown);
}
