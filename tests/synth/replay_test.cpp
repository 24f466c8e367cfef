// What the added code of a re-tiled kernel comes to: where a run of it ends and what its registers
// hold then. A line that is changed, left out or moved must stop the run or change what is held.

#include "synth/coarsen/coarsen.h"
#include "synth/coarsen/replay.h"
#include "tests/synth/versions.h"

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <set>

namespace replay_test {

using namespace ptxasw::test;

namespace {

/// In how many copies a predicate holds.
enum class Outcome : std::uint8_t { none, some, all };

/// What a run takes for granted.
struct Assumed {
  std::optional<unsigned> inside = {}; ///< so many of the sibling's blocks lie within the grid
  std::optional<bool> first = {};      ///< this is the first thread along x
  std::optional<Outcome> outcome = {}; ///< of %p0 and %p1
};

/// A kernel with added code. %a to %e, %t, %u and %v are the added code's own; %k0 and %k1 are
/// copies' and %p0 and %p1 their predicates, %h and %ph are shared, %o and %po their stand-ins, %w
/// is wide.
class AddedCode {
public:
  explicit AddedCode(const std::string &body, CoarsenForm form = {.copies = 2})
      : form_(form),
        module_(parsed(".version 7.6\n.target sm_70\n.address_size 64\n"
                       ".visible .entry k(.param .u32 n, .param .u32 grid)\n{\n"
                       ".reg .b32 %a, %b, %c, %d, %e, %k0, %k1, %h, %o, %w;\n.reg .b64 %l;\n"
                       ".reg .pred %t, %u, %v, %p0, %p1, %ph, %po;\n" +
                       body + "\n}\n")) {
    const std::set<std::string_view> theirs{"%k0", "%k1", "%p0", "%p1", "%h",
                                            "%o",  "%ph", "%po", "%w"};
    for (const Register &one : only(*module_).registers)
      is_control_.push_back(!theirs.contains(one.name));
    replay_.emplace(pool, *module_, only(*module_), is_control_);
  }

  ExprPool pool;
  Expr number(std::uint32_t value) { return pool.constant(32, value); }
  Expr special(std::string_view name) const { return replay_->special(name); }
  Expr scaled(Expr value, std::uint32_t scale, std::uint32_t more) {
    return pool.add(pool.mul(value, number(scale)), number(more));
  }
  /// scale * what tells the copies apart + more
  Expr index(std::uint32_t scale, std::uint32_t more) {
    return scaled(special(form_.index()), scale, more);
  }
  Expr extent() const { return replay_->parameter(1); }
  Expr flat() {
    return pool.add(pool.mul(special("%ctaid.x"), special("%ntid.x")), special("%tid.x"));
  }
  Expr points() { return pool.mul(special("%nctaid.x"), special("%ntid.x")); }
  Expr is_first() { return pool.eq(flat(), number(0)); }
  /// What a register holds that the added code does not write; if the text has none, a predicate.
  Expr of(std::string_view name) {
    for (RegisterId i = 0; i < only(*module_).registers.size(); ++i)
      if (only(*module_).registers[i].name == name)
        return replay_->held(i);
    return pool.uninterpreted(name, 1, {});
  }
  Expr in_any() { return pool.bit_or(of("%p0"), of("%p1")); }

  /// Where a run from the beginning ends: "exit" or the instruction; "never".
  std::string run(const Assumed &assumed = {}) {
    Known known(pool);
    for (unsigned k = 0; assumed.inside && k < form_.copies; ++k)
      known.assume(pool.ult(index(form_.copies, k), extent()), k < *assumed.inside);
    if (assumed.first)
      known.assume(is_first(), *assumed.first);
    if (assumed.outcome) {
      known.assume(pool.bit_and(of("%p0"), of("%p1")), assumed.outcome == Outcome::all);
      known.assume(in_any(), assumed.outcome != Outcome::none);
    }
    const auto end = replay_->run(0, state_, known);
    if (!end)
      return "never";
    return end->exit ? "exit" : std::string(module_->text(instruction(end->position).span));
  }
  std::string skip(std::uint32_t from) const {
    const auto end = replay_->skip(from);
    if (!end)
      return "never";
    return *end == only(*module_).instructions.size()
               ? "end"
               : std::string(module_->text(instruction(*end).span));
  }
  RegisterId reg(std::string_view name) const {
    const auto &list = only(*module_).registers;
    for (RegisterId i = 0; i < list.size(); ++i)
      if (list[i].name == name)
        return i;
    FAIL(std::string(name));
    return 0;
  }
  /// What a register holds at the beginning, if the text has it.
  void know(std::string_view name, Expr value) {
    for (RegisterId i = 0; i < only(*module_).registers.size(); ++i)
      if (only(*module_).registers[i].name == name)
        state_[i] = value;
  }
  /// What a register holds; null if that is not known.
  Expr held(std::string_view name) const {
    const auto found = state_.find(reg(name));
    return found == state_.end() ? nullptr : found->second;
  }

private:
  const Instruction &instruction(std::uint32_t position) const {
    return only(*module_).instructions.at(position);
  }

  const CoarsenForm form_;
  std::unique_ptr<Module> module_;
  std::vector<bool> is_control_;
  std::optional<Replay> replay_;
  ReplayState state_;
};

/// A text with something in it replaced, which must be there.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

/// Which blocks lie inside: copy 1 is left out where its block does not.
const std::string dispatch = "ld.param.u32 %a, [grid];\n"
                             "mov.u32 %b, %ctaid.x;\n"
                             "mul.lo.u32 %c, %b, 2;\n"
                             "add.u32 %d, %c, 1;\n"
                             "setp.ge.u32 %t, %d, %a;\n"
                             "@%t bra $alone;\n"
                             "add.u32 %k1, %k1, 1;\n"
                             "$alone:\n"
                             "add.u32 %k0, %k0, 1;\n"
                             "ret;";

/// The thread along x, of four points that begin two before; the first is the last.
const std::string points = "mov.u32 %a, %ctaid.x;\nmov.u32 %b, %ntid.x;\nmov.u32 %c, %tid.x;\n"
                           "mov.u32 %d, %nctaid.x;\n"
                           "mad.lo.u32 %c, %a, %b, %c;\n"
                           "mul.lo.u32 %d, %d, %b;\n"
                           "setp.eq.u32 %t, %c, 0;\n"
                           "mul.lo.u32 %a, %c, 4;\nadd.u32 %a, %a, 0xfffffffe;\n"
                           "mul.lo.u32 %b, %d, 4;\nadd.u32 %b, %b, 0xfffffffe;\n"
                           "selp.b32 %e, %b, %a, %t;\n"
                           "@%t bra $first;\nadd.u32 %k0, %k0, 1;\n$first:\nret;";
constexpr CoarsenForm four_points{.along_x = 4, .shift = 2};

} // namespace

TEST_CASE("added code ends where a copy goes on") {
  AddedCode both(dispatch), one(dispatch), unknown(dispatch);
  CHECK(both.run({.inside = 2}) == "add.u32 %k1, %k1, 1;");
  CHECK(both.held("%a") == both.extent());
  CHECK(both.held("%b") == both.special("%ctaid.x"));
  CHECK(both.held("%d") == both.index(2, 1));
  CHECK(both.held("%t") == both.pool.ule(both.extent(), both.index(2, 1)));
  CHECK(one.run({.inside = 1}) == "add.u32 %k0, %k0, 1;");
  // What is not assumed is not decided.
  CHECK(unknown.run() == "@%t bra $alone;");
}

TEST_CASE("the same in other words ends at the same place") {
  for (const auto &change : std::initializer_list<std::pair<const char *, const char *>>{
           {"mul.lo.u32 %c, %b, 2;\nadd.u32 %d, %c, 1;", "mad.lo.u32 %d, %b, 2, 1;"},
           {"%b, 2;", "%b, 0x2;"},
           {"add.u32 %d, %c, 1;", "add.u32 %d, %c, 3;\nadd.u32 %d, %d, 0xfffffffe;"},
           {"add.u32 %d, %c, 1;", "mov.u32 %e, 1;\nadd.u32 %d, %c, %e;"},
           {"@%t bra $alone;", "@%t bra $there;\nbra $here;\n$there:\nbra $alone;\n$here:"},
           {"ld.param.u32 %a, [grid];\nmov.u32 %b, %ctaid.x;",
            "mov.u32 %b, %ctaid.x;\nld.param.u32 %a, [grid];"}}) {
    const char *const from = change.first, *const to = change.second;
    INFO(std::string(to));
    AddedCode both(replaced(dispatch, from, to)), one(replaced(dispatch, from, to));
    CHECK(both.run({.inside = 2}) == "add.u32 %k1, %k1, 1;");
    CHECK(one.run({.inside = 1}) == "add.u32 %k0, %k0, 1;");
  }
}

TEST_CASE("a line that is changed, left out or moved is where the run stops") {
  const std::string test = "setp.ge.u32 %t, %d, %a;", load = "ld.param.u32 %a, [grid];\n";
  const std::string branch = "@%t bra $alone;"; // it has tested something else
  struct Change {
    std::string from, to, end; ///< where the run stops then
  };
  for (const Change &change : std::initializer_list<Change>{
           {"%b, 2;", "%b, 3;", branch},
           {"%c, 1;", "%c, 2;", branch}, // there is no such copy
           {"%c, 1;", "%c, 0xffffffff;", branch},
           {"%ctaid.x", "%ctaid.y", branch},
           {"%ctaid.x", "%tid.x", branch},
           {"%ctaid.x", "%clock", "mov.u32 %b, %clock;"}, // it is another one each time
           {"[grid]", "[grid+4]", "ld.param.u32 %a, [grid+4];"},
           {"[grid]", "[n]", branch},
           {load, "mov.u32 %a, %nctaid.x;\n", branch},
           {"ld.param.u32 %a", "ld.param.u64 %l", "ld.param.u64 %l, [grid];"},
           {"ld.param.u32 %a", "ld.param.s32 %a", "ld.param.s32 %a, [grid];"},
           {"setp.ge", "setp.gt", "setp.gt.u32 %t, %d, %a;"},
           {"setp.ge.u32", "setp.ge.s32", "setp.ge.s32 %t, %d, %a;"},
           {"%t, %d, %a", "%t, %a, %d", branch},
           {"%t, %d, %a", "%t, %c, %d", branch},
           {"%t, %d, %a", "%t, %d, %h", "setp.ge.u32 %t, %d, %h;"}, // nobody knows what is shared
           {"add.u32 %d, %c, 1", "add.u32 %d, %c, %c", branch},
           {"add.u32 %d, %c, 1", "add.u32 %d, %c, -1", "add.u32 %d, %c, -1;"},
           {"add.u32 %d, %c, 1", "sub.u32 %d, %c, 1", "sub.u32 %d, %c, 1;"},
           {"mul.lo.u32 %c, %b, 2", "mul.hi.u32 %c, %b, 2", "mul.hi.u32 %c, %b, 2;"},
           {"mul.lo.u32 %c, %b, 2", "mul.lo.u32 %c, %b, %b", branch},
           {"mov.u32 %b, %ctaid.x", "mov.u32 %b, grid", "mov.u32 %b, grid;"},
           {"mov.u32 %b, %ctaid.x", "mov.u32 %w, %ctaid.x", "mov.u32 %w, %ctaid.x;"},
           // Under a guard it may not be done.
           {"add.u32 %d", "@%t add.u32 %d", "@%t add.u32 %d, %c, 1;"},
           {"@%t bra", "@%u bra", "@%u bra $alone;"},
           {"@%t bra", "@%p0 bra", "@%p0 bra $alone;"},
           // Left out.
           {load, "", test},
           {"mov.u32 %b, %ctaid.x;\n", "", "mul.lo.u32 %c, %b, 2;"},
           {"mul.lo.u32 %c, %b, 2;\n", "", "add.u32 %d, %c, 1;"},
           {"add.u32 %d, %c, 1;\n", "", test},
           {test + "\n", "", "@%t bra $alone;"},
           // Moved.
           {"mul.lo.u32 %c, %b, 2;\nadd.u32 %d, %c, 1;",
            "add.u32 %d, %c, 1;\nmul.lo.u32 %c, %b, 2;", "add.u32 %d, %c, 1;"},
           {test + "\n@%t bra $alone;", "@%t bra $alone;\n" + test, "@%t bra $alone;"},
           // A store is nothing that added code does.
           {test, "st.global.u32 [%l], %d;", "st.global.u32 [%l], %d;"},
       }) {
    INFO(change.to);
    for (const unsigned inside : {1U, 2U}) {
      AddedCode code(replaced(dispatch, change.from, change.to));
      CHECK(code.run({.inside = inside}) == change.end);
    }
  }
  // These go on, to the other place.
  for (const auto &change : std::initializer_list<std::pair<const char *, const char *>>{
           {"@%t bra", "@!%t bra"}, {"@%t bra $alone;\n", ""}, {"@%t bra", "bra"}}) {
    const char *const from = change.first, *const to = change.second;
    INFO(std::string(to));
    AddedCode both(replaced(dispatch, from, to)), one(replaced(dispatch, from, to));
    CHECK((both.run({.inside = 2}) != "add.u32 %k1, %k1, 1;" ||
           one.run({.inside = 1}) != "add.u32 %k0, %k0, 1;"));
  }
}

TEST_CASE("along other axes and within a block it is another register that tells") {
  const std::string rows = replaced(dispatch, "%ctaid.x", "%ctaid.y");
  CHECK(AddedCode(rows, {.axis = 1, .copies = 2}).run({.inside = 1}) == "add.u32 %k0, %k0, 1;");
  CHECK(AddedCode(dispatch, {.axis = 1, .copies = 2}).run({.inside = 1}) == "@%t bra $alone;");

  constexpr CoarsenForm within{.kind = CoarsenForm::Kind::neighbours, .copies = 4};
  AddedCode block("mov.u32 %a, %tid.x;\nmul.lo.u32 %b, %a, 4;\nadd.u32 %b, %b, 3;\n"
                  "mov.u32 %c, %ntid.x;\nmul.lo.u32 %d, %c, 4;\nld.param.u32 %e, [grid];\nret;",
                  within);
  CHECK(block.run() == "exit");
  CHECK(block.held("%b") == block.index(4, 3));
  CHECK(block.held("%d") == block.scaled(block.special("%ntid.x"), 4, 0));
  CHECK(block.held("%e") == block.extent()); // the grid's, not the block's
}

TEST_CASE("numbers are kept modulo 2^32") {
  AddedCode code(
      "mov.u32 %a, 0xffffffff;\nadd.u32 %b, %a, 3;\nmul.lo.u32 %c, %a, 0x80000001;\n"
      "mad.lo.u32 %d, %a, %a, %b;\nmov.u32 %e, %ctaid.x;\nmul.lo.u32 %e, %e, 0x80000000;\n"
      "mul.lo.u32 %e, %e, 2;\nsetp.eq.u32 %t, %b, 2;\nsetp.eq.u32 %u, %b, %a;\nret;");
  CHECK(code.run() == "exit");
  CHECK(code.held("%b") == code.number(2));
  CHECK(code.held("%c") == code.number(0x7fffffff));
  CHECK(code.held("%d") == code.number(3));
  CHECK(code.held("%e") == code.number(0));
  CHECK(code.held("%t") == code.pool.constant(1, 1));
  CHECK(code.held("%u") == code.pool.constant(1, 0));
  CHECK(AddedCode("mov.u32 %a, 0x100000000;\nret;").run() == "mov.u32 %a, 0x100000000;");
  // A value of 32 bits is not one of 64, nor a predicate.
  CHECK(AddedCode("mov.u32 %l, 1;\nret;").run() == "mov.u32 %l, 1;");
}

TEST_CASE("a predicate over copies decides where all, none or, if it is of all, some hold") {
  struct Decision {
    std::string combine, branch;
    Outcome outcome;
    std::string end; ///< "taken", "not", or where it stops
  };
  const std::string both_and = "and.pred %t, %p0, %p1;", both_or = "or.pred %t, %p0, %p1;";
  const std::string alone = "or.pred %t, %p0, %p0;";
  for (const Decision &one : std::initializer_list<Decision>{
           {both_and, "@%t", Outcome::all, "taken"},
           {both_and, "@%t", Outcome::some, "not"},
           {both_and, "@%t", Outcome::none, "not"},
           {both_or, "@%t", Outcome::all, "taken"},
           {both_or, "@%t", Outcome::some, "taken"},
           {both_or, "@%t", Outcome::none, "not"},
           {both_or, "@!%t", Outcome::none, "taken"},
           {both_or, "@!%t", Outcome::some, "not"},
           {alone, "@%t", Outcome::all, "taken"},
           {alone, "@%t", Outcome::none, "not"},
           {alone, "@%t", Outcome::some, "@%t bra $there;"}, // in this one or the other
           {"and.pred %u, %p0, %p1;\nor.pred %t, %u, %p1;", "@%t", Outcome::all, "taken"},
           {"and.pred %u, %p0, %p1;\nor.pred %t, %u, %p1;", "@%t", Outcome::some,
            "@%t bra $there;"}, // %p1 alone
           {"xor.pred %t, %p0, %p1;", "@%t", Outcome::all, "xor.pred %t, %p0, %p1;"},
           {"not.pred %t, %p0;", "@!%t", Outcome::all, "taken"},
           {"xor.pred %t, %p0, %p1;", "@%t", Outcome::all, "xor.pred %t, %p0, %p1;"},
           {"and.pred %t, %p0, %u;", "@%t", Outcome::all, "and.pred %t, %p0, %u;"},
           {"and.pred %t, %p0, 1;", "@%t", Outcome::all, "and.pred %t, %p0, 1;"},
           {both_and, "@%p0", Outcome::all, "@%p0 bra $there;"}, // a copy's own branch
       }) {
    INFO(one.combine, one.branch);
    const auto run = [&](const std::optional<Outcome> &outcome) {
      AddedCode code(one.combine + "\n" + one.branch +
                     " bra $there;\nadd.u32 %k0, %k0, 1;\n$there:\nadd.u32 %k1, %k1, 1;\nret;");
      code.know("%p0", code.of("%p0"));
      code.know("%p1", code.of("%p1"));
      const std::string end = code.run({.outcome = outcome});
      return end == "add.u32 %k1, %k1, 1;" ? "taken" : end == "add.u32 %k0, %k0, 1;" ? "not" : end;
    };
    CHECK(run(one.outcome) == one.end);
    const std::string unknown = run({});
    CHECK(unknown != "taken");
    CHECK(unknown != "not");
  }
}

TEST_CASE("a copy's own branch is not the added code's, whatever is known of its predicate") {
  AddedCode code("@%p0 bra $there;\n$there:\nret;");
  code.know("%p0", code.pool.constant(1, 1));
  CHECK(code.run() == "@%p0 bra $there;");
}

TEST_CASE("what the copies' predicates were is forgotten behind a branch that is taken") {
  for (const bool holds : {false, true}) {
    AddedCode code(fmt::format("setp.eq.u32 %u, 1, {};\n@%u bra $there;\n$there:\n"
                               "or.pred %t, %p0, %p1;\nadd.u32 %k0, %k0, 1;\n@%v ret;",
                               holds ? 1 : 0));
    code.know("%p0", code.of("%p0"));
    code.know("%p1", code.of("%p1"));
    code.know("%v", code.in_any());
    CHECK(code.run() == (holds ? "or.pred %t, %p0, %p1;" : "add.u32 %k0, %k0, 1;"));
    CHECK((code.held("%p0") == nullptr) == holds);
    CHECK(code.held("%v") == code.in_any()); // the added code's own stays
  }
}

TEST_CASE("what copies run on is nothing that added code writes") {
  for (const std::string &line : std::initializer_list<std::string>{
           "mov.b32 %o, %h;", "mov.pred %po, %ph;", "mov.b32 %o, %k0;", "mov.b32 %o, %a;",
           "mov.b32 %o, 0;", "add.u32 %o, %h, 0;", "@%t mov.b32 %o, %h;", "mov.b32 %h, %o;",
           "mov.b64 %o, %h;", "mov.b32 %o, %tid.x;"}) {
    INFO(line);
    AddedCode refused(line + "\nret;");
    refused.know("%a", refused.number(0));
    refused.know("%t", refused.pool.constant(1, 1));
    CHECK(refused.run() == line);
  }
}

TEST_CASE("points along x go around from the first thread to the last") {
  AddedCode first(points, four_points), other(points, four_points), unknown(points, four_points);
  CHECK(first.run({.first = true}) == "exit");
  CHECK(other.run({.first = false}) == "add.u32 %k0, %k0, 1;");
  CHECK(unknown.run() == "@%t bra $first;");
  // The last of the points of a code.
  const auto around = [](AddedCode &code) {
    constexpr std::uint32_t before = 0xfffffffe;
    return code.pool.ite(code.is_first(), code.scaled(code.points(), 4, before),
                         code.scaled(code.flat(), 4, before));
  };
  for (AddedCode *code : {&first, &other, &unknown}) {
    CHECK(code->held("%a") == code->scaled(code->flat(), 4, 0xfffffffe));
    CHECK(code->held("%b") == code->scaled(code->points(), 4, 0xfffffffe));
    CHECK(code->held("%c") == code->flat());
    CHECK(code->held("%e") == around(*code));
    CHECK(code->held("%t") == code->is_first());
  }
  const std::string flat = "mad.lo.u32 %c, %a, %b, %c;", branch = "@%t bra $first;";
  struct Change {
    std::string from, to, end;
  };
  for (const Change &change : std::initializer_list<Change>{
           {"%a, %a, 0xfffffffe", "%a, %a, 0xffffffff", "exit"}, // not the same point
           {"%b, %d, 4", "%b, %d, 2", "exit"},
           {"selp.b32 %e, %b, %a", "selp.b32 %e, %a, %b", "exit"},
           {"%ctaid.x", "%ctaid.y", branch},
           {"%tid.x", "%ntid.x", branch},
           {flat, "mad.lo.u32 %c, %c, %a, %b;", branch},
           {"mul.lo.u32 %d, %d, %b", "mul.lo.u32 %d, %d, %a", "exit"},
           {"setp.eq.u32 %t, %c, 0", "setp.eq.u32 %t, %c, 1", branch},
           {"setp.eq", "setp.ne", "setp.ne.u32 %t, %c, 0;"}}) {
    INFO(change.to);
    AddedCode code(replaced(points, change.from, change.to), four_points);
    CHECK(code.run({.first = true}) == change.end);
    CHECK((change.end != "exit" || code.held("%e") != around(code)));
  }
  AddedCode turned(replaced(points, flat, "mad.lo.u32 %c, %b, %a, %c;"), four_points);
  CHECK(turned.run({.first = true}) == "exit");
  CHECK(turned.held("%e") == around(turned));
  // Both three before: these do not begin so early. Both at 0 or behind it: nothing is before.
  for (const char *number : {"0xfffffffd", "2"}) {
    AddedCode moved(
        replaced(replaced(points, "%a, %a, 0xfffffffe", fmt::format("%a, %a, {}", number)),
                 "%b, %b, 0xfffffffe", fmt::format("%b, %b, {}", number)),
        four_points);
    CHECK(moved.run() == branch);
    CHECK(moved.held("%e") != around(moved));
  }
}

TEST_CASE("a thread ends, or never does") {
  CHECK(AddedCode("mov.u32 %a, 1;").run() == "exit"); // behind the last instruction
  CHECK(AddedCode("exit;").run() == "exit");
  CHECK(AddedCode("setp.eq.u32 %t, 1, 1;\n@%t ret;\nadd.u32 %k0, %k0, 1;").run() == "exit");
  CHECK(AddedCode("setp.eq.u32 %t, 1, 1;\n@!%t ret;\nadd.u32 %k0, %k0, 1;").run() ==
        "add.u32 %k0, %k0, 1;");
  CHECK(AddedCode("@%t ret;\nadd.u32 %k0, %k0, 1;").run() == "@%t ret;");
  CHECK(AddedCode("$a:\nmov.u32 %a, 1;\nbra $a;").run() == "never");
  CHECK(AddedCode("mov.u32 %a, 0;\n$a:\nsetp.eq.u32 %t, %a, 1;\nadd.u32 %a, %a, 1;\n"
                  "@!%t bra $a;\nadd.u32 %k0, %k0, 1;")
            .run() == "add.u32 %k0, %k0, 1;");
}

TEST_CASE("branches that are always taken are followed") {
  const AddedCode code("bra $b;\n$a:\n@%t bra $b;\nbra $end;\n$b:\nbra $a;\n$c:\nbra $c;\n$end:");
  CHECK(code.skip(0) == "@%t bra $b;");
  CHECK(code.skip(1) == "@%t bra $b;");
  CHECK(code.skip(2) == "end");
  CHECK(code.skip(3) == "@%t bra $b;");
  CHECK(code.skip(4) == "never");
  CHECK(code.skip(5) == "end");
}

} // namespace replay_test
