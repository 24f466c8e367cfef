// random_carry [--kernels N] [--seed S] [-v]
//
// Random kernels with a loop, or one in another, that walks along arrays and reads several of their
// elements in each round, by pointers or by indices, up or down, with steps that are numbers or
// registers; stores between the loads go along with them, ahead or behind, faster, or stay, and may
// hit what they read. What is carried from round to round must compute the same on the warp
// emulator; what is not proved would be withdrawn, and is counted. Exit code 1: one is wrong; it is
// printed.

#include "tests/random/loop_kernel.h"
#include "tests/random/versions.h"

#include <fmt/core.h>
#include <string>

using namespace ptxasw::test;

namespace {

class CarryKernel : LoopKernel {
public:
  explicit CarryKernel(std::uint64_t seed) : LoopKernel(seed) {}

  std::string text() {
    begin("\t.reg .b64 %s<2>, %w<40>;\n\t.reg .b32 %j<4>;\n");
    line("and.b32 %n, %n, 7;");
    fill();
    // Steps that are registers: of 4 or 8 bytes, one as the other, or not.
    line("and.b32 %x2, %n, 1;");
    line("add.u32 %x2, %x2, 1;");
    line("mul.wide.u32 %s0, %x2, 4;");
    line(below(3) == 0 ? "mov.u64 %s1, 4;" : "mul.wide.u32 %s1, %x2, 4;");
    loop(0);
    return end();
  }

private:
  /// A pointer that a loop moves.
  struct Walker {
    std::string reg, step;
    bool down = false;
  };

  std::string operand(const Walker &walker, int far) const {
    return fmt::format("[{}+{}]", walker.reg, walker.down ? -far : far);
  }

  /// Where an access of a loop goes.
  std::string place(const std::vector<Walker> &walkers, unsigned depth, bool stays) {
    if (stays)
      return fmt::format("[{}+{}]", below(2) == 0 ? "%pa" : "%po", 4 * below(24));
    if (below(3) != 0)
      return operand(walkers[below(static_cast<unsigned>(walkers.size()))],
                     4 * static_cast<int>(below(4)));
    // By an index of 32 bits: the counter and a number.
    const unsigned own = fresh_++;
    line(fmt::format("add.s32 %k{}, %j{}, {};", own, below(depth + 1), below(4)));
    line(fmt::format("mul.wide.s32 %d{}, %k{}, 4;", own, own));
    line(fmt::format("add.s64 %d{}, {}, %d{};", own + 200, pointers[below(3)], own));
    return fmt::format("[%d{}+{}]", own + 200, 4 * below(3));
  }

  void statement(const std::vector<Walker> &walkers, unsigned depth) {
    static constexpr const char *opcodes[] = {"add.s32", "sub.s32", "xor.b32", "min.s32"};
    static constexpr const char *loads[] = {"u32", "u32", "u32", "u32", "s32", "u8"};
    const std::string guard =
        below(6) == 0 ? fmt::format("@{}%q{} ", below(2) == 0 ? "!" : "", below(4)) : "";
    switch (below(9)) {
    case 0:
    case 1:
    case 2:
    case 3: {
      const std::string from = place(walkers, depth, below(8) == 0);
      line(fmt::format("{}ld.global.{} {}, {};", below(12) == 0 ? guard : "", loads[below(6)],
                       any(), from));
      break;
    }
    case 4:
    case 5: {
      const std::string to = place(walkers, depth, below(5) == 0);
      line(fmt::format("{}st.global.{} {}, {};", guard, below(10) == 0 ? "u8" : "u32", to,
                       below(8) == 0 ? std::to_string(below(50)) : any()));
      break;
    }
    case 6: {
      const unsigned label = labels_++;
      line(fmt::format("@%q{} bra $other{};", below(4), label));
      statement(walkers, depth);
      text_ += fmt::format("$other{}:\n", label);
      break;
    }
    case 7:
      if (depth < 1 && below(3) == 0) {
        loop(depth + 1);
        break;
      }
      [[fallthrough]];
    default:
      line(fmt::format("{}{} {}, {}, {};", guard, opcodes[below(4)], any(), any(), any()));
    }
  }

  std::vector<Walker> walkers() {
    std::vector<Walker> all;
    const bool down = below(4) == 0;
    const std::string step = below(3) == 0 ? "%s0" : std::to_string(below(3) == 0 ? 8 : 4);
    for (unsigned i = 0, count = 2 + below(3); i < count; ++i) {
      Walker one{fmt::format("%w{}", walkers_++), step, down};
      if (below(5) == 0)
        one.step = step == "%s0" ? "%s1" : "4";
      const unsigned first = (down ? 128 : 64) + 4 * below(3);
      if (i > 0 && below(3) == 0) // a step before another one
        line(fmt::format("sub.s64 {}, {}, {};", one.reg, all.back().reg, all.back().step));
      else
        line(fmt::format("add.s64 {}, {}, {};", one.reg, pointers[below(3)], first));
      all.push_back(one);
    }
    return all;
  }

  void loop(unsigned depth) {
    const unsigned label = labels_++;
    const bool foot = below(2) == 0;
    const std::string counter = fmt::format("%j{}", depth);
    const std::string rounds = below(2) == 0 ? "%n" : std::to_string(below(7));
    const std::vector<Walker> all = walkers();
    line(fmt::format("mov.u32 {}, 0;", counter));
    const auto leave = [&] {
      const unsigned predicate = fresh_++;
      line(fmt::format("setp.ge.s32 %p{}, {}, {};", predicate, counter, rounds));
      return predicate;
    };
    line(fmt::format("@%p{} bra $end{};", leave(), label));
    text_ += fmt::format("$loop{}:\n", label);
    if (!foot)
      line(fmt::format("@%p{} bra $end{};", leave(), label));
    const unsigned window = below(4);
    for (unsigned i = 0, count = 3 + below(depth == 0 ? 7 : 4); i < count; ++i) {
      if (i < window)
        line(fmt::format("ld.global.u32 {}, {};", any(),
                         operand(all[0], 4 * static_cast<int>(below(3)))));
      statement(all, depth);
    }
    for (const Walker &one : all)
      line(fmt::format("{}.s64 {}, {}, {};", one.down ? "sub" : "add", one.reg, one.reg, one.step));
    line(fmt::format("add.s32 {0}, {0}, 1;", counter));
    if (foot)
      line(fmt::format("@!%p{} bra $loop{};", leave(), label));
    else
      line(fmt::format("bra $loop{};", label));
    text_ += fmt::format("$end{}:\n", label);
  }

  unsigned walkers_ = 0;
};

const RandomProgram carry_program("carry", [](int argc, char **argv) {
  return random_versions(argc, argv, {"carry", "carried", {45, 85, 20, 2}},
                         [](std::uint64_t seed) { return CarryKernel(seed).text(); });
});

} // namespace
