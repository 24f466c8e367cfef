// random_stage [--kernels N] [--seed S] [-v]
//
// Random kernels with a loop, or two, in which all threads read the same places, or each its own:
// counters of any step, up or down, tested at the foot, the head or between in any way; pointers
// that go on by little or much, and indices; loads of one to sixteen bytes, several in a round,
// side by side or over each other, in one arm of a branch or in both, now and then generic; loops
// in another one; stores
// between them, now and then to what is read; threads that return before, go around the loop, have
// more rounds than others, or begin elsewhere; and more rounds than a tile has room for. What is
// staged must compute the same on the warp emulator, which sees races and what nobody read before.
// Exit code 1: one is wrong; it is printed.

#include "synth/family.h"
#include "tests/random/versions.h"

#include <fmt/core.h>
#include <random>
#include <string>

using namespace ptxasw::test;

namespace {

class StageKernel {
public:
  explicit StageKernel(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    for (const char *name : {"a", "b", "out"})
      line(fmt::format("ld.param.u64 %p_{0}, [{0}];", name));
    line("ld.param.u32 %n, [n];");
    line("ld.param.u32 %m, [m];");
    line("mov.u32 %t, %tid.x;");
    line("mov.u32 %y, %tid.y;");
    line("mov.u32 %b, %ctaid.x;");
    line("mov.u32 %w, %ntid.x;");
    line("mad.lo.u32 %i, %b, %w, %t;");
    line("mul.wide.u32 %e, %i, 64;");
    line("add.s64 %p_out, %p_out, %e;");
    for (int i = 0; i < 4; ++i)
      line(fmt::format("add.u32 %r{}, %t, {};", i, below(9)));
    line(fmt::format("and.b32 %n, %n, {};", one_in(4) ? 63 : 15));
    leave();
    any_loop();
    if (one_in(4))
      any_loop();
    text_ += "$end:\n";
    for (int i = 0; i < 4; ++i)
      line(fmt::format("st.global.u32 [%p_out+{}], %r{};", 4 * i, i));
    line("ret;");
    return ".version 7.8\n.target sm_80\n.address_size 64\n"
           ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 n, "
           ".param .u32 m)" +
           std::string(one_in(6) ? " .reqntid 32, 2, 1" : "") +
           "\n{\n"
           "\t.reg .b64 %p_a, %p_b, %p_out, %e, %d<200>, %v<40>;\n"
           "\t.reg .b32 %n, %m, %t, %y, %b, %w, %i, %r<4>, %c<9>, %f<9>, %x<200>;\n"
           "\t.reg .b16 %h<40>;\n\t.reg .pred %q<60>;\n" +
           text_ + "}\n";
  }

private:
  unsigned below(unsigned limit) {
    return static_cast<unsigned>(random_() % limit); // the same numbers with every library
  }
  bool one_in(unsigned n) { return below(n) == 0; }
  void line(const std::string &text) { text_ += "\t" + text + "\n"; }
  std::string any() { return fmt::format("%r{}", below(4)); }
  unsigned fresh() { return fresh_++; }

  /// Some threads do not come.
  void leave() {
    if (!one_in(3))
      return;
    static constexpr const char *what[] = {"%i, %m", "%t, %m", "%b, %m", "%y, 1"};
    const unsigned q = predicates_++;
    line(fmt::format("setp.gt.u32 %q{}, {};", q, what[below(4)]));
    line(fmt::format("@%q{} {};", q, one_in(2) ? "ret" : "bra $end"));
  }

  /// A number of rounds: the same for all threads, mostly.
  std::string rounds() {
    const unsigned x = fresh();
    switch (below(8)) {
    case 0:
      line(fmt::format("add.u32 %x{}, %n, %y;", x));
      break;
    case 1:
      line(fmt::format("and.b32 %x{}, %t, 1;", x));
      line(fmt::format("add.u32 %x{0}, %x{0}, %n;", x));
      break;
    case 2:
      line(fmt::format("and.b32 %x{}, %b, 3;", x));
      line(fmt::format("add.u32 %x{0}, %x{0}, %n;", x));
      break;
    case 3:
      line(fmt::format("mov.u32 %x{}, {};", x, 1 + below(40)));
      break;
    default:
      line(fmt::format("mov.u32 %x{}, %n;", x));
    }
    return fmt::format("%x{}", x);
  }

  /// A pointer or an index that goes on in the loop.
  struct Walker {
    std::string pointer, index;
    unsigned step = 4;
    bool is_index = false;
  };

  Walker walker(const std::string &counter) {
    Walker one;
    one.pointer = fmt::format("%v{}", walkers_++);
    const unsigned steps[] = {4, 8, 16, 16, 32, 64, 144, 256};
    one.step = steps[below(8)];
    line(fmt::format("mov.b64 {}, {};", one.pointer, one_in(3) ? "%p_b" : "%p_a"));
    if (one_in(4)) {
      const unsigned d = fresh();
      static constexpr const char *from[] = {"%b", "%y", "%t", "%m"};
      const unsigned x = fresh();
      line(fmt::format("and.b32 %x{}, {}, 7;", x, from[one_in(3) ? below(4) : 0]));
      line(fmt::format("mul.wide.u32 %d{}, %x{}, 16;", d, x));
      line(fmt::format("add.s64 {0}, {0}, %d{1};", one.pointer, d));
    }
    one.is_index = one_in(3);
    one.index = counter;
    return one;
  }

  std::string address(const Walker &one) {
    if (!one.is_index)
      return one.pointer;
    const unsigned x = fresh(), d = fresh(), sum = fresh();
    line(fmt::format("add.s32 %x{}, {}, {};", x, one.index, one_in(2) ? "3" : "%m"));
    line(fmt::format("mul.wide.{}32 %d{}, %x{}, {};", one_in(3) ? 'u' : 's', d, x, one.step));
    line(fmt::format("add.s64 %d{}, {}, %d{};", sum, one.pointer, d));
    return fmt::format("%d{}", sum);
  }

  void load(const Walker &one) {
    const std::string from = address(one);
    static constexpr unsigned sizes[] = {1, 2, 4, 4, 4, 8, 16, 16};
    const unsigned size = std::min(sizes[below(8)], one.step);
    const unsigned places = one.step / size;
    const unsigned offset = one_in(12) ? size * below(2 * places) : size * below(places);
    const std::string at = fmt::format("[{}+{}]", from, offset);
    const char *const space = one_in(4) ? ".global.nc" : one_in(5) ? "" : ".global";
    const std::string guard = one_in(15) ? "@%q0 " : "";
    if (size == 16) {
      line(fmt::format("{}ld{}.v4.u32 {{%r0, %x0, %r1, %x1}}, {};", guard, space, at));
    } else if (size == 8 && one_in(2)) {
      line(fmt::format("{}ld{}.v2.u32 {{{}, %x0}}, {};", guard, space, "%r2", at));
    } else if (size == 8) {
      const unsigned d = fresh();
      line(fmt::format("mov.b64 %d{}, 0;", d));
      line(fmt::format("{}ld{}.u64 %d{}, {};", guard, space, d, at));
      line(fmt::format("cvt.u32.u64 {}, %d{};", any(), d));
    } else if (size == 2 && one_in(2)) {
      line(fmt::format("ld{}.u16 %h1, {};", space, at));
      line(fmt::format("cvt.u32.u16 {}, %h1;", any()));
    } else {
      static constexpr const char *types[] = {"u8", "s8", "u16", "s16", "u32", "f32"};
      line(fmt::format("{}ld{}.{} {}, {};", guard, space,
                       types[(size == 1   ? 0
                              : size == 2 ? 2
                                          : 4) +
                             below(2)],
                       any(), at));
    }
    line(fmt::format("add.u32 {}, {}, {};", any(), any(), any()));
  }

  /// A branch, in one arm of which or in both there is a load: of the same, mostly.
  void arms(const Walker &one) {
    const unsigned label = labels_++, q = predicates_++;
    line(fmt::format("setp.{}.u32 %q{}, {}, {};", one_in(2) ? "lt" : "ne", q, any(), "%t"));
    line(fmt::format("@%q{} bra $when{};", q, label));
    const std::mt19937_64 before = random_;
    load(one);
    line(fmt::format("bra $meet{};", label));
    text_ += fmt::format("$when{}:\n", label);
    const std::mt19937_64 behind = random_;
    const bool same = !one_in(5);
    if (same)
      random_ = before;
    if (same || one_in(2))
      load(one);
    if (same)
      random_ = behind;
    text_ += fmt::format("$meet{}:\n", label);
  }

  void other() {
    switch (below(6)) {
    case 0:
      line(fmt::format("st.global.u32 [%p_out+{}], {};", 16 + 4 * below(4), any()));
      break;
    case 1:
      if (one_in(4))
        line(fmt::format("st.global.u32 [%p_{}+{}], {};", one_in(2) ? "a" : "b", 4 * below(9),
                         any()));
      break;
    case 2: {
      const unsigned label = labels_++, q = predicates_++;
      line(fmt::format("setp.lt.u32 %q{}, {}, {};", q, any(), any()));
      line(fmt::format("@%q{} bra $over{};", q, label));
      line(fmt::format("xor.b32 {}, {}, {};", any(), any(), any()));
      text_ += fmt::format("$over{}:\n", label);
      break;
    }
    case 3:
      if (one_in(12))
        line(fmt::format("bar.sync 0;"));
      break;
    default:
      line(fmt::format("sub.s32 {}, {}, {};", any(), any(), any()));
    }
  }

  void any_loop() {
    if (one_in(4))
      around();
    else
      loop();
  }

  /// A loop with one or two in it, as often for all threads, mostly.
  void around() {
    const unsigned label = labels_++, q = predicates_++, turn = fresh(), turns = fresh();
    const bool at_head = one_in(2), by_lanes = one_in(6);
    if (one_in(3))
      line(fmt::format("mov.u32 %x{}, {};", turns, below(3)));
    else
      line(fmt::format("and.b32 %x{}, {}, 3;", turns, by_lanes ? "%t" : "%m"));
    line(fmt::format("mov.u32 %x{}, 0;", turn));
    text_ += fmt::format("$around{}:\n", label);
    if (at_head) {
      line(fmt::format("setp.ge.s32 %q{}, %x{}, %x{};", q, turn, turns));
      line(fmt::format("@%q{} bra $out{};", q, label));
    }
    if (one_in(3))
      other();
    const unsigned without = one_in(8) ? predicates_++ : 0;
    if (without != 0) {
      line(fmt::format("setp.lt.u32 %q{}, {}, {};", without, any(), any()));
      line(fmt::format("@%q{} bra $next{};", without, label));
    }
    loop();
    if (one_in(5))
      loop();
    text_ += fmt::format("$next{}:\n", label);
    line(fmt::format("add.s32 %x{0}, %x{0}, 1;", turn));
    if (!at_head) {
      line(fmt::format("setp.lt.s32 %q{}, %x{}, %x{};", q, turn, turns));
      line(fmt::format("@%q{} bra $around{};", q, label));
    } else {
      line(fmt::format("bra $around{};", label));
    }
    text_ += fmt::format("$out{}:\n", label);
  }

  enum class Form { foot, head, between }; ///< where a loop is tested

  void loop() {
    const unsigned label = labels_++, q = predicates_++, before = predicates_++;
    const std::string counter = fmt::format("%c{}", label), far = fmt::format("%f{}", label);
    const std::string count = rounds();
    const int step = one_in(3) ? static_cast<int>(1 + below(4)) : 1;
    const bool down = one_in(3), exact = one_in(4);
    line(fmt::format("mul.lo.s32 {}, {}, {};", far, count, step));
    line(fmt::format("mov.u32 {}, {};", counter, down ? far : "0"));
    if (down)
      line(fmt::format("mov.u32 {}, 0;", far));
    const Form form = one_in(2) ? Form::foot : one_in(2) ? Form::head : Form::between;
    if (form == Form::foot || one_in(3)) {
      line(fmt::format("setp.lt.s32 %q{}, {}, 1;", before, count));
      line(fmt::format("@%q{} bra $past{};", before, label));
    }
    line("setp.lt.u32 %q0, %r0, %r1;");
    std::vector<Walker> walkers;
    for (unsigned i = 1 + below(3); i > 0; --i)
      walkers.push_back(walker(counter));
    const std::string sign = one_in(4) && !down ? "u" : "s";
    text_ += fmt::format("$loop{}:\n", label);
    const auto leave_here = [&] {
      line(fmt::format("setp.{}.{}32 %q{}, {}, {};",
                       exact  ? "eq"
                       : down ? "le"
                              : "ge",
                       sign, q, counter, far));
      line(fmt::format("@%q{} bra $past{};", q, label));
    };
    if (form == Form::head)
      leave_here();
    const unsigned loads = 1 + below(4), tested = form == Form::between ? below(loads) : loads;
    for (unsigned i = 0; i < loads; ++i) {
      const Walker &one = walkers[below(static_cast<unsigned>(walkers.size()))];
      if (one_in(4))
        arms(one);
      else
        load(one);
      if (one_in(2))
        other();
      if (i == tested)
        leave_here();
    }
    for (const Walker &one : walkers)
      if (!one.is_index)
        line(fmt::format("add.s64 {0}, {0}, {1};", one.pointer, one.step));
    line(fmt::format("add.s32 {0}, {0}, {1};", counter, down ? -step : step));
    if (form == Form::foot) {
      line(fmt::format("setp.{}.{}32 %q{}, {}, {};",
                       exact  ? "ne"
                       : down ? "gt"
                              : "lt",
                       sign, q, counter, far));
      line(fmt::format("@%q{} bra $loop{};", q, label));
    } else {
      if (one_in(3)) { // a second way back
        const unsigned back = predicates_++;
        line(fmt::format("setp.lt.u32 %q{}, {}, {};", back, any(), any()));
        line(fmt::format("@%q{} bra $loop{};", back, label));
        line(fmt::format("xor.b32 {}, {}, {};", any(), any(), any()));
      }
      line(fmt::format("bra $loop{};", label));
    }
    text_ += fmt::format("$past{}:\n", label);
  }

  std::mt19937_64 random_;
  std::string text_;
  unsigned labels_ = 0, fresh_ = 4, predicates_ = 1, walkers_ = 0;
};

const RandomProgram stage_program("stage", [](int argc, char **argv) {
  return random_versions(argc, argv, {"stage", "staged", {14, 85, 60, 1}, {}, "_shift"},
                         [](std::uint64_t seed) { return StageKernel(seed).text(); });
});

} // namespace
