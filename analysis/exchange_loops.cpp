// The loop is one block, or one behind a test. What it reads and writes is followed backwards
// through `mov`s within it.
//
// A compare-and-swap that finds what it expected has stored op(old, value) over `old`, whatever
// `old` was guessed at first; only then is the loop left. So a thread adds `value` to the location
// exactly once. Minimum and maximum commute to the bit: -0 is less than +0, of a NaN and a number
// the number remains, of two NaNs the canonical one (PTX ISA 9.7.3.11, 9.7.3.12). What the loop
// computes on the way depends on who comes when, so nothing behind it may read that.
//
// Where the loop is over as soon as `value < old` does not hold, each exchange that is made puts
// `value` over something greater, as it expected what the test before was about. So the location
// only falls, and a thread that is not in the loop any more has seen it at `value` or below: by a
// compare-and-swap, which may have put it there, or by the load before, be what that read old
// already. In the end there is the least of all, whoever came first. That is so for whole numbers.
// -0 and +0 are none less than the other, so which of them stays depends on the order, and of NaNs
// nothing is less.

#include "analysis/exchange_loops.h"

#include "emulator/semantics/effects.h"
#include "grammar/roles.h"

#include <algorithm>
#include <optional>

namespace ptxasw::analysis {
namespace {

/// A register as it is in the middle of a block: by which instruction of the block it was written,
/// `no_index` if by none.
struct Origin {
  RegisterId reg = no_register;
  std::uint32_t writer = no_index;
  bool operator==(const Origin &) const = default;
};

/// Returns true if an opcode has no words but its type and some of these.
bool has_only(const Opcode &opcode, std::initializer_list<std::string_view> words) {
  return std::all_of(opcode.modifiers.begin(), opcode.modifiers.end(), [&](std::string_view one) {
    return one == to_string(opcode.type) ||
           std::find(words.begin(), words.end(), one) != words.end();
  });
}

bool same(const Operand &a, const Operand &b) {
  return a.kind == b.kind && a.negated == b.negated && a.selector == b.selector &&
         (a.kind == Operand::Kind::reg ? a.reg == b.reg
                                       : a.kind == Operand::Kind::integer && a.value == b.value);
}

class LoopReader {
public:
  LoopReader(const Module &module, const Function &kernel, const ControlFlowGraph &cfg, BlockId id)
      : module_(module), kernel_(kernel), cfg_(cfg), block_(cfg.blocks()[id]), id_(id) {}

  std::optional<ExchangeLoop> read() {
    ExchangeLoop loop;
    if (!goes_round(loop) || !only_exchanges(loop) || shows(loop))
      return std::nullopt;
    if (head_ != id_)
      return tests_before(loop) ? std::optional(loop) : std::nullopt;
    const auto operands = operands_of(loop.exchange);
    const Origin old = origin(operands[2].reg, loop.exchange);
    if (is_improvement(loop, old))
      return loop;
    if (!combines(origin(operands[3].reg, loop.exchange), old, loop) ||
        !ends_when_equal(old, {operands[0].reg, loop.exchange}, loop))
      return std::nullopt;
    return loop;
  }

private:
  const Opcode &opcode(std::uint32_t i) const { return module_.opcode(kernel_.instructions[i]); }
  std::span<const Operand> operands_of(std::uint32_t i) const {
    return module_.operands(kernel_.instructions[i]);
  }

  // To itself, or to the block just before it, from which alone it is reached.
  bool goes_round(ExchangeLoop &loop) {
    const auto &next = block_.successors;
    if (block_.predecessors.size() == 1 &&
        cfg_.blocks()[block_.predecessors[0]].end == block_.first)
      head_ = block_.predecessors[0];
    loop.branch = block_.branch;
    return loop.branch != no_index && opcode(loop.branch).op == Op::bra &&
           kernel_.instructions[loop.branch].guard != no_register && next.size() == 2 &&
           (next[0] == head_) != (next[1] == head_);
  }

  // One compare-and-swap by all who come, at a place that does not change, and computations.
  bool only_exchanges(ExchangeLoop &loop) const {
    unsigned exchanges = 0;
    for (std::uint32_t i = block_.first; i < block_.end; ++i) {
      const Instruction &instruction = kernel_.instructions[i];
      if (i == loop.branch)
        continue;
      if (!instruction.well_formed || instruction.guard != no_register)
        return false;
      if (is_pure(opcode(i)))
        continue;
      if (!is_plain_exchange(i))
        return false;
      loop.exchange = i;
      ++exchanges;
    }
    return exchanges == 1;
  }

  bool is_plain_exchange(std::uint32_t i) const {
    const Opcode &at = opcode(i);
    const auto operands = operands_of(i);
    const bool known_words =
        std::all_of(at.modifiers.begin(), at.modifiers.end(), [](std::string_view word) {
          return word == "cas" || word == "global" || word == "relaxed" || word == "gpu" ||
                 word == "sys" || word == "b32" || word == "b64";
        });
    return at.op == Op::atom && known_words && at.has(Modifier::cas) && operands.size() == 4 &&
           is_whole_register(operands[0]) && operands[1].kind == Operand::Kind::address &&
           is_kept(module_.children(operands[1])[0]) && is_whole_register(operands[2]) &&
           is_whole_register(operands[3]);
  }

  bool writes(std::uint32_t i, RegisterId reg) const {
    bool found = false;
    for_each_register(module_, kernel_.instructions[i], [&](RegisterId other, RegisterUse use) {
      found |= other == reg && use != RegisterUse::read;
    });
    return found;
  }

  /// The last instruction of a block before one that writes a register.
  std::optional<std::uint32_t> writer(RegisterId reg, std::uint32_t before) const {
    return writer(reg, before, block_);
  }
  std::optional<std::uint32_t> writer(RegisterId reg, std::uint32_t before,
                                      const BasicBlock &block) const {
    for (std::uint32_t i = before; i-- > block.first;)
      if (writes(i, reg))
        return i;
    return std::nullopt;
  }

  /// Returns true if the loop leaves an operand as it is.
  bool is_kept(const Operand &operand) const {
    switch (operand.kind) {
    case Operand::Kind::integer:
    case Operand::Kind::real:
    case Operand::Kind::symbol:
      return true;
    case Operand::Kind::reg:
      return is_whole_register(operand) && !writer(operand.reg, block_.end);
    default:
      return false;
    }
  }

  Origin origin(RegisterId reg, std::uint32_t before) const {
    while (const auto from = writer(reg, before)) {
      const auto operands = operands_of(*from);
      const bool copies = opcode(*from).op == Op::mov && operands.size() == 2 &&
                          is_whole_register(operands[0]) && is_whole_register(operands[1]);
      if (!copies)
        return {reg, *from};
      reg = operands[1].reg;
      before = *from;
    }
    return {reg, no_index};
  }

  // `made` is op(old, value), or op(value, old).
  bool combines(const Origin &made, const Origin &old, ExchangeLoop &loop) const {
    if (made.writer == no_index)
      return false;
    const Opcode &at = opcode(made.writer);
    const auto operands = operands_of(made.writer);
    const bool known_words =
        std::all_of(at.modifiers.begin(), at.modifiers.end(), [&](std::string_view word) {
          return word == "ftz" || word == "NaN" || word == "rn" || word == to_string(at.type);
        });
    if (!is_one_of(at.op, {Op::min, Op::max, Op::add}) || !known_words || operands.size() != 3 ||
        bit_width(at.type) != bit_width(opcode(loop.exchange).type))
      return false;
    loop.operation = at.text;
    loop.type = at.type;
    for (const bool swapped : {false, true}) {
      const Operand &first = operands[swapped ? 2 : 1], &second = operands[swapped ? 1 : 2];
      if (is_whole_register(first) && origin(first.reg, made.writer) == old && is_kept(second)) {
        loop.value = second;
        return true;
      }
    }
    return false;
  }

  // The loop goes round again if what was found is not what was expected, to the bit.
  bool ends_when_equal(const Origin &old, const Origin &found, const ExchangeLoop &loop) const {
    const Instruction &branch = kernel_.instructions[loop.branch];
    const auto test = writer(branch.guard, loop.branch);
    if (!test)
      return false;
    const Opcode &at = opcode(*test);
    const auto operands = operands_of(*test);
    const bool unequal = at.has(Modifier::ne);
    if (at.op != Op::setp || unequal == at.has(Modifier::eq) || operands.size() != 3 ||
        is_float(at.type) || bit_width(at.type) != bit_width(opcode(loop.exchange).type) ||
        !std::all_of(operands.begin(), operands.end(), is_whole_register))
      return false;
    const Origin a = origin(operands[1].reg, *test), b = origin(operands[2].reg, *test);
    const bool compares = (a == old && b == found) || (a == found && b == old);
    const bool taken_if_unequal = unequal != branch.guard_negated;
    return compares && taken_if_unequal == (block_.successors[0] == head_);
  }

  /// What a thread that goes on to the loop by a branch has found: that the value is less than what
  /// the location held (min), or greater (max), as numbers of a type.
  struct Improvement {
    Op op = Op::min;
    ScalarType type = ScalarType::none;
    std::uint32_t test = 0; ///< the instruction
    RegisterId old = no_register;
    bool operator==(const Improvement &) const = default;
  };

  // By the test that the branch of a block goes by.
  std::optional<Improvement> improvement(const BasicBlock &block, const Operand &value) const {
    const Instruction &branch = kernel_.instructions[block.branch];
    const auto test = writer(branch.guard, block.branch, block);
    if (!test || kernel_.instructions[*test].guard != no_register)
      return std::nullopt;
    const Opcode &at = opcode(*test);
    const auto operands = operands_of(*test);
    const bool less = has_only(at, {"lt", "ge"}); // that, or its opposite
    const bool holds = has_only(at, {"lt", "gt"});
    const bool goes_if_set = (block.successors[0] == id_) != branch.guard_negated;
    if (at.op != Op::setp || !has_only(at, {"lt", "le", "gt", "ge"}) || operands.size() != 3 ||
        holds != goes_if_set || !is_whole_number(at.type))
      return std::nullopt;
    const bool value_first = same(operands[1], value);
    const Operand &old = operands[value_first ? 2 : 1];
    if (!same(operands[value_first ? 1 : 2], value) || !is_whole_register(old))
      return std::nullopt;
    return Improvement{less == value_first ? Op::min : Op::max, at.type, *test, old.reg};
  }

  static bool is_whole_number(ScalarType type) {
    return type == ScalarType::s32 || type == ScalarType::u32 || type == ScalarType::s64 ||
           type == ScalarType::u64;
  }

  // The loop that is over when there is nothing to do.
  bool is_improvement(ExchangeLoop &loop, const Origin &old) const {
    const auto operands = operands_of(loop.exchange);
    const Operand &value = operands[3];
    const unsigned width = bit_width(opcode(loop.exchange).type);
    // What was found is what is expected next.
    const Origin found{operands[0].reg, loop.exchange};
    const auto again = improvement(block_, value);
    if (!is_kept(value) || old.writer != no_index || !again || bit_width(again->type) != width ||
        origin(again->old, again->test) != found || origin(old.reg, block_.end) != found ||
        block_.predecessors.size() != 2)
      return false;
    // Nobody comes to it but from the same test of what was loaded there.
    const BlockId before_id = block_.predecessors[block_.predecessors[0] == id_ ? 1 : 0];
    const BasicBlock &before = cfg_.blocks()[before_id];
    const auto leaves_to = [&](const BasicBlock &block) {
      return block.successors[block.successors[0] == id_ ? 1 : 0];
    };
    if (before_id == id_ || before.branch == no_index || before.successors.size() != 2 ||
        opcode(before.branch).op != Op::bra ||
        kernel_.instructions[before.branch].guard == no_register ||
        leaves_to(before) != leaves_to(block_) || leaves_to(before) == id_)
      return false;
    const auto first = improvement(before, value);
    if (!first || first->op != again->op || first->type != again->type || first->old != old.reg ||
        !loads_place(before, loop.exchange, old.reg, first->test))
      return false;
    become(loop, *again, before.branch);
    return true;
  }

  // The same with the test before each exchange, after which it is over, too, if it was made.
  bool tests_before(ExchangeLoop &loop) const {
    const auto operands = operands_of(loop.exchange);
    const Operand &value = operands[3];
    const BasicBlock &head = cfg_.blocks()[head_];
    const Origin old = origin(operands[2].reg, loop.exchange);
    const Origin found{operands[0].reg, loop.exchange};
    const auto other = [](const std::vector<BlockId> &two, BlockId one) {
      return two[two[0] == one ? 1 : 0];
    };
    if (head.branch == no_index || opcode(head.branch).op != Op::bra ||
        kernel_.instructions[head.branch].guard == no_register || head.successors.size() != 2 ||
        head.predecessors.size() != 2 || head.successors[0] == head.successors[1] ||
        other(head.successors, id_) != other(block_.successors, head_))
      return false;
    const BlockId before_id = other(head.predecessors, id_);
    const auto test = improvement(head, value);
    if (before_id == id_ || before_id == head_ || !test || !is_kept(value) ||
        old.writer != no_index || test->old != old.reg || origin(old.reg, block_.end) != found ||
        bit_width(test->type) != bit_width(opcode(loop.exchange).type) ||
        !ends_when_equal(old, found, loop) || test->test + 1 != head.branch ||
        test->test != head.first ||
        !loads_place(cfg_.blocks()[before_id], loop.exchange, old.reg, no_index))
      return false;
    become(loop, *test, head.branch);
    return true;
  }

  // The last that a block writes to a register is what it loads of the place of an exchange, and
  // nothing but a test reads it there. With a test, what is exchanged stays what it is behind that.
  bool loads_place(const BasicBlock &before, std::uint32_t exchange, RegisterId old,
                   std::uint32_t test) const {
    const auto operands = operands_of(exchange);
    const auto load = writer(old, test == no_index ? before.end : test, before);
    if (!load || !is_load_of_place(*load, exchange, bit_width(opcode(exchange).type)))
      return false;
    for (std::uint32_t i = *load + 1; i < before.end; ++i) {
      bool harmless = i == before.branch || is_pure(opcode(i)) || opcode(i).op == Op::ld;
      for_each_register(module_, kernel_.instructions[i], [&](RegisterId reg, RegisterUse use) {
        const bool reads = use == RegisterUse::read;
        harmless = harmless && (reads ? reg != old || i == test
                                      : reg != old && !is_in(operands[1], reg) &&
                                            (i < test || !is_in(operands[3], reg)));
      });
      if (!harmless)
        return false;
    }
    return true;
  }

  void become(ExchangeLoop &loop, const Improvement &improvement, std::uint32_t entry) const {
    loop.entry = entry;
    loop.value = operands_of(loop.exchange)[3];
    loop.type = improvement.type;
    const bool least = improvement.op == Op::min;
    loop.operation = loop.type == ScalarType::s32   ? least ? "min.s32" : "max.s32"
                     : loop.type == ScalarType::u32 ? least ? "min.u32" : "max.u32"
                     : loop.type == ScalarType::s64 ? least ? "min.s64" : "max.s64"
                     : least                        ? "min.u64"
                                                    : "max.u64";
  }

  bool is_in(const Operand &operand, RegisterId reg) const {
    const auto children = module_.children(operand);
    return (operand.kind == Operand::Kind::reg && operand.reg == reg) ||
           std::any_of(children.begin(), children.end(),
                       [&](const Operand &child) { return is_in(child, reg); });
  }

  // Of all its bits, by the same address.
  bool is_load_of_place(std::uint32_t load, std::uint32_t exchange, unsigned width) const {
    const Instruction &instruction = kernel_.instructions[load];
    const Opcode &at = opcode(load);
    const auto operands = operands_of(load);
    const bool loads =
        at.op == Op::ld && has_only(at, {"global", "weak", "volatile", "relaxed", "gpu", "sys"});
    if (!(loads || reads_by_atomic(module_, instruction)) || !instruction.well_formed ||
        instruction.guard != no_register || at.space != opcode(exchange).space ||
        is_float(at.type) || bit_width(at.type) != width || operands.size() < 2 ||
        !is_whole_register(operands[0]) || operands[1].kind != Operand::Kind::address ||
        bit_width(kernel_.registers[operands[0].reg].type) != width)
      return false;
    const Operand &place = operands_of(exchange)[1];
    const Operand &a = module_.children(operands[1])[0], &b = module_.children(place)[0];
    return operands[1].value == place.value && a.kind == Operand::Kind::reg && same(a, b);
  }

  /// Returns true if anything outside reads what the loop writes.
  bool shows(const ExchangeLoop &loop) const {
    const std::uint32_t begin = cfg_.blocks()[head_].first;
    std::vector<bool> written(kernel_.registers.size(), false);
    for (std::uint32_t i = begin; i < block_.end; ++i)
      for_each_register(module_, kernel_.instructions[i], [&](RegisterId reg, RegisterUse use) {
        written[reg] = written[reg] || use != RegisterUse::read;
      });
    bool result = false;
    for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i)
      if (i < begin || i >= block_.end)
        for_each_register(module_, kernel_.instructions[i], [&](RegisterId reg, RegisterUse use) {
          result |= written[reg] && use == RegisterUse::read &&
                    !always_written(reg, i, cfg_.blocks()[cfg_.block_of(i)]);
        });
    return result || loop.exchange == loop.branch;
  }

  // By an instruction of the block before one, whoever comes.
  bool always_written(RegisterId reg, std::uint32_t before, const BasicBlock &block) const {
    const auto from = writer(reg, before, block);
    return from && kernel_.instructions[*from].guard == no_register;
  }

  const Module &module_;
  const Function &kernel_;
  const ControlFlowGraph &cfg_;
  const BasicBlock &block_; ///< with the exchange
  const BlockId id_;
  BlockId head_ = id_; ///< to which it goes round
};

} // namespace

bool reads_by_atomic(const Module &module, const Instruction &instruction) {
  const Opcode &opcode = module.opcode(instruction);
  const auto operands = module.operands(instruction);
  if (opcode.op != Op::atom || is_float(opcode.type) || operands.size() < 3 ||
      !has_only(opcode, {"cas", "add", "or", "xor", "global", "relaxed", "gpu", "sys"}))
    return false;
  if (opcode.has(Modifier::cas))
    return operands.size() == 4 && same(operands[2], operands[3]);
  return operands.size() == 3 && operands[2].kind == Operand::Kind::integer &&
         operands[2].value == 0;
}

std::vector<ExchangeLoop> exchange_loops(const Module &module, const Function &kernel,
                                         const ControlFlowGraph &cfg) {
  std::vector<ExchangeLoop> loops;
  for (BlockId block = 0; block < cfg.blocks().size(); ++block)
    if (const auto loop = LoopReader(module, kernel, cfg, block).read())
      loops.push_back(*loop);
  return loops;
}

} // namespace ptxasw::analysis
