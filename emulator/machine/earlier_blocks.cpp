// From a block upwards, as long as there is one way in, branches say what a register is and is not.
// Where ways join, the writes of the register that reach this place are looked at: if each gives it
// a number that is written out, and only one gives it a number that the branches let through, then
// that one ran last of them. It ran once if it lies on no cycle.

#include "emulator/machine/earlier_blocks.h"

#include "grammar/roles.h"

#include <algorithm>

namespace ptxasw::emulator {

std::optional<std::uint32_t> EarlierBlocks::last_write(BlockId block, std::uint32_t end,
                                                       RegisterId reg) const {
  for (std::uint32_t i = end; i-- > cfg_.blocks()[block].first;) {
    bool writes = false;
    for_each_register(module_, function_.instructions[i], [&](RegisterId other, RegisterUse use) {
      writes |= other == reg && use != RegisterUse::read;
    });
    if (writes || !function_.instructions[i].well_formed)
      return i;
  }
  return std::nullopt;
}

// `setp.eq %p, %r, 5; @%p bra ...;`, both in one block.
std::optional<EarlierBlocks::Answer> EarlierBlocks::answer_on_edge(BlockId from, BlockId to) const {
  const BasicBlock &block = cfg_.blocks()[from];
  if (block.branch == no_index || block.successors.size() != 2 ||
      block.successors[0] == block.successors[1])
    return std::nullopt;
  const Instruction &branch = function_.instructions[block.branch];
  if (module_.opcode(branch).op != Op::bra || branch.guard == no_register)
    return std::nullopt;
  const auto test = last_write(from, block.branch, branch.guard);
  if (!test)
    return std::nullopt;
  const Instruction &setp = function_.instructions[*test];
  const Opcode &opcode = module_.opcode(setp);
  const auto operands = module_.operands(setp);
  const bool is_equal = opcode.has(Modifier::eq), is_unequal = opcode.has(Modifier::ne);
  if (opcode.op != Op::setp || is_equal == is_unequal || setp.guard != no_register ||
      !setp.well_formed || operands.size() != 3 || bit_width(opcode.type) != 32 ||
      is_float(opcode.type) || operands[0].kind != Operand::Kind::reg ||
      operands[1].kind != Operand::Kind::reg || operands[2].kind != Operand::Kind::integer ||
      last_write(from, block.end, operands[1].reg) > test)
    return std::nullopt;
  const bool holds = (to == block.successors[0]) != branch.guard_negated;
  return Answer{operands[1].reg, operands[2].value & 0xffffffff, holds == is_equal};
}

bool EarlierBlocks::leads_to(BlockId from, BlockId to) const {
  return reached_from(cfg_, from, [](BlockId, BlockId) { return true; }).contains(to);
}

// Up to the block that has run before this one, if none in between may write the register, or else
// through the only way in.
std::optional<std::uint32_t> EarlierBlocks::writer_at_end(BlockId block, RegisterId reg) {
  for (std::size_t steps = cfg_.blocks().size(); steps > 0; --steps) {
    if (const auto write = last_write(block, cfg_.blocks()[block].end, reg))
      return write;
    const auto earlier = leads_to(block, block) ? std::nullopt : before(block);
    bool is_written = false; // in between
    for (BlockId at = 0; earlier && at < cfg_.blocks().size(); ++at)
      is_written |= last_write(at, cfg_.blocks()[at].end, reg) && leads_to(*earlier, at) &&
                    leads_to(at, block);
    const auto &ways = cfg_.blocks()[block].predecessors;
    if (earlier && !is_written)
      block = *earlier;
    else if (ways.size() == 1 && block != 0)
      block = ways[0];
    else
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<BlockId> EarlierBlocks::source(BlockId top,
                                             const std::vector<Answer> &answers) const {
  const RegisterId reg = answers.front().reg;
  std::optional<BlockId> found;
  std::vector<bool> seen(cfg_.blocks().size(), false);
  std::vector<BlockId> open{top};
  while (!open.empty()) {
    const BlockId block = open.back();
    open.pop_back();
    if (block == 0) // the register may hold anything
      return std::nullopt;
    for (const BlockId before : cfg_.blocks()[block].predecessors) {
      if (seen[before] || !cfg_.reachable(before))
        continue;
      seen[before] = true;
      const auto write = last_write(before, cfg_.blocks()[before].end, reg);
      if (!write) {
        open.push_back(before);
        continue;
      }
      const Instruction &mov = function_.instructions[*write];
      const auto operands = module_.operands(mov);
      if (module_.opcode(mov).op != Op::mov || mov.guard != no_register || !mov.well_formed ||
          operands.size() != 2 || operands[0].kind != Operand::Kind::reg ||
          operands[0].selector != 0 || operands[1].kind != Operand::Kind::integer)
        return std::nullopt;
      const std::int64_t number = operands[1].value & 0xffffffff;
      if (!std::all_of(answers.begin(), answers.end(), [&](const Answer &answer) {
            return (answer.number == number) == answer.equal;
          }))
        continue;
      if (found)
        return std::nullopt;
      found = before;
    }
  }
  return found;
}

std::optional<BlockId> EarlierBlocks::before(BlockId block) {
  known_.resize(cfg_.blocks().size());
  if (!known_[block])
    known_[block] = find_before(block);
  return *known_[block];
}

std::optional<BlockId> EarlierBlocks::find_before(BlockId block) const {
  std::vector<Answer> answers;
  BlockId top = block;
  for (std::size_t steps = cfg_.blocks().size(); steps > 0 && top != 0; --steps) {
    const auto &ways = cfg_.blocks()[top].predecessors;
    if (ways.size() != 1)
      break;
    const auto answer = answer_on_edge(ways[0], top);
    if (answers.empty() && !answer)
      return std::nullopt;
    if (answer && (answers.empty() || answer->reg == answers.front().reg))
      answers.push_back(*answer);
    if (last_write(ways[0], cfg_.blocks()[ways[0]].end, answers.front().reg))
      return std::nullopt;
    top = ways[0];
  }
  const auto found = answers.empty() ? std::nullopt : source(top, answers);
  return found && !leads_to(*found, *found) ? found : std::nullopt;
}

} // namespace ptxasw::emulator
