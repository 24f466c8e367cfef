// The loop is one block. What it reads and writes is followed backwards through `mov`s within it.
//
// A compare-and-swap that finds what it expected has stored op(old, value) over `old`, whatever
// `old` was guessed at first; only then is the loop left. So a thread adds `value` to the location
// exactly once. Minimum and maximum commute to the bit: -0 is less than +0, of a NaN and a number
// the number remains, of two NaNs the canonical one (PTX ISA 9.7.3.11, 9.7.3.12). What the loop
// computes on the way depends on who comes when, so nothing behind it may read that.

#include "analysis/exchange_loops.h"

#include "emulator/semantics/effects.h"
#include "grammar/roles.h"

#include <algorithm>
#include <optional>

namespace ptxasw::inline analysis {
namespace {

/// A register as it is in the middle of a block: by which instruction of the block it was written,
/// `no_index` if by none.
struct Origin {
  RegisterId reg = no_register;
  std::uint32_t writer = no_index;
  bool operator==(const Origin &) const = default;
};

bool is_whole_register(const Operand &operand) {
  return operand.kind == Operand::Kind::reg && operand.selector == 0 && !operand.negated;
}

class LoopReader {
public:
  LoopReader(const Module &module, const Function &kernel, const ControlFlowGraph &cfg, BlockId id)
      : module_(module), kernel_(kernel), block_(cfg.blocks()[id]), id_(id) {}

  std::optional<ExchangeLoop> read() const {
    ExchangeLoop loop;
    if (!goes_round(loop) || !only_exchanges(loop) || shows(loop))
      return std::nullopt;
    const auto operands = operands_of(loop.exchange);
    const Origin old = origin(operands[2].reg, loop.exchange);
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

  bool goes_round(ExchangeLoop &loop) const {
    const auto &next = block_.successors;
    loop.branch = block_.branch;
    return loop.branch != no_index && opcode(loop.branch).op == Op::bra &&
           kernel_.instructions[loop.branch].guard != no_register && next.size() == 2 &&
           (next[0] == id_) != (next[1] == id_);
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

  std::optional<std::uint32_t> writer(RegisterId reg, std::uint32_t before) const {
    for (std::uint32_t i = before; i-- > block_.first;)
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
    return compares && taken_if_unequal == (block_.successors[0] == id_);
  }

  /// Returns true if anything outside reads what the loop writes.
  bool shows(const ExchangeLoop &loop) const {
    std::vector<bool> written(kernel_.registers.size(), false);
    for (std::uint32_t i = block_.first; i < block_.end; ++i)
      for_each_register(module_, kernel_.instructions[i], [&](RegisterId reg, RegisterUse use) {
        written[reg] = written[reg] || use != RegisterUse::read;
      });
    bool result = false;
    for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i)
      if (i < block_.first || i >= block_.end)
        for_each_register(module_, kernel_.instructions[i], [&](RegisterId reg, RegisterUse use) {
          result |= written[reg] && use == RegisterUse::read;
        });
    return result || loop.exchange == loop.branch;
  }

  const Module &module_;
  const Function &kernel_;
  const BasicBlock &block_;
  const BlockId id_;
};

} // namespace

std::vector<ExchangeLoop> exchange_loops(const Module &module, const Function &kernel,
                                         const ControlFlowGraph &cfg) {
  std::vector<ExchangeLoop> loops;
  for (BlockId block = 0; block < cfg.blocks().size(); ++block)
    if (const auto loop = LoopReader(module, kernel, cfg, block).read())
      loops.push_back(*loop);
  return loops;
}

} // namespace ptxasw::analysis
