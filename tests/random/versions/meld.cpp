// random_meld [--kernels N] [--seed S] [-v]
//
// Random kernels with a branch whose arms are alike: the second arm is the first with instructions
// changed, left out, added and renamed. What both arms do is melded and must compute the same on
// the warp emulator; what is not proved would be withdrawn, and is counted. Exit code 1: one is
// wrong; it is printed.

#include "tests/random/versions.h"

#include <fmt/core.h>
#include <random>
#include <string>
#include <vector>

using namespace ptxasw::test;

namespace {

constexpr unsigned registers = 10, predicates = 4, words = 16;

/// A statement: an instruction's text with places for registers and numbers, or a branch or a loop
/// with others in it.
struct Statement {
  enum class Kind { compute, load, store, compare, guarded, choose, loop } kind = Kind::compute;
  unsigned opcode = 0, to = 0, a = 0, b = 0;
  int number = 0;
  bool has_number = false;
  std::vector<Statement> inside, otherwise;
};

using Code = std::vector<Statement>;

class MeldKernel {
public:
  explicit MeldKernel(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    const Code when = code(3 + below(8), 2);
    const Code otherwise = below(8) == 0 ? code(3 + below(8), 2) : variation(when);
    text_ = ".version 7.8\n.target sm_70\n.address_size 64\n"
            ".visible .entry k(.param .u64 a, .param .u64 out, .param .u32 n)\n{\n"
            "\t.reg .b64 %pa, %po, %e;\n\t.reg .b32 %n, %i, %t, %x<4>, %round, %r<10>;\n"
            "\t.reg .b32 %count<64>;\n\t.reg .pred %p, %again, %q<4>, %l<64>;\n";
    line("ld.param.u64 %pa, [a];");
    line("ld.param.u64 %po, [out];");
    line("ld.param.u32 %n, [n];");
    line("mov.u32 %t, %tid.x;");
    line("mov.u32 %x0, %ctaid.x;");
    line("mov.u32 %x1, %ntid.x;");
    line("mad.lo.u32 %i, %x0, %x1, %t;");
    line("mul.wide.u32 %e, %i, 64;");
    line("add.s64 %pa, %pa, %e;");
    line("add.s64 %po, %po, %e;");
    for (unsigned i = 0; i < registers; ++i)
      line(below(2) == 0 ? fmt::format("ld.global.u32 %r{}, [%pa+{}];", i, 4 * below(words))
                         : fmt::format("add.u32 %r{}, %t, {};", i, below(100)));
    for (unsigned i = 0; i < predicates; ++i)
      line(fmt::format("setp.lt.u32 %q{}, %r{}, %r{};", i, below(registers), below(registers)));
    const bool repeats = below(3) == 0;
    if (repeats) {
      line("mov.u32 %round, 0;");
      text_ += "$again:\n";
    }
    branch();
    const bool negated = below(2) == 0;
    line(fmt::format("@{}%p bra $when;", negated ? "!" : ""));
    put(negated ? when : otherwise);
    line("bra $end;");
    text_ += "$when:\n";
    put(negated ? otherwise : when);
    text_ += "$end:\n";
    if (repeats) {
      line("add.u32 %round, %round, 1;");
      line("setp.lt.u32 %again, %round, 3;");
      line("@%again bra $again;");
    }
    for (unsigned i = 0; i < registers; ++i)
      if (below(3) != 0)
        line(fmt::format("st.global.u32 [%po+{}], %r{};", 4 * i, i));
    for (unsigned i = 0; i < predicates; ++i)
      if (below(2) == 0)
        line(fmt::format("@%q{} st.global.u32 [%po+{}], %r{};", i, 4 * (registers + i), i));
    line("ret;");
    return text_ + "}\n";
  }

private:
  unsigned below(unsigned limit) {
    return static_cast<unsigned>(random_() % limit); // the same numbers with every library
  }
  void line(const std::string &text) { text_ += "\t" + text + "\n"; }

  void branch() {
    switch (below(4)) {
    case 0:
      line("and.b32 %x2, %t, 1;");
      line("setp.eq.u32 %p, %x2, 0;");
      break;
    case 1:
      line("setp.lt.u32 %p, %t, 5;");
      break;
    case 2:
      line(fmt::format("and.b32 %x2, %r{}, 1;", below(registers)));
      line("setp.ne.u32 %p, %x2, 0;");
      break;
    default:
      line(fmt::format("add.u32 %x2, %t, %r{};", below(registers)));
      line("and.b32 %x2, %x2, 3;");
      line("setp.gt.u32 %p, %x2, 1;");
    }
  }

  Statement statement(unsigned depth) {
    Statement one;
    const unsigned what = below(20);
    one.kind = what < 9                  ? Statement::Kind::compute
               : what < 12               ? Statement::Kind::load
               : what < 15               ? Statement::Kind::store
               : what < 16               ? Statement::Kind::compare
               : what < 17 || depth == 0 ? Statement::Kind::guarded
               : what < 19               ? Statement::Kind::choose
                                         : Statement::Kind::loop;
    one.opcode = below(6);
    one.to = below(registers);
    one.a = below(registers);
    one.b = below(registers);
    one.number = static_cast<int>(below(30)) - 5;
    one.has_number = below(3) == 0;
    if (one.kind == Statement::Kind::choose || one.kind == Statement::Kind::loop)
      one.inside = code(1 + below(4), depth - 1);
    if (one.kind == Statement::Kind::choose && below(2) == 0)
      one.otherwise = code(1 + below(3), depth - 1);
    return one;
  }

  Code code(unsigned length, unsigned depth) {
    Code result;
    for (unsigned i = 0; i < length; ++i)
      result.push_back(statement(depth));
    return result;
  }

  Code variation(const Code &code) {
    Code result;
    for (Statement one : code) {
      switch (below(16)) {
      case 0:
        continue;
      case 1:
        one = statement(1);
        break;
      case 2:
        result.push_back(statement(1));
        break;
      case 3:
        one.to = below(registers);
        break;
      case 4:
        one.a = below(registers);
        break;
      case 5:
        one.number = static_cast<int>(below(30)) - 5;
        break;
      case 6:
        one.has_number = !one.has_number;
        break;
      case 7:
        std::swap(one.a, one.b);
        break;
      default:
        break;
      }
      if (below(3) == 0)
        one.inside = one.inside.empty() ? one.inside : variation(one.inside);
      result.push_back(std::move(one));
    }
    return result;
  }

  std::string second(const Statement &one) const {
    return one.has_number ? std::to_string(one.number) : fmt::format("%r{}", one.b);
  }

  std::string computed(const Statement &one) const {
    static constexpr const char *opcodes[] = {"add.s32", "sub.s32",    "xor.b32",
                                              "min.s32", "mul.lo.s32", "shl.b32"};
    return fmt::format("{} %r{}, %r{}, {};", opcodes[one.opcode], one.to, one.a,
                       one.opcode == 5 ? std::to_string(one.b) : second(one));
  }

  void put(const Code &code) {
    for (const Statement &one : code)
      put(one);
  }

  void put(const Statement &one) {
    const unsigned word = (one.a + one.b) % words, predicate = one.b % predicates;
    switch (one.kind) {
    case Statement::Kind::compute:
      line(computed(one));
      break;
    case Statement::Kind::load:
      line(fmt::format("ld.global.u32 %r{}, [{}+{}];", one.to, one.opcode == 0 ? "%po" : "%pa",
                       4 * word));
      break;
    case Statement::Kind::store:
      line(fmt::format("st.global.u32 [%po+{}], {};", 4 * word, second(one)));
      break;
    case Statement::Kind::compare:
      line(fmt::format("setp.{}.s32 %q{}, %r{}, {};", one.opcode < 3 ? "lt" : "ne",
                       one.to % predicates, one.a, second(one)));
      break;
    case Statement::Kind::guarded:
      line(fmt::format("@{}%q{} {}", one.opcode < 3 ? "!" : "", predicate, computed(one)));
      break;
    case Statement::Kind::choose: {
      const unsigned label = labels_++;
      line(fmt::format("@%q{} bra $other{};", predicate, label));
      put(one.inside);
      if (!one.otherwise.empty())
        line(fmt::format("bra $after{};", label));
      text_ += fmt::format("$other{}:\n", label);
      put(one.otherwise);
      if (!one.otherwise.empty())
        text_ += fmt::format("$after{}:\n", label);
      break;
    }
    case Statement::Kind::loop: {
      const unsigned label = labels_++, counter = label % 64;
      line(fmt::format("mov.u32 %count{}, 0;", counter));
      text_ += fmt::format("$loop{}:\n", label);
      put(one.inside);
      line(fmt::format("add.u32 %count{0}, %count{0}, 1;", counter));
      line(fmt::format("setp.lt.u32 %l{0}, %count{0}, {1};", counter, 1 + one.opcode % 3));
      line(fmt::format("@%l{} bra $loop{};", counter, label));
      break;
    }
    }
  }

  std::mt19937_64 random_;
  std::string text_;
  unsigned labels_ = 0;
};

const RandomProgram meld_program("meld", [](int argc, char **argv) {
  return random_versions(argc, argv, {"meld", "melded", {75, 85, 50, 2}},
                         [](std::uint64_t seed) { return MeldKernel(seed).text(); });
});

} // namespace
