// What a loop does to addresses, held against loops that are run here: what is said of an address,
// of the last round and of accesses that stay apart must hold in every round, for all that
// registers may hold where the conditions do; and the conditions must hold for what is usual.

#include "emulator/facts/loop_values.h"

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <map>

using namespace ptxasw::test;
using facts::Condition;
using facts::LoopValues;
using facts::Polynomial;

namespace {

std::unique_ptr<Module> parsed(const std::string &text) {
  auto module = parse(text, "test.ptx");
  if (!module)
    FAIL(format(module.error()));
  return std::move(*module);
}

const Function &only(const Module &module) { return module.functions.back(); }

constexpr std::size_t most_run = 64; ///< rounds of a loop that is run here

/// The loop at `$L` of a kernel with this body. %p to %s have 64 bits, %i to %n 32.
class LoopUnderTest {
public:
  explicit LoopUnderTest(const std::string &body)
      : module(parsed(".version 7.6\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n"
                      ".reg .b64 %p, %q, %r, %s, %a, %o;\n.reg .b32 %i, %j, %m, %n, %x, %c;\n"
                      ".reg .f32 %f;\n.reg .pred %t, %e;\n" +
                      body + "\n$end: ret;\n}\n")),
        cfg(*module, only(*module)), values(*module, only(*module), cfg, outermost(), atoms) {}

  /// The first instruction of that opcode.
  std::uint32_t find(std::string_view opcode) const {
    const auto &list = only(*module).instructions;
    for (std::uint32_t i = 0; i < list.size(); ++i)
      if (module->opcode(list[i]).text == opcode)
        return i;
    FAIL(std::string(opcode));
    return 0;
  }
  RegisterId reg(std::string_view name) const {
    const auto &list = only(*module).registers;
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const Register &one) { return one.name == name; });
    if (found == list.end())
      FAIL(std::string(name));
    return static_cast<RegisterId>(found - list.begin());
  }
  /// A multiple of what a register holds; one of 0 may have no register.
  Polynomial word(std::int64_t factor, std::string_view name) {
    return factor == 0 ? Polynomial() : Polynomial(factor) * atoms.word(reg(name));
  }
  Polynomial narrow(std::int64_t factor, std::string_view name) {
    return factor == 0 ? Polynomial() : Polynomial(factor) * atoms.narrow(reg(name));
  }
  std::uint32_t load() const { return find("ld.global.u32"); }
  std::uint32_t store() const { return find("st.global.u32"); }

  /// What a register holds where the loop is entered.
  void set(std::string_view name, std::uint64_t bits) { entry_[reg(name)] = bits; }
  std::uint64_t value(const Polynomial &sum) const {
    std::uint64_t result = 0;
    for (const auto &[product, factor] : sum.terms()) {
      std::uint64_t term = factor;
      for (const facts::AtomId one : product)
        term *= value(atoms[one]);
      result += term;
    }
    return result;
  }
  bool hold(const std::vector<Condition> &conditions) const {
    return std::all_of(conditions.begin(), conditions.end(),
                       [&](const Condition &one) { return holds(one); });
  }

  const std::unique_ptr<Module> module;
  const ControlFlowGraph cfg;
  facts::Atoms atoms;
  LoopValues values;

private:
  LoopId outermost() const {
    REQUIRE(cfg.well_formed());
    LoopId loop = 0;
    while (cfg.loops().at(loop).depth != 1)
      ++loop;
    return loop;
  }
  std::uint64_t value(const facts::Atom &atom) const {
    if (atom.kind == facts::Atom::Kind::rounds)
      return static_cast<std::uint64_t>(
          std::max<std::int64_t>(static_cast<std::int64_t>(value(atom.distance)), 0) / atom.step);
    const std::uint64_t bits = entry_.at(atom.leaf);
    return atom.kind == facts::Atom::Kind::word
               ? bits
               : static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(bits)});
  }
  bool holds(const Condition &condition) const {
    const auto tested = static_cast<std::int64_t>(value(condition.value));
    const auto way = static_cast<std::int64_t>(value(condition.way));
    switch (condition.kind) {
    case Condition::Kind::not_negative:
      return tested >= 0;
    case Condition::Kind::multiple:
      return tested % condition.of == 0;
    case Condition::Kind::zero:
      return tested == 0;
    case Condition::Kind::apart:
      return tested >= std::max<std::int64_t>(way, 0) + condition.stored ||
             tested <= std::min<std::int64_t>(way, 0) - condition.loaded;
    }
    return false;
  }

  std::map<RegisterId, std::uint64_t> entry_;
};

/// What a loop has behind its first instructions: %i counts up to %n.
constexpr const char *counted = "add.s32 %i, %i, 1;\nsetp.lt.s32 %t, %i, %n;\n@%t bra $L;\n";
/// The same, but who knows when it ends.
constexpr const char *uncounted = "setp.lt.s32 %t, %x, %n;\n@%t bra $L;\n";

/// A way to count: the loop goes on while %i and %n compare so, or until they do.
struct Counting {
  std::string test;
  bool is_unsigned = false;
  std::int32_t step = 1;
  bool at_top = false; ///< of the loop, before the load
  bool until = false;

  std::string body() const {
    const char type = is_unsigned ? 'u' : 's';
    const std::string compare = fmt::format("setp.{}.{}32 %t, %i, %n;\n", test, type);
    const std::string inside =
        fmt::format("mul.wide.{}32 %o, %i, 4;\nadd.s64 %a, %p, %o;\nld.global.u32 %x, [%a+8];\n"
                    "add.s32 %i, %i, {};\n",
                    type, step);
    return at_top
               ? fmt::format("$L:\n{}@{}%t bra $end;\n{}bra $L;", compare, until ? "" : "!", inside)
               : fmt::format("$L:\n{}{}@{}%t bra $L;", inside, compare, until ? "!" : "");
  }
  bool goes_on(std::int64_t i, std::int64_t n) const {
    const bool holds = test == "lt"   ? i < n
                       : test == "le" ? i <= n
                       : test == "gt" ? i > n
                       : test == "ge" ? i >= n
                       : test == "eq" ? i == n
                                      : i != n;
    return holds != until;
  }
  /// Returns true if the number of rounds is known where nothing wraps around.
  bool is_known() const {
    if (test == "eq" || test == "ne")
      return (test == "ne") != until && step != 3;
    return (test == "lt" || test == "le") == ((step > 0) != until);
  }
  std::int64_t widened(std::uint32_t bits) const {
    return is_unsigned ? std::int64_t{bits} : std::int64_t{static_cast<std::int32_t>(bits)};
  }
  /// The addresses that are loaded from, `most_run` of them at most.
  std::vector<std::uint64_t> run(std::uint64_t p, std::uint32_t i, std::uint32_t n) const {
    std::vector<std::uint64_t> result;
    while (result.size() < most_run && (!at_top || goes_on(widened(i), widened(n)))) {
      result.push_back(p + static_cast<std::uint64_t>(4 * widened(i)) + 8);
      i += static_cast<std::uint32_t>(step);
      if (!at_top && !goes_on(widened(i), widened(n)))
        break;
    }
    return result;
  }
};

void check_counting(const Counting &counting) {
  const std::string body = counting.body();
  INFO(body);
  LoopUnderTest loop(body);
  std::vector<Condition> of_address, of_last;
  const auto address = loop.values.address(loop.load(), of_address);
  const auto last = loop.values.last_round(loop.load(), of_last);
  CHECK(address.has_value() == counting.is_known());
  CHECK(last.has_value() == counting.is_known());
  if (!address || !last)
    return;
  constexpr std::uint32_t edges[] = {0x80000000, 0x80000001, 0x80000006, 0xfffffff8,
                                     0xffffffff, 0,          1,          8,
                                     12,         0x7ffffff8, 0x7ffffffe, 0x7fffffff};
  constexpr std::uint64_t base = 0xffffffffffffffe0; // addresses come around the end
  unsigned wrong = 0, known = 0;
  loop.set("%p", base);
  for (const std::uint32_t i : edges)
    for (const std::uint32_t n : edges) {
      loop.set("%i", i);
      loop.set("%n", n);
      const auto seen = counting.run(base, i, n);
      if (loop.hold(of_address))
        for (std::size_t k = 0; k < seen.size(); ++k)
          wrong += seen[k] != loop.value(address->first) + k * loop.value(address->step);
      if (!loop.hold(of_last))
        continue;
      const std::uint64_t said = loop.value(*last) + 1;
      wrong += !seen.empty() && (seen.size() < most_run ? said != seen.size() : said < most_run);
      known += loop.hold(of_address) && seen.size() > 1 && seen.size() < most_run;
    }
  CHECK(wrong == 0);
  CHECK(known > 0);
}

/// How an access goes on, and how wide it is.
struct Walk {
  std::int64_t step = 0;
  unsigned bytes = 4;
};

bool touch(std::uint64_t a, unsigned a_bytes, std::uint64_t b, unsigned b_bytes) {
  for (unsigned i = 0; i < a_bytes; ++i)
    for (unsigned j = 0; j < b_bytes; ++j)
      if (a + i == b + j)
        return true;
  return false;
}

void check_apart(const Walk &load, const Walk &store, unsigned ago) {
  const auto type = [](unsigned bytes) {
    return bytes == 8 ? ".v2.u32" : bytes == 4 ? ".u32" : ".u8";
  };
  const std::string read = std::string("ld.global") + type(load.bytes);
  const std::string written = std::string("st.global") + type(store.bytes);
  const std::string body =
      fmt::format("$L:\n{} {}, [%p];\n{} [%q], {};\nadd.s64 %p, %p, {};\nadd.s64 %q, %q, {};\n{}",
                  read, load.bytes == 8 ? "{%x, %c}" : "%x", written,
                  store.bytes == 8 ? "{%m, %j}" : "%m", load.step, store.step, counted);
  INFO(body, ago);
  LoopUnderTest loop(body);
  const auto conditions = loop.values.apart(loop.find(read), loop.find(written), ago);
  REQUIRE(conditions);
  constexpr std::uint64_t p = 0x10;
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  unsigned wrong = 0, below = 0, above = 0;
  loop.set("%p", p);
  loop.set("%i", 0);
  for (const std::uint32_t rounds : {1U, 2U, 5U, 8U})
    for (const std::uint64_t around : {std::uint64_t{0}, half})
      for (std::int64_t distance = -200; distance <= 200; ++distance) {
        const std::uint64_t q = p + around + static_cast<std::uint64_t>(distance);
        loop.set("%n", rounds);
        loop.set("%q", q);
        if (!loop.hold(*conditions))
          continue;
        (distance < 0 ? below : above) += around == 0;
        for (std::uint64_t k = 0; k < rounds; ++k)
          wrong += touch(p + (k - ago) * static_cast<std::uint64_t>(load.step), load.bytes,
                         q + k * static_cast<std::uint64_t>(store.step), store.bytes);
      }
  CHECK(wrong == 0);
  CHECK(below > 0);
  CHECK(above > 0);
}

} // namespace

TEST_CASE("addresses and rounds are what a loop that runs has, however it counts") {
  for (const char *test : {"lt", "le", "gt", "ge", "eq", "ne"})
    for (const bool is_unsigned : {false, true})
      for (const std::int32_t step : {1, -1, 3, 4, -4})
        for (const bool at_top : {false, true})
          for (const bool until : {false, true})
            check_counting({test, is_unsigned, step, at_top, until});
}

TEST_CASE("more rounds than are looked at are not allowed") {
  LoopUnderTest loop(Counting{"lt"}.body());
  std::vector<Condition> conditions;
  REQUIRE(loop.values.last_round(loop.load(), conditions));
  loop.set("%i", 0);
  loop.set("%n", facts::most_rounds + 1);
  CHECK(loop.hold(conditions));
  loop.set("%n", facts::most_rounds + 2);
  CHECK_FALSE(loop.hold(conditions));
}

TEST_CASE("an index that another register counts for is tested up to the last round") {
  for (const int step : {5, -5, 0x40000000}) {
    INFO(step);
    LoopUnderTest loop(fmt::format("$L:\nmad.wide.s32 %a, %j, 4, %p;\nld.global.u32 %x, [%a];\n"
                                   "add.s32 %j, %j, {};\n{}",
                                   step, counted));
    std::vector<Condition> conditions;
    const auto address = loop.values.address(loop.load(), conditions);
    REQUIRE(address);
    unsigned wrong = 0, known = 0;
    loop.set("%p", 64);
    loop.set("%i", 0);
    for (const std::int32_t first : {INT32_MIN, INT32_MIN + 9, INT32_MIN + 10, -1, 0, 0x3fffffff,
                                     0x40000000, INT32_MAX - 10, INT32_MAX - 9, INT32_MAX})
      for (const unsigned rounds : {1U, 2U, 3U, 4U}) {
        loop.set("%j", static_cast<std::uint64_t>(first));
        loop.set("%n", rounds);
        bool right = true, wraps = false;
        std::uint32_t j = static_cast<std::uint32_t>(first);
        for (unsigned k = 0; k < rounds; ++k, j += static_cast<std::uint32_t>(step)) {
          const auto bits = static_cast<std::int32_t>(j);
          wraps |= bits != std::int64_t{first} + std::int64_t{step} * k;
          right &= static_cast<std::uint64_t>(64 + std::int64_t{4} * bits) ==
                   loop.value(address->first) + k * loop.value(address->step);
        }
        wrong += loop.hold(conditions) == wraps || (!wraps && !right);
        known += wraps;
      }
    CHECK(wrong == 0);
    CHECK(known > 0);
  }
}

TEST_CASE("an address is told in what registers hold where the loop is entered") {
  // Behind `$L:`; what it is in the first round, and what is added in each, of %p and 4 * %i and
  // %s.
  struct Told {
    std::string body;
    std::int64_t p, i, s, number, step_s, step;
  };
  for (const Told &told : std::initializer_list<Told>{
           {"ld.global.u32 %x, [%p+12];", 1, 0, 0, 12, 0, 0},
           {"ld.global.u32 %x, [%p-4];\nadd.s64 %p, %p, 8;", 1, 0, 0, -4, 0, 8},
           {"add.s64 %p, %p, 8;\nld.global.u32 %x, [%p-4];", 1, 0, 0, 4, 0, 8},
           {"ld.global.u32 %x, [%p];\nsub.s64 %p, %p, %s;", 1, 0, 0, 0, -1, 0},
           {"sub.u64 %p, %p, %s;\nld.global.u32 %x, [%p];", 1, 0, -1, 0, -1, 0},
           {"mov.u64 %a, %p;\nld.global.u32 %x, [%a];\nadd.s64 %p, 16, %p;", 1, 0, 0, 0, 0, 16},
           {"mad.lo.s64 %a, %s, 3, %p;\nld.global.u32 %x, [%a];\nadd.s64 %s, %s, 5;", 1, 0, 3, 0, 0,
            15},
           {"shl.b64 %o, %s, 3;\nsub.s64 %a, %p, %o;\nld.global.u32 %x, [%a];\nadd.s64 %s, %s, 1;",
            1, 0, -8, 0, 0, -8},
           {"mul.wide.s32 %o, %i, 4;\nadd.s64 %a, %p, %o;\nld.global.u32 %x, [%a];", 1, 1, 0, 0, 0,
            4},
           {"mad.wide.s32 %a, %i, 4, %p;\nld.global.u32 %x, [%a];", 1, 1, 0, 0, 0, 4},
           {"add.s32 %j, %i, 0xffffffff;\nmad.wide.s32 %a, %j, 4, %p;\nld.global.u32 %x, [%a];", 1,
            1, 0, -4, 0, 4},
           {"shl.b32 %j, %i, 2;\ncvt.s64.s32 %o, %j;\nadd.s64 %a, %p, %o;\nld.global.u32 %x, [%a];",
            1, 1, 0, 0, 0, 4},
       }) {
    INFO(told.body);
    LoopUnderTest loop(fmt::format("$L:\n{}\n{}", told.body, counted));
    std::vector<Condition> conditions;
    const auto address = loop.values.address(loop.load(), conditions);
    REQUIRE(address);
    CHECK(address->first == loop.word(told.p, "%p") + loop.narrow(4 * told.i, "%i") +
                                loop.word(told.s, "%s") + Polynomial(told.number));
    CHECK(address->step == loop.word(told.step_s, "%s") + Polynomial(told.step));
    CHECK(conditions.empty() == (told.i == 0)); // only what is widened is to be tested
  }
}

TEST_CASE("an address that is not a progression is refused") {
  for (const std::string &body : std::initializer_list<std::string>{
           "ld.global.u32 %x, [%p];\nadd.s64 %p, %p, 4;\nadd.s64 %p, %p, 4;",
           "ld.global.u32 %x, [%p];\n@%e add.s64 %p, %p, 4;",
           "ld.global.u32 %x, [%p];\n@%e bra $M;\nadd.s64 %p, %p, 4;\n$M:",
           "ld.global.u32 %x, [%p];\n$I:\nadd.s64 %p, %p, 4;\nadd.s32 %j, %j, -1;\n"
           "setp.gt.s32 %e, %j, 0;\n@%e bra $I;",
           "ld.global.u32 %x, [%p];\nadd.s64 %p, %p, %p;",
           "ld.global.u32 %x, [%p];\nmul.lo.s64 %p, %p, 3;",
           "ld.global.u32 %x, [%p];\nsub.s64 %p, %s, %p;",
           "ld.global.u32 %x, [%p];\nadd.s64 %p, %p, %s;\nadd.s64 %s, %s, 8;",
           "ld.global.u32 %x, [%p];\nmul.wide.s32 %s, %i, 4;\nadd.s64 %p, %p, %s;",
           "ld.global.u32 %x, [%p];\nld.global.u64 %p, [%p+8];",
           "ld.global.u32 %x, [%p];\nxor.b64 %p, %p, 4;",
           "mad.lo.s64 %a, %s, %s, %p;\nld.global.u32 %x, [%a];\nadd.s64 %s, %s, 5;",
           "mul.hi.s64 %o, %s, 4;\nadd.s64 %a, %p, %o;\nld.global.u32 %x, [%a];",
           "shl.b64 %o, %s, 64;\nadd.s64 %a, %p, %o;\nld.global.u32 %x, [%a];",
           "shl.b64 %o, %s, %j;\nadd.s64 %a, %p, %o;\nld.global.u32 %x, [%a];",
           "add.sat.s32 %j, %i, 1;\nmad.wide.s32 %a, %j, 4, %p;\nld.global.u32 %x, [%a];",
           "ld.global.u32 %x, [%c];", // 32 bits
       }) {
    INFO(body);
    LoopUnderTest loop(fmt::format("$L:\n{}\n{}", body, counted));
    std::vector<Condition> conditions;
    CHECK_FALSE(loop.values.address(loop.load(), conditions));
  }
}

TEST_CASE("what is widened needs the number of rounds, a pointer does not") {
  const char *body = "ld.global.u32 %x, [%p];\nmad.wide.s32 %a, %i, 4, %q;\nst.global.u32 [%a], "
                     "%x;\nadd.s64 %p, %p, 4;\nadd.s32 %i, %i, 1;";
  for (const auto &one : std::initializer_list<std::pair<std::string, bool>>{
           {"setp.lt.s32 %t, %i, %n;", true},
           {"setp.gt.s32 %t, %n, %i;", true},
           {"setp.ge.s32 %e, %i, %n;\nnot.pred %t, %e;", true},
           {"setp.lt.s32 %e, %i, %n;\nmov.pred %t, %e;", true},
           {"setp.lt.s32 %t, %x, %n;", false},                       // by what is loaded
           {"add.s32 %n, %n, 1;\nsetp.lt.s32 %t, %i, %n;", false},   // to what moves
           {"add.s32 %j, %j, %c;\nsetp.lt.s32 %t, %j, %n;", false},  // by who knows what
           {"setp.gt.s32 %t, %i, %n;", false},                       // only around the end
           {"setp.lt.and.s32 %t, %i, %n, %e;", false},               // and something else
           {"setp.lt.s32 %e, %i, %n;\nand.pred %t, %e, %e;", false}, // the same
           {"@%e setp.lt.s32 %t, %i, %n;", false},                   // maybe of a round before
           {"setp.lt.s64 %t, %p, %s;", false},                       // 64 bits
           {"setp.lt.f32 %t, %f, 0f00000000;", false},               // no counter
       }) {
    const std::string &end = one.first;
    const bool known = one.second;
    INFO(end);
    LoopUnderTest loop(fmt::format("$L:\n{}\n{}\n@%t bra $L;", body, end));
    std::vector<Condition> conditions;
    CHECK(loop.values.address(loop.load(), conditions));
    CHECK(conditions.empty());
    CHECK(loop.values.address(loop.store(), conditions).has_value() == known);
    CHECK(loop.values.last_round(loop.load(), conditions).has_value() == known);
  }
}

TEST_CASE("where a loop can be left in several places it may be earlier, never later") {
  // An exit that nobody can count changes nothing; one that some rounds do not pass is none.
  const std::string load = "ld.global.u32 %x, [%p];\nadd.s64 %p, %p, 4;\n";
  const std::string other = "setp.eq.s32 %e, %x, 7;\n@%e bra $end;\n";
  for (const std::string &body : {load + counted, other + load + counted, load + other + counted}) {
    INFO(body);
    std::vector<Condition> conditions;
    LoopUnderTest loop("$L:\n" + body);
    const auto last = loop.values.last_round(loop.load(), conditions);
    REQUIRE(last);
    loop.set("%i", 3);
    for (const std::uint64_t rounds : {1, 2, 50}) {
      loop.set("%n", 3 + rounds);
      CHECK(loop.hold(conditions));
      CHECK(loop.value(*last) == rounds - 1);
    }
    loop.set("%i", static_cast<std::uint64_t>(INT32_MIN));
    loop.set("%n", static_cast<std::uint64_t>(INT32_MAX));
    CHECK_FALSE(loop.hold(conditions));
  }
  std::vector<Condition> ignored;
  LoopUnderTest skipped("$L:\n" + load +
                        "add.s32 %i, %i, 1;\nsetp.ge.s32 %t, %i, %n;\n@%e bra $M;\n"
                        "@%t bra $end;\n$M:\nbra $L;");
  CHECK_FALSE(skipped.values.last_round(skipped.load(), ignored));

  // Two that count: %i up to %n before the load, %j down to %m behind it.
  LoopUnderTest both("$L:\nsetp.ge.s32 %t, %i, %n;\n@%t bra $end;\n" + load +
                     "add.s32 %i, %i, 2;\nadd.s32 %j, %j, -1;\nsetp.gt.s32 %e, %j, %m;\n"
                     "@%e bra $L;");
  std::vector<Condition> conditions;
  const auto last = both.values.last_round(both.load(), conditions);
  REQUIRE(last);
  unsigned wrong = 0, exact = 0;
  for (int n = 1; n < 9; ++n)
    for (int m = -1; m < 9; ++m) {
      std::int64_t rounds = 0;
      for (int i = 0, j = 6; i < n;) {
        ++rounds;
        i += 2;
        if (--j <= m)
          break;
      }
      both.set("%i", 0);
      both.set("%j", 6);
      both.set("%n", static_cast<std::uint64_t>(n));
      both.set("%m", static_cast<std::uint64_t>(m));
      REQUIRE(both.hold(conditions));
      const auto said = static_cast<std::int64_t>(both.value(*last)) + 1;
      wrong += said < rounds;
      exact += said == rounds;
    }
  CHECK(wrong == 0);
  CHECK(exact > 0);
}

TEST_CASE("what runs in each round, and before what") {
  LoopUnderTest loop("$L:\nld.global.u32 %x, [%p];\n@%e st.global.u32 [%q], %x;\n@%e bra $M;\n"
                     "ld.global.u64 %a, [%q];\n$M:\nld.global.f32 %f, [%p];\n" +
                     std::string(counted));
  const std::uint32_t load = loop.load(), guarded = loop.store();
  const std::uint32_t aside = loop.find("ld.global.u64"), behind = loop.find("ld.global.f32");
  CHECK(loop.values.runs_in_each_round(load));
  CHECK(loop.values.runs_in_each_round(behind));
  CHECK_FALSE(loop.values.runs_in_each_round(guarded));
  CHECK_FALSE(loop.values.runs_in_each_round(aside));
  CHECK(loop.values.precedes(load, guarded));
  CHECK(loop.values.precedes(load, aside));
  CHECK(loop.values.precedes(load, behind));
  CHECK_FALSE(loop.values.precedes(guarded, load));
  CHECK_FALSE(loop.values.precedes(load, load));
  CHECK_FALSE(loop.values.precedes(aside, behind));
  CHECK_FALSE(loop.values.precedes(behind, aside));
}

TEST_CASE("an access meets a load's place of this round or of rounds before") {
  const auto meets = [](const std::string &body, unsigned ago) {
    LoopUnderTest loop(body);
    return loop.values.meets(loop.load(), loop.store(), ago);
  };
  const auto walk = [](std::string_view before, std::string_view store, std::string_view step) {
    return fmt::format("{}\n$L:\nld.global.u32 %x, [%p];\nst.global.u32 [{}], %x;\nadd.s64 %p, %p, "
                       "4;\nadd.s64 %q, %q, {};\n{}",
                       before, store, step, uncounted);
  };
  const std::vector<Condition> none;
  CHECK(meets(walk("", "%p", "4"), 0) == none);
  CHECK(meets(walk("", "%p-4", "4"), 1) == none);
  CHECK(meets(walk("", "%p-8", "4"), 2) == none);
  CHECK_FALSE(meets(walk("", "%p", "4"), 1));
  CHECK_FALSE(meets(walk("", "%p+4", "4"), 1));
  CHECK_FALSE(meets(walk("", "%p-8", "4"), 1));
  // Two registers: what seems to be so is tested; what does not is not the same place.
  CHECK_FALSE(meets(walk("", "%q", "4"), 0));
  CHECK_FALSE(meets(walk("add.s64 %q, %p, 4;", "%q", "4"), 0));
  CHECK_FALSE(meets(walk("add.s64 %q, %p, 4;", "%q-4", "8"), 0));
  CHECK_FALSE(meets(walk("", "%a", "4"), 0));
  LoopUnderTest loop(walk("add.s64 %q, %p, 4;", "%q-8", "4"));
  const auto conditions = loop.values.meets(loop.load(), loop.store(), 1);
  REQUIRE(conditions);
  REQUIRE(conditions->size() == 1);
  CHECK(conditions->front().kind == Condition::Kind::zero);
  loop.set("%p", 100);
  loop.set("%q", 104);
  CHECK(loop.hold(*conditions));
  loop.set("%q", 100);
  CHECK_FALSE(loop.hold(*conditions));
}

TEST_CASE("what stays apart under the conditions is not touched in any round") {
  for (const unsigned ago : {0U, 1U})
    for (const std::int64_t load : {0, 4, -8})
      for (const std::int64_t store : {0, 4, 8, -4})
        for (const auto &[read, written] :
             std::initializer_list<std::pair<unsigned, unsigned>>{{4, 4}, {8, 1}, {1, 8}})
          check_apart({load, read}, {store, written}, ago);
}

TEST_CASE("two places at a known distance need no test, or there is none") {
  const auto apart = [](int distance, const char *store, unsigned ago = 0) {
    LoopUnderTest loop(fmt::format("$L:\nld.global.u32 %x, [%p];\n{} [%p+{}], %c;\nadd.s64 %p, %p, "
                                   "%s;\n{}",
                                   store, distance, uncounted));
    return loop.values.apart(loop.load(), loop.find(store), ago);
  };
  const std::vector<Condition> none;
  for (int distance = -6; distance <= 6; ++distance) {
    INFO(distance);
    const bool words = distance <= -4 || distance >= 4, byte = distance < 0 || distance >= 4;
    CHECK(apart(distance, "st.global.u32").has_value() == words);
    CHECK(apart(distance, "st.global.u8").has_value() == byte);
    if (words)
      CHECK(apart(distance, "st.global.u32") == none);
  }
  // A round before the load was %s away, which is to be tested.
  const auto before = apart(0, "st.global.u32", 1);
  REQUIRE(before);
  CHECK(before->size() == 1);

  // Where one goes on and the other does not, the number of rounds must be known.
  const auto moving = [](const char *end) {
    LoopUnderTest loop(fmt::format("$L:\nld.global.u32 %x, [%p];\nst.global.u32 [%q], %c;\nadd.s64 "
                                   "%q, %q, 4;\n{}",
                                   end));
    return loop.values.apart(loop.load(), loop.store()).has_value();
  };
  CHECK(moving(counted));
  CHECK_FALSE(moving(uncounted));
}
