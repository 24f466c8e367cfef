// random_promote [--kernels N] [--seed S] [-v]
//
// Random kernels with a loop, or one in another, in which loads repeat behind stores that may hit
// what they read: counters that go up or down by any step until they are past an end or equal to
// it, tested at the head or the foot; stores at places that go on with them, or stay. What is
// promoted must compute the same on the warp emulator; what is not proved would be withdrawn, and
// is counted. Exit code 1: one is wrong; it is printed.

#include "synth/promote/promote.h"
#include "tests/random/versions.h"

#include <fmt/core.h>
#include <random>
#include <string>
#include <vector>

using namespace ptxasw;

namespace {

constexpr unsigned registers = 6;

class Kernel {
public:
  explicit Kernel(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    text_ = ".version 7.8\n.target sm_70\n.address_size 64\n"
            ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 n)\n{\n"
            "\t.reg .b64 %pa, %pb, %po, %e, %d<400>;\n"
            "\t.reg .b32 %n, %i, %t, %x<4>, %r<10>, %j<4>, %s<4>, %k<400>;\n"
            "\t.reg .pred %q<4>, %p<400>;\n";
    for (const char *name : {"a", "b"})
      line(fmt::format("ld.param.u64 %p{0}, [{0}];", name));
    line("ld.param.u64 %po, [out];");
    line("ld.param.u32 %n, [n];");
    line("mov.u32 %t, %tid.x;");
    line("mov.u32 %x0, %ctaid.x;");
    line("mov.u32 %x1, %ntid.x;");
    line("mad.lo.u32 %i, %x0, %x1, %t;");
    line("mul.wide.u32 %e, %i, 512;");
    for (const char *name : pointers)
      line(fmt::format("add.s64 {0}, {0}, %e;", name));
    line("and.b32 %n, %n, 7;");
    line("and.b32 %x2, %n, 3;");
    for (unsigned i = 0; i < registers; ++i)
      line(below(2) == 0 ? fmt::format("ld.global.u32 %r{}, [%pa+{}];", i, 4 * below(16))
                         : fmt::format("add.u32 %r{}, %t, {};", i, below(100)));
    for (unsigned i = 0; i < 4; ++i)
      line(fmt::format("setp.lt.u32 %q{}, %r{}, %r{};", i, below(registers), below(registers)));
    loop(0);
    for (unsigned i = 0; i < registers; ++i)
      if (below(3) != 0)
        line(fmt::format("st.global.u32 [%po+{}], %r{};", 448 + 4 * i, i));
    line("ret;");
    return text_ + "}\n";
  }

private:
  static constexpr const char *pointers[] = {"%pa", "%pb", "%po"};

  unsigned below(unsigned limit) {
    return static_cast<unsigned>(random_() % limit); // the same numbers with every library
  }
  void line(const std::string &text) { text_ += "\t" + text + "\n"; }
  std::string any() { return fmt::format("%r{}", below(registers)); }

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

  std::mt19937_64 random_;
  std::string text_;
  unsigned labels_ = 0, fresh_ = 0;
};

} // namespace

int main(int argc, char **argv) {
  return random_versions(argc, argv, {"promote", "promoted", {10, 85, 25, 1}},
                         [](std::uint64_t seed) { return Kernel(seed).text(); });
}
