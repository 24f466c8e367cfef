// random_ahead [--kernels N] [--seed S] [-v]
//
// Random kernels with loops, one behind another or one in another, that count by 32 or 64 bits,
// up or down, by numbers or registers, to a limit, to one value, or with two ends; that load by
// pointers, by indices, by what they have loaded; and that may write where other iterations load or
// elsewhere, part, or do something under a guard. What loads ahead must compute the same on the
// warp emulator. Exit code 1: one does not; it is printed.

#include "tests/random/loop_kernel.h"
#include "tests/random/versions.h"

#include <fmt/core.h>
#include <string>

using namespace ptxasw::test;

namespace {

class AheadKernel : LoopKernel {
public:
  explicit AheadKernel(std::uint64_t seed) : LoopKernel(seed) {}

  std::string text() {
    begin("\t.reg .b64 %n64, %s64, %w<40>, %v<40>, %m<40>;\n\t.reg .b32 %s, %j<40>;\n"
          "\t.reg .f32 %f<10>;\n\t.reg .b16 %h<4>;\n");
    if (below(3) == 0)
      line("xor.b32 %n, %n, %t;"); // lanes differ
    line("and.b32 %n, %n, 31;");
    line("cvt.u64.u32 %n64, %n;");
    line("and.b32 %s, %n, 1;");
    line("add.u32 %s, %s, 1;");
    line("cvt.u64.u32 %s64, %s;");
    fill();
    for (unsigned i = 0; i < registers; ++i)
      line(fmt::format("cvt.rn.f32.u32 %f{0}, %r{0};", i));
    for (unsigned i = 0, count = 1 + below(2); i < count; ++i)
      loop(0);
    for (unsigned i = 0; i < registers; ++i)
      if (below(3) != 0)
        line(fmt::format("st.global.{} [%po+{}], %{}{};", below(2) == 0 ? "u32" : "f32",
                         448 + 8 * i, below(2) == 0 ? "r" : "f", i));
    line("ret;");
    return text_ + "}\n";
  }

private:
  std::string real() { return fmt::format("%f{}", below(registers)); }

  /// Where a load of a loop with this number reads.
  std::string place(unsigned number) {
    static constexpr const char *bases[] = {"%pa", "%pb"};
    const unsigned own = fresh_++;
    switch (below(5)) {
    case 0:
    case 1:
      return fmt::format("[%w{}+{}]", number, 4 * below(4));
    case 2: // by what is in a register, maybe loaded
      line(fmt::format("and.b32 %k{}, {}, 63;", own, any()));
      break;
    case 3:
      line(fmt::format("and.b32 %k{}, %j{}, 31;", own, number));
      break;
    default:
      line(fmt::format("cvt.u32.u64 %k{}, %m{};", own, number));
      line(fmt::format("and.b32 %k{0}, %k{0}, 31;", own));
    }
    line(fmt::format("mul.wide.s32 %d{}, %k{}, 4;", own, own));
    line(fmt::format("add.s64 %d{}, {}, %d{};", own + 200, bases[below(2)], own));
    return fmt::format("[%d{}]", own + 200);
  }

  /// A store that may meet what later iterations load, or not.
  void store(unsigned number, const std::string &guard) {
    static constexpr const char *spaces[] = {".global", ".global", ".global", ""};
    const std::string to =
        below(4) != 0 ? fmt::format("[%v{}+{}]", number, 4 * below(4)) : place(number);
    const std::string opcode = fmt::format("{}st{}", below(3) == 0 ? guard : "", spaces[below(4)]);
    switch (below(5)) {
    case 0:
      return line(fmt::format("{}.f32 {}, {};", opcode, to, real()));
    case 1:
      return line(
          fmt::format("{}.v2.u32 [%v{}], {{%r{}, %r{}}};", opcode, number, below(3), 3 + below(3)));
    case 2:
      return line(fmt::format("{}.u8 {}, {};", opcode, to, any()));
    default:
      return line(fmt::format("{}.u32 {}, {};", opcode, to, any()));
    }
  }

  void statement(unsigned number, unsigned depth) {
    static constexpr const char *opcodes[] = {"add.s32", "sub.s32", "xor.b32", "min.s32"};
    static constexpr const char *loads[] = {"u32", "u32", "s32", "u8", "u16"};
    const std::string guard =
        below(5) == 0 ? fmt::format("@{}%q{} ", below(2) == 0 ? "!" : "", below(4)) : "";
    const unsigned kind = below(14);
    if (kind < 4) {
      const std::string from = place(number);
      const std::string cached = below(4) == 0 ? ".nc" : "";
      if (below(8) == 0)
        line(fmt::format("ld.global{}.v2.u32 {{%r{}, %r{}}}, [%w{}];", cached, below(3),
                         3 + below(3), number));
      else
        line(fmt::format("{}ld.global{}.{} {}, {};", below(8) == 0 ? guard : "", cached,
                         loads[below(5)], any(), from));
    } else if (kind < 6) {
      const std::string from = place(number);
      line(fmt::format("ld.global.f32 {}, {};", real(), from));
    } else if (kind < 8) {
      line(fmt::format("{}{}.rn.f32 {}, {}, {};", guard, below(2) == 0 ? "add" : "mul", real(),
                       real(), real()));
    } else if (kind == 8 && below(3) == 0) {
      store(number, guard);
    } else if (kind == 8 && below(2) == 0) {
      static constexpr const char *writes[] = {"st.global.u32 [%po+256], {};",
                                               "red.global.add.u32 [%po+260], {};",
                                               "st.global.u32 [%pa+16], {};"};
      line(fmt::format(fmt::runtime(writes[below(3)]), any()));
    } else if (kind == 9 && below(4) == 0) {
      const unsigned label = labels_++;
      line(fmt::format("@%q{} bra $other{};", below(4), label));
      statement(number, depth);
      text_ += fmt::format("$other{}:\n", label);
    } else if (kind == 10 && below(3) == 0) {
      line(fmt::format("setp.lt.u32 %q{}, {}, {};", below(4), any(), any()));
    } else if (kind == 11 && depth == 0 && below(3) == 0) {
      loop(depth + 1);
    } else {
      line(fmt::format("{}{} {}, {}, {};", guard, opcodes[below(4)], any(), any(), any()));
    }
  }

  void loop(unsigned depth) {
    if (loops_ >= 38)
      return;
    const unsigned number = loops_++, label = labels_++;
    const bool wide = below(3) == 0, down = below(4) == 0, by_register = below(3) == 0;
    const bool once = below(4) == 0; // counts to one value
    const std::string counter = fmt::format("%{}{}", wide ? "m" : "j", number);
    const std::string type = wide ? (below(2) == 0 ? "s64" : "u64") : below(2) == 0 ? "s32" : "u32";
    const std::string limit = wide ? "%n64" : "%n";
    const std::string step = by_register && !once ? (wide ? "%s64" : "%s") : once ? "1" : "2";
    line(fmt::format("mov.u32 %j{}, 0;", number));
    line(fmt::format("mov.u64 %m{}, 0;", number));
    line(fmt::format("add.s64 %w{}, {}, {};", number, below(2) == 0 ? "%pa" : "%pb", 8 * below(8)));
    line(fmt::format("add.s64 %v{}, {}, {};", number, pointers[below(3) == 0 ? below(2) : 2],
                     8 * below(8)));
    if (down)
      line(fmt::format("{} {}, {};", wide ? "mov.u64" : "mov.u32", counter, limit));
    const std::string end = down ? "0" : limit;
    // Signed, down to 0 by more than one: it ends as it falls below.
    const std::string compared = down ? (wide ? "s64" : "s32") : type;
    const auto leave = [&](bool stays) {
      const unsigned predicate = fresh_++;
      const char *test = once   ? (stays ? "ne" : "eq")
                         : down ? (stays ? "gt" : "le")
                                : (stays ? "lt" : "ge");
      line(fmt::format("setp.{}.{} %p{}, {}, {};", test, compared, predicate, counter, end));
      return predicate;
    };
    line(fmt::format("@%p{} bra $end{};", leave(false), label));
    const unsigned form = below(3); // the test is at the foot, at the head, or in the middle
    text_ += fmt::format("$loop{}:\n", label);
    if (form == 1)
      line(fmt::format("@%p{} bra $end{};", leave(false), label));
    const unsigned count = 2 + below(6), middle = below(count);
    for (unsigned i = 0; i < count; ++i) {
      statement(number, depth);
      if ((form == 2 || below(12) == 0) && i == middle)
        line(fmt::format("@%p{} bra $end{};", leave(false), label));
      if (below(30) == 0) // by what may have been loaded
        line(fmt::format("@%q{} bra $end{};", below(4), label));
    }
    line(fmt::format("add.s64 %w{0}, %w{0}, {1};", number, 4 * (1 + below(2))));
    line(fmt::format("add.s64 %v{0}, %v{0}, {1};", number, 8 * (below(4) != 0)));
    if (wide && below(2) == 0)
      line(fmt::format("add.s32 %j{0}, %j{0}, 1;", number));
    line(fmt::format("{}.{} {}, {}, {};", down ? "sub" : "add", wide ? "s64" : "s32", counter,
                     counter, step));
    if (form == 0)
      line(fmt::format("@%p{} bra $loop{};", leave(true), label));
    else
      line(fmt::format("bra $loop{};", label));
    text_ += fmt::format("$end{}:\n", label);
  }

  unsigned loops_ = 0;
};

const RandomProgram ahead_program("ahead", [](int argc, char **argv) {
  return random_versions(argc, argv, {"ahead", "brought ahead", {70, 85, 40, 1}},
                         [](std::uint64_t seed) { return AheadKernel(seed).text(); });
});

} // namespace
