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

#include "grammar/next.h"
#include "synth/prove/text_reader.h"
#include "synth/same_launch.h"
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
using proof::plain_text;
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
        atoms_(atoms), cfg_(before, kernel), reader_(after, staged, kernel) {}

  void run() {
    check_frame();
    find_out();
    meet();
    copy();
    reader_.place("original");
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

  void expect(std::string_view pattern) { reader_.expect(pattern); }
  std::string first(std::size_t range) const { return fmt::format("<w_first{}>", range); }

  /// The next instruction is one of the kernel's.
  void expect_same(const Instruction &one) {
    if (before_.text(one.span) != after_.text(reader_.next().span))
      reader_.fail("not the kernel's instruction");
  }

  /// The next instruction is one of the kernel's branches, which leads to a place of the version.
  void expect_branch(const Instruction &one, const std::string &place) {
    const Operand &to = before_.operands(one)[0];
    expect(plain_text(before_.text({one.span.begin, to.span.begin})) + " <$" + place + ">");
  }

  bool falls_through(const BasicBlock &block) const {
    const Instruction &last = kernel_.instructions[block.end - 1];
    return last.guard != no_register || !is_way(before_.opcode(last));
  }

  /// Where a branch of the kernel leads.
  std::uint32_t target_of(const Instruction &branch) {
    const auto operands = before_.operands(branch);
    if (operands.size() == 1 && operands[0].kind == Operand::Kind::symbol && operands[0].value == 0)
      if (const Label *label = kernel_.find_label(before_.symbol(operands[0]).name, 0))
        return label->position;
    reader_.fail("a branch of the kernel is not understood");
  }

  /// Where a thread is that went to one of the kernel's instructions before the loop.
  std::string way_to(std::uint32_t instruction) const {
    if (instruction == staging_.header)
      return "at";
    const auto &blocks = staging_.before.blocks;
    const bool goes_on =
        instruction < kernel_.instructions.size() &&
        std::binary_search(blocks.begin(), blocks.end(), cfg_.block_of(instruction));
    return goes_on ? fmt::format("b{}", cfg_.block_of(instruction)) : "met";
  }

  void find_out() {
    expect("mov.u32 <r_comes>, 0");
    for (std::size_t i = 0; i < staging_.ranges.size(); ++i)
      expect(fmt::format("mov.b64 {}, 0", first(i)));
    expect("mov.b64 <w_rounds>, 0");
    const auto &repeated = staging_.before.instructions;
    for (const BlockId block : staging_.before.blocks) {
      reader_.place(fmt::format("b{}", block));
      const BasicBlock &one = cfg_.blocks()[block];
      for (std::uint32_t i = one.first; i < one.end; ++i)
        if (std::binary_search(repeated.begin(), repeated.end(), i))
          repeat(kernel_.instructions[i]);
      if (falls_through(one))
        expect(fmt::format("bra <${}>", way_to(one.end)));
    }
    reader_.place("at");
    if (staging_.around)
      know(0, staging_.around->conditions, staging_.around->last);
    else
      know(staging_.ranges.size(), staging_.conditions, staging_.count);
  }

  void repeat(const Instruction &one) {
    const Op op = before_.opcode(one).op;
    if (!is_way(before_.opcode(one))) {
      expect_same(one);
      return;
    }
    const std::string guard = one.guard == no_register
                                  ? ""
                                  : fmt::format("@{}{} ", one.guard_negated ? "!" : "",
                                                kernel_.registers[one.guard].name);
    expect(guard + "bra <$" + (op == Op::bra ? way_to(target_of(one)) : "met") + ">");
  }

  /// What is known where a loop is entered: where so many ranges begin, and a number of rounds.
  void know(std::size_t ranges, const std::vector<Condition> &conditions, const Polynomial &count) {
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
      expect("mov.u32 <r_comes>, 1");
    } else {
      if (after_.operands(last).size() == 4)
        tested = computed.tested(after_.operands(last)[3]);
      expect("selp.u32 <r_comes>, 1, 0, <p_counted>");
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

  void meet() {
    reader_.place("met");
    expect("mov.u32 <r_thread>, %tid.z");
    expect("mov.u32 <r_a>, %ntid.y");
    expect("mov.u32 <r_b>, %tid.y");
    expect("mad.lo.u32 <r_thread>, <r_thread>, <r_a>, <r_b>");
    expect("mov.u32 <r_b>, %ntid.x");
    expect("mul.lo.u32 <r_threads>, <r_a>, <r_b>");
    expect("mov.u32 <r_a>, %tid.x");
    expect("mad.lo.u32 <r_thread>, <r_thread>, <r_b>, <r_a>");
    expect("mov.u32 <r_a>, %ntid.z");
    expect("mul.lo.u32 <r_threads>, <r_threads>, <r_a>");
    compare(staging_.around ? 0 : staging_.ranges.size());
    expect("@!<p_all> bra <$original>");
    if (!staging_.around)
      begin();
  }

  /// Have all threads of the block the same?
  void compare(std::size_t ranges) {
    expect("setp.ne.u32 <p_test>, <r_thread>, 0");
    const auto told = [&](std::size_t i) { return i == ranges ? "<w_rounds>" : first(i); };
    for (std::size_t i = 0; i <= ranges; ++i)
      expect(fmt::format("@!<p_test> st.shared.b64 [{}+{}], {}", tile_, 8 * i, told(i)));
    expect("barrier.sync 0");
    expect("setp.gt.u32 <p_same>, <r_threads>, 1");
    expect("setp.ne.u32 <p_test>, <r_comes>, 0");
    expect("and.pred <p_same>, <p_same>, <p_test>");
    for (std::size_t i = 0; i <= ranges; ++i) {
      expect(fmt::format("ld.shared.b64 <w_said>, [{}+{}]", tile_, 8 * i));
      expect(fmt::format("setp.eq.s64 <p_test>, <w_said>, {}", told(i)));
      expect("and.pred <p_same>, <p_same>, <p_test>");
    }
    expect("barrier.red.and.pred <p_all>, 0, <p_same>");
  }

  /// No round is in the tile yet.
  void begin() {
    expect("cvt.u32.u64 <r_rest>, <w_rounds>"); // at most facts::most_rounds + 1
    expect(fmt::format("mov.u32 <r_base>, {}", tile_));
    expect("mov.u32 <r_left>, 0");
  }

  /// The way into a loop that is in another one.
  void enter() {
    reader_.place("enter");
    know(staging_.ranges.size(), staging_.conditions, staging_.count);
    compare(staging_.ranges.size());
    begin();
  }

  void bring() {
    if (staging_.around)
      expect("@!<p_all> bra <$go>");
    expect("setp.ne.u32 <p_test>, <r_left>, 0");
    expect("@<p_test> bra <$go>");
    expect("barrier.sync 0");
    expect(fmt::format("min.u32 <r_left>, <r_rest>, {}", staging_.rounds));
    expect("sub.u32 <r_rest>, <r_rest>, <r_left>");
    expect("mov.u32 <r_k>, <r_thread>");
    expect("setp.ge.u32 <p_test>, <r_k>, <r_left>");
    expect("@<p_test> bra <$brought>");
    reader_.place("next");
    std::vector<std::string> stores;
    for (std::size_t i = 0; i < staging_.ranges.size(); ++i) {
      const StagedRange &range = staging_.ranges[i];
      expect(fmt::format("mul.wide.u32 <w_from>, <r_k>, {}", range.step));
      expect(fmt::format("add.s64 <w_from>, <w_from>, {}", first(i)));
      expect(fmt::format("mad.lo.u32 <r_to{}>, <r_k>, {}, <r_base>", i, range.step));
      for (const StagedLoad &load : range.loads)
        if (is_first(range, load))
          stores.push_back(bring(i, range, load));
    }
    for (const std::string &store : stores)
      expect(store);
    expect("add.u32 <r_k>, <r_k>, <r_threads>");
    expect("setp.lt.u32 <p_test>, <r_k>, <r_left>");
    expect("@<p_test> bra <$next>");
    reader_.place("brought");
    for (std::size_t i = 0; i < staging_.ranges.size(); ++i) {
      expect(fmt::format("cvt.u32.u64 <r_low>, {}", first(i)));
      expect(fmt::format("sub.u32 <r_shift{}>, <r_base>, <r_low>", i));
      expect(fmt::format("mul.wide.u32 <w_from>, <r_left>, {}", staging_.ranges[i].step));
      expect(fmt::format("add.s64 {0}, {0}, <w_from>", first(i)));
    }
    expect("barrier.sync 0");
    reader_.place("go");
    expect("sub.u32 <r_left>, <r_left>, 1");
  }

  std::string bring(std::size_t range_index, const StagedRange &range, const StagedLoad &load) {
    const StagingOpcodes opcodes =
        staging_opcodes(before_.opcode(kernel_.instructions[load.instruction]));
    const char kind = opcodes.bits == 64 ? 'w' : opcodes.bits == 32 ? 'r' : 'h';
    std::string list;
    for (unsigned i = 0; i < opcodes.elements; ++i)
      list += fmt::format("{}<{}_v{}_{}>", i == 0 ? "" : ", ", kind, load.instruction, i);
    if (opcodes.elements > 1)
      list = "{" + list + "}";
    expect(fmt::format("{} {}, [<w_from>+{}]", opcodes.load, list, load.offset));
    return fmt::format("{} [<r_to{}>+{}], {}", opcodes.store, range_index,
                       range.place + load.offset, list);
  }

  void copy() {
    for (BlockId block = 0; block < cfg_.blocks().size(); ++block) {
      const BasicBlock &one = cfg_.blocks()[block];
      if (staging_.around && one.first == staging_.entry)
        enter();
      reader_.place(fmt::format("c{}", block));
      if (one.first == staging_.round)
        bring();
      for (std::uint32_t i = one.first; i < one.end; ++i)
        copy(i);
    }
    if (may_run_out(before_, kernel_)) {
      reader_.place("end");
      expect("ret");
    }
  }

  void copy(std::uint32_t i) {
    const Instruction &one = kernel_.instructions[i];
    for (std::size_t r = 0; r < staging_.ranges.size(); ++r)
      for (const StagedLoad &load : staging_.ranges[r].loads)
        if (load.instruction == i) {
          use(one, r);
          return;
        }
    if (before_.opcode(one).op != Op::bra) {
      expect_same(one);
      return;
    }
    expect_branch(one, copy_of(target_of(one), i));
  }

  /// Where a branch of the kernel leads in its copy.
  std::string copy_of(std::uint32_t target, std::uint32_t branch) const {
    if (target >= kernel_.instructions.size())
      return "end";
    if (staging_.around && target == staging_.entry &&
        !cfg_.contains(staging_.loop, cfg_.block_of(branch)))
      return "enter";
    return fmt::format("c{}", cfg_.block_of(target));
  }

  void use(const Instruction &load, std::size_t range) {
    const auto operands = before_.operands(load);
    const Operand &base = before_.children(operands[1])[0];
    if (base.kind != Operand::Kind::reg || base.selector != 0 || base.negated)
      reader_.fail("the kernel's address is not understood");
    expect(fmt::format("cvt.u32.u64 <r_low>, {}", kernel_.registers[base.reg].name));
    expect(fmt::format("add.u32 <r_low>, <r_low>, <r_shift{}>", range));
    expect(fmt::format("{}{} {}, [<r_low>+{}]", staging_.around ? "@<p_all> " : "",
                       staging_opcodes(before_.opcode(load)).use,
                       plain_text(before_.text(operands[0].span)),
                       operands[1].value + std::int64_t{staging_.ranges[range].place}));
    if (staging_.around)
      expect("@!<p_all> " + plain_text(before_.text(load.span)));
  }

  const Module &before_;
  const Function &kernel_;
  const Module &after_;
  const Function &staged_;
  const Staging &staging_;
  Atoms &atoms_;
  const ControlFlowGraph cfg_;
  TextReader reader_;
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
