// random_promote [--kernels N] [--seed S] [-v]
//
// Random kernels with a loop, or one in another, in which loads repeat behind stores that may hit
// what they read: counters that go up or down by any step until they are past an end or equal to
// it, tested at the head or the foot; stores at places that go on with them, or stay. What is
// promoted must compute the same on the warp emulator; what is not proved would be withdrawn, and
// is counted. Exit code 1: one is wrong; it is printed.

#include "tests/random/loop_kernel.h"
#include "tests/random/versions.h"

#include <fmt/core.h>
#include <string>
#include <vector>

using namespace ptxasw::test;

namespace {

class PromoteKernel : LoopKernel {
public:
  explicit PromoteKernel(std::uint64_t seed) : LoopKernel(seed) {}

  std::string text() {
    begin("\t.reg .b32 %j<4>, %s<4>;\n");
    line("and.b32 %n, %n, 7;");
    line("and.b32 %x2, %n, 3;");
    fill();
    loop(0);
    return end();
  }

private:
  /// A register with an address: a pointer and a place that depends on the loops' counters, or not.
  std::string place(unsigned depth, bool stays) {
    const char *const base = pointers[below(3)];
    const unsigned own = fresh_++;
    const std::string to = fmt::format("%d{}", own);
    const unsigned shape = below(4);
    if (stays && shape < 2)
      return fmt::format("{}+{}", base, 4 * below(24));
    const std::string index =
        stays ? "%x2" : fmt::format("%j{}", depth == 0 ? 0 : below(depth + 1));
    const std::string narrow = fmt::format("%k{}", own);
    if (shape == 0)
      line(fmt::format("add.s32 {}, {}, {};", narrow, index, below(8)));
    else if (shape == 1)
      line(fmt::format("mad.lo.s32 {}, {}, {}, {};", narrow, index, 1 + below(3), below(8)));
    else if (shape == 2)
      line(fmt::format("sub.s32 {}, {}, {};", narrow, 24 + below(8), index));
    else
      line(fmt::format("mad.lo.s32 {}, {}, %x2, {};", narrow, index, below(6)));
    if (below(2) == 0) {
      line(fmt::format("mul.wide.s32 {}, {}, 4;", to, narrow));
    } else {
      line(fmt::format("cvt.s64.s32 {}, {};", to, narrow));
      line(fmt::format("shl.b64 {0}, {0}, 2;", to));
    }
    const std::string sum = fmt::format("%d{}", fresh_++);
    line(fmt::format("add.s64 {}, {}, {};", sum, base, to));
    return sum;
  }

  void statement(unsigned depth) {
    static constexpr const char *opcodes[] = {"add.s32", "sub.s32", "xor.b32", "min.s32"};
    static constexpr const char *loads[] = {"u32", "u32", "s32", "f32", "u8", "s16"};
    const std::string guard =
        below(6) == 0 ? fmt::format("@{}%q{} ", below(2) == 0 ? "!" : "", below(4)) : "";
    switch (below(8)) {
    case 0:
    case 1:
    case 2: {
      const std::string from = place(depth, below(5) != 0);
      const bool guarded = below(12) == 0;
      line(fmt::format("{}ld.global.{} {}, [{}];", guarded ? guard : "", loads[below(6)], any(),
                       from));
      break;
    }
    case 3:
    case 4: {
      const std::string to = place(depth, below(3) == 0);
      line(fmt::format("{}st.global.{} [{}], {};", guard, below(8) == 0 ? "u8" : "u32", to,
                       below(8) == 0 ? std::to_string(below(50)) : any()));
      break;
    }
    case 5: {
      const unsigned label = labels_++;
      line(fmt::format("@%q{} bra $other{};", below(4), label));
      statement(depth);
      if (below(2) == 0)
        statement(depth);
      text_ += fmt::format("$other{}:\n", label);
      break;
    }
    case 6:
      if (depth < 1 && below(2) == 0) {
        loop(depth + 1);
        break;
      }
      [[fallthrough]];
    default:
      line(fmt::format("{}{} {}, {}, {};", guard, opcodes[below(4)], any(), any(), any()));
    }
  }

  void loop(unsigned depth) {
    const unsigned label = labels_++, form = below(6);
    const int step = static_cast<int>(1 + below(3)) * (below(3) == 0 ? -1 : 1);
    const bool foot = below(2) == 0, exact = below(4) == 0;
    const std::string counter = fmt::format("%j{}", depth);
    const std::string rounds = below(2) == 0 ? "%n" : std::to_string(below(7));
    // From `first` to `last`, both within 0 and 24.
    const std::string far = fmt::format("%s{}", depth);
    line(fmt::format("mul.lo.s32 {}, {}, {};", far, rounds, step > 0 ? step : -step));
    if (!exact && below(2) == 0)
      line(fmt::format("sub.s32 {0}, {0}, {1};", far, below(2)));
    if (step > 0) {
      line(fmt::format("mov.u32 {}, {};", counter, below(2) == 0 || exact ? 0 : 1));
    } else {
      line(fmt::format("mov.u32 {}, {};", counter, far));
      line(fmt::format("mov.u32 {}, 0;", far));
    }
    const bool is_unsigned = step > 0 && form == 0;
    const auto leave = [&](const char *up, const char *down) {
      const unsigned predicate = fresh_++;
      line(fmt::format("setp.{}.{}32 %p{}, {}, {};",
                       exact      ? "eq"
                       : step > 0 ? up
                                  : down,
                       is_unsigned ? 'u' : 's', predicate, counter, far));
      return predicate;
    };
    const unsigned before = leave(form % 2 == 0 ? "ge" : "gt", form % 2 == 0 ? "le" : "lt");
    line(fmt::format("@%p{} bra $end{};", before, label));
    text_ += fmt::format("$loop{}:\n", label);
    if (!foot) {
      const unsigned predicate = leave(form % 2 == 0 ? "ge" : "gt", form % 2 == 0 ? "le" : "lt");
      line(fmt::format("@%p{} bra $end{};", predicate, label));
    }
    for (unsigned i = 0, count = 2 + below(depth == 0 ? 6 : 4); i < count; ++i)
      statement(depth);
    line(fmt::format("add.s32 {0}, {0}, {1};", counter, step));
    if (foot) {
      const unsigned predicate = leave(form % 2 == 0 ? "ge" : "gt", form % 2 == 0 ? "le" : "lt");
      line(fmt::format("@!%p{} bra $loop{};", predicate, label));
    } else {
      line(fmt::format("bra $loop{};", label));
    }
    text_ += fmt::format("$end{}:\n", label);
  }
};

const RandomProgram promote_program("promote", [](int argc, char **argv) {
  return random_versions(argc, argv, {"promote", "promoted", {10, 85, 25, 1}},
                         [](std::uint64_t seed) { return PromoteKernel(seed).text(); });
});

} // namespace
