// The proof of a kernel with a staged loop, from its text and the kernel's.
//
// What of the kernel can be staged, and what must be known for that, is asked for anew (sites.h).
// The text is then read from its beginning to its end; registers that it adds may have any names,
// but everything else must be what follows. There are three parts.
//
// 1. What comes first has no effect on anything that the kernel knows of: it writes its own
//    registers, its own shared memory, and registers of the kernel's that the kernel, which begins
//    anew behind it, has not written yet. All threads of a block come to `met`: what is before it
//    goes forward only. A thread has comes = 1 there if, and only if, the kernel would lead it to
//    the loop (before.h) under the conditions of the law; it then knows what the law says of its
//    registers: the first address of each range, and that it runs exactly so many rounds. Between
//    the two barriers each thread compares what it has with what the first one has. So `all` holds
//    if all threads of the block come, with the same addresses and rounds, and are two at least;
//    the barrier gives one answer to the block.
//
// 2. Where it does not hold, the kernel runs as it is, byte for byte.
//
// 3. Where it does, the kernel runs, and what is added to it keeps this:
//
//      left + rest is the number of rounds that this thread has before it, this one among them,
//      where a round begins (sites.cpp); the tile has the `left` next ones, `first` is where the
//      round behind these begins, and `shift` is what leads from an address of theirs to the tile.
//
//    At first left is 0 and rest all rounds, which may be none: then no thread comes to where one
//    begins. With left = 0 all threads of the block meet: each has run as many rounds as the
//    others, as each came to the loop once and left it nowhere, and left and rest are the same in
//    all. So each comes to each barrier. Behind the first one nobody reads the tile any more; round
//    k of the next ones is brought by the thread k modulo their number, from addresses that it will
//    itself read in that round, as it has the same addresses and rounds as all others; behind the
//    second one all of it is there. Nothing is read that the kernel does not read, and what a
//    thread finds is what it would read itself: nobody writes there in between (sites.cpp). Its
//    round's bytes lie at shift + the low word of their address: the tile has less than 2^32 bytes,
//    so the sum, modulo 2^32, is the place in it.
//
//    If the loop is in another one, the first question is whether all threads have as many rounds
//    of that one; then all of them enter the inner loop equally often (sites.cpp). Each time they
//    meet there, ask whether all have the same ranges and rounds this time, and get one answer,
//    which stays until they meet there again. Where it is yes, all of the above holds for this
//    time; what they told each other lies before the tile, and they have read it before anybody
//    passes the second barrier. Where it is no, no barrier comes before the next time, and each
//    load is the kernel's.
//
//    No register that is added is the kernel's, so the kernel's instructions do what they did.

#include "synth/stage/stage.h"

#include "synth/same_launch.h"
#include "synth/stage/script.h"
#include "synth/stage/write.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace ptxasw::inline synth::stage {
namespace {

using facts::Atoms;
using facts::Condition;
using facts::Polynomial;
using proof::NotProved;
using proof::TextReader;

/// Straight code that computes with 64 bits: what its registers hold as polynomials of what the
/// kernel's registers hold, and which conditions its predicates have tested.
class Computed {
public:
  Computed(const Module &module, const Function &function, const Function &kernel, Atoms &atoms,
           TextReader &reader)
      : module_(module), function_(function), kernel_(kernel), atoms_(atoms), reader_(reader) {}

  void step() {
    const Instruction &one = reader_.next();
    const auto operands = module_.operands(one);
    const std::string_view opcode = module_.opcode(one).text;
    if (one.guard != no_register || operands.size() < 2 || operands[0].kind != Operand::Kind::reg ||
        operands[0].selector != 0 || reader_.is_own(operands[0].reg))
      reader_.fail("what is tested is not understood");
    for (const Operand &operand : operands)
      if (operand.negated || operand.selector != 0)
        reader_.fail("what is tested is not understood");
    const RegisterId to = operands[0].reg;
    const bool is_predicate = function_.registers[to].type == ScalarType::pred;
    values_.erase(to);
    positive_.erase(to);
    masked_.erase(to);
    tested_.erase(to);
    if (operands.size() == 2 && opcode == "mov.pred") {
      tested_[to] = tested(operands[1]);
    } else if (operands.size() == 3 && opcode == "and.pred") {
      std::vector<Condition> both = tested(operands[1]);
      const std::vector<Condition> more = tested(operands[2]);
      both.insert(both.end(), more.begin(), more.end());
      tested_[to] = std::move(both);
    } else if (operands.size() == 3 && is_predicate) {
      compare(to, opcode, operands[1], operands[2]);
    } else if (bit_width(function_.registers[to].type) == 64 && !is_predicate) {
      compute(to, opcode, operands.subspan(1));
    } else {
      reader_.fail("what is tested is not understood");
    }
  }

  /// What a register holds; nothing if it was not computed here.
  std::optional<Polynomial> of(RegisterId reg) const {
    const auto found = values_.find(reg);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }

  /// What holds if a predicate does.
  std::vector<Condition> tested(const Operand &operand) const {
    const auto found =
        operand.kind == Operand::Kind::reg ? tested_.find(operand.reg) : tested_.end();
    if (found == tested_.end())
      reader_.fail("what is tested is not understood");
    return found->second;
  }

private:
  RegisterId kernels(RegisterId reg) const {
    for (RegisterId i = 0; i < kernel_.registers.size(); ++i)
      if (kernel_.registers[i].name == function_.registers[reg].name)
        return i;
    reader_.fail("what is tested is not understood");
  }

  Polynomial value(const Operand &operand) const {
    if (operand.kind == Operand::Kind::integer)
      return Polynomial(operand.value);
    if (operand.kind == Operand::Kind::reg && function_.registers[operand.reg].vector == 1 &&
        bit_width(function_.registers[operand.reg].type) == 64) {
      if (reader_.is_own(operand.reg))
        return atoms_.word(kernels(operand.reg));
      if (const auto known = of(operand.reg))
        return *known;
    }
    reader_.fail("what is tested is not understood");
  }

  void compute(RegisterId to, std::string_view opcode, std::span<const Operand> from) {
    const bool is_number = from.size() == 2 && from[1].kind == Operand::Kind::integer;
    if (from.size() == 1 && opcode == "mov.b64") {
      values_[to] = value(from[0]);
    } else if (from.size() == 1 && opcode == "cvt.s64.s32" && from[0].kind == Operand::Kind::reg &&
               reader_.is_own(from[0].reg) && function_.registers[from[0].reg].vector == 1 &&
               bit_width(function_.registers[from[0].reg].type) == 32) {
      values_[to] = atoms_.narrow(kernels(from[0].reg));
    } else if (from.size() == 2 && opcode == "add.s64") {
      values_[to] = value(from[0]) + value(from[1]);
    } else if (from.size() == 2 && opcode == "sub.s64") {
      values_[to] = value(from[0]) - value(from[1]);
    } else if (from.size() == 2 && opcode == "mul.lo.s64") {
      values_[to] = value(from[0]) * value(from[1]);
    } else if (is_number && opcode == "max.s64" && from[1].value == 0) {
      positive_[to] = value(from[0]);
      values_[to] = atoms_.rounds(value(from[0]), 1);
    } else if (is_number && opcode == "div.s64" && from[1].value > 0 &&
               from[0].kind == Operand::Kind::reg && positive_.contains(from[0].reg)) {
      values_[to] = atoms_.rounds(positive_.at(from[0].reg), from[1].value);
    } else if (is_number && opcode == "and.b64") {
      masked_[to] = {value(from[0]), from[1].value};
    } else {
      reader_.fail("what is tested is not understood");
    }
  }

  void compare(RegisterId to, std::string_view opcode, const Operand &a, const Operand &b) {
    Condition condition;
    if (opcode == "setp.ge.s64" && b.kind == Operand::Kind::integer) {
      condition.value = value(a) - Polynomial(b.value);
    } else if (opcode == "setp.eq.s64" && b.kind == Operand::Kind::integer && b.value == 0 &&
               a.kind == Operand::Kind::reg && masked_.contains(a.reg)) {
      condition.kind = Condition::Kind::multiple;
      condition.value = masked_.at(a.reg).first;
      condition.of = masked_.at(a.reg).second + 1;
    } else {
      reader_.fail("what is tested is not understood");
    }
    tested_[to] = {condition};
  }

  const Module &module_;
  const Function &function_, &kernel_;
  Atoms &atoms_;
  TextReader &reader_;
  std::map<RegisterId, Polynomial> values_, positive_; ///< max(value, 0)
  std::map<RegisterId, std::pair<Polynomial, std::int64_t>> masked_;
  std::map<RegisterId, std::vector<Condition>> tested_;
};

class StageProof {
public:
  StageProof(const Module &before, const Function &kernel, const Module &after,
             const Function &staged, const Staging &staging, Atoms &atoms)
      : before_(before), kernel_(kernel), after_(after), staged_(staged), staging_(staging),
        atoms_(atoms), cfg_(before, kernel), script_(after, staged, kernel),
        reader_(script_.reader) {}

  void run() {
    check_frame();
    StageScript{before_,
                kernel_,
                cfg_,
                staging_,
                std::string(tile_),
                script_,
                [&](std::string_view, const auto &...what) { check(what...); }}
        .tell();
    if (reader_.position() != staged_.instructions.size() - kernel_.instructions.size())
      reader_.fail("the kernel does not follow");
    reader_.check_places();
  }

private:
  /// Around what was added the body is the kernel's, and what was added has names of its own.
  void check_frame() {
    const auto show = [&](bool holds, std::string_view why) {
      if (!holds)
        throw NotProved{std::string(why)};
    };
    show(staged_.instructions.size() > 2 * kernel_.instructions.size() &&
             staged_.scopes.size() == 1 && staged_.target_lists.empty(),
         "it has another shape");
    const std::string_view mine = before_.text(kernel_.body), theirs = after_.text(staged_.body);
    const std::size_t head = begin_of_code(kernel_) - kernel_.body.begin;
    show(theirs.starts_with(mine.substr(0, head)) && theirs.ends_with(mine.substr(head)) &&
             theirs.size() > mine.size(),
         "around what was added it is not the kernel");
    const auto behind =
        static_cast<std::uint32_t>(staged_.instructions.size() - kernel_.instructions.size());
    const std::uint32_t own_code =
        staged_.body.end - static_cast<std::uint32_t>(mine.size() - head);
    show(staged_.instructions[behind].span.begin >= own_code &&
             staged_.instructions[behind - 1].span.end <= own_code,
         "the kernel does not follow");
    tile_ = proof::added_tile(before_, kernel_, after_, staged_, staging_.size);
    Function moved = staged_;
    for (Pragma &pragma : moved.pragmas) {
      show(pragma.position >= behind, "it has other pragmas");
      pragma.position -= behind;
    }
    const std::string fault = same_launch_header_fault(before_, kernel_, after_, moved);
    show(fault.empty(), fault);
  }

  /// What is known where a loop is entered: where so many ranges begin, and a number of rounds.
  void check(std::size_t ranges, const std::vector<Condition> &conditions,
             const Polynomial &count) {
    Computed computed(after_, staged_, kernel_, atoms_, reader_);
    const auto &all = staged_.instructions;
    const auto ends = [&] {
      if (reader_.position() >= all.size())
        reader_.fail("the kernel does not follow");
      const auto operands = after_.operands(all[reader_.position()]);
      return !operands.empty() && operands[0].kind == Operand::Kind::reg &&
             operands[0].reg == reader_.bound("r_comes");
    };
    while (!ends())
      computed.step();
    std::vector<Condition> tested;
    const Instruction &last = all[reader_.position()];
    if (conditions.empty()) {
      script_.line("mov.u32 <r_comes>, 1");
    } else {
      if (after_.operands(last).size() == 4)
        tested = computed.tested(after_.operands(last)[3]);
      script_.line("selp.u32 <r_comes>, 1, 0, <p_counted>");
    }
    for (const Condition &condition : conditions)
      if (std::find(tested.begin(), tested.end(), condition) == tested.end())
        reader_.fail("not all is tested under which the loop is understood");
    for (std::size_t i = 0; i < ranges; ++i)
      if (computed.of(reader_.bound(fmt::format("w_first{}", i))) != staging_.ranges[i].first)
        reader_.fail("a range does not begin there");
    if (computed.of(reader_.bound("w_rounds")) != count)
      reader_.fail("not so many rounds");
  }

  const Module &before_;
  const Function &kernel_;
  const Module &after_;
  const Function &staged_;
  const Staging &staging_;
  Atoms &atoms_;
  const ControlFlowGraph cfg_;
  ScriptReader script_;
  TextReader &reader_;
  std::string_view tile_;
};

} // namespace
} // namespace ptxasw::synth::stage

namespace ptxasw::inline synth {

std::string prove_staged(const Module &before, const Function &kernel, const Module &after,
                         const Function &staged, std::string_view variant) {
  facts::Atoms atoms;
  const Sites<stage::Staging> answer =
      stage::staging_of({before, kernel}, stage::tile_of(variant), atoms);
  if (answer.sites.empty())
    return answer.refusals.empty() ? "there is no such variant"
                                   : std::string(answer.refusals[0].meaning);
  try {
    stage::StageProof(before, kernel, after, staged, answer.sites[0], atoms).run();
  } catch (const proof::NotProved &stop) {
    return stop.why;
  }
  return "";
}

} // namespace ptxasw::synth
