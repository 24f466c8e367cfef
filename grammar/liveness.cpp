// Which registers are read later, backwards over the control flow until nothing changes. A guarded
// write keeps the old value in lanes that it skips, so it ends no life.

#include "grammar/liveness.h"

#include "grammar/roles.h"

namespace ptxasw::ptx {

Liveness::Liveness(const Module &module, const Function &function, const ControlFlowGraph &cfg)
    : index_of_(function.registers.size(), no_index) {
  const auto &blocks = cfg.blocks();
  // A register crosses blocks if some block reads it before writing it.
  std::vector<BlockId> written_in(function.registers.size(), no_index);
  std::uint32_t crossing = 0;
  for (BlockId b = 0; b < blocks.size(); ++b)
    for (std::uint32_t i = blocks[b].first; i < blocks[b].end; ++i) {
      const Instruction &instruction = function.instructions[i];
      for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
        if (use == RegisterUse::read && written_in[reg] != b && index_of_[reg] == no_index)
          index_of_[reg] = crossing++;
      });
      for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
        if (use == RegisterUse::written)
          written_in[reg] = b;
      });
    }
  for (const RegisterId reg : function.return_registers)
    if (index_of_[reg] == no_index)
      index_of_[reg] = crossing++;
  words_ = (crossing + 63) / 64;
  constexpr std::size_t most_words = std::size_t{64} << 20 >> 3;
  if ((too_large_ = words_ * blocks.size() > most_words))
    return;
  in_.assign(words_ * blocks.size(), 0);
  out_ = in_;
  std::vector<Word> kill = in_;
  const auto set = [&](std::vector<Word> &bits, BlockId block, std::uint32_t index) {
    bits[block * words_ + index / 64] |= Word{1} << (index % 64);
  };
  for (BlockId b = 0; b < blocks.size(); ++b)
    for (std::uint32_t i = blocks[b].first; i < blocks[b].end; ++i) {
      const Instruction &instruction = function.instructions[i];
      for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
        const std::uint32_t index = index_of_[reg];
        if (index != no_index && use == RegisterUse::read && !bit(kill, b, reg))
          set(in_, b, index);
      });
      for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
        if (index_of_[reg] != no_index && use == RegisterUse::written)
          set(kill, b, index_of_[reg]);
      });
    }
  // A function's results are read where it is left.
  const auto leaves = [&](BlockId b) {
    if (blocks[b].first == blocks[b].end)
      return blocks[b].successors.empty();
    const Instruction &last = function.instructions[blocks[b].end - 1];
    return module.opcode(last).op == Op::ret || blocks[b].successors.empty();
  };
  std::vector<Word> returned(words_, 0);
  for (const RegisterId reg : function.return_registers)
    returned[index_of_[reg] / 64] |= Word{1} << (index_of_[reg] % 64);
  const auto &order = cfg.reverse_postorder();
  for (bool changed = true; changed;) {
    changed = false;
    for (auto position = order.size(); position-- > 0;) {
      const BlockId b = order[position];
      for (std::size_t w = 0; w < words_; ++w) {
        Word out = leaves(b) ? returned[w] : 0;
        for (const BlockId successor : blocks[b].successors)
          out |= in_[successor * words_ + w];
        const Word in = in_[b * words_ + w] | (out & ~kill[b * words_ + w]);
        out_[b * words_ + w] = out;
        if (in != in_[b * words_ + w]) {
          in_[b * words_ + w] = in;
          changed = true;
        }
      }
    }
  }
}

bool Liveness::bit(const std::vector<Word> &bits, BlockId block, RegisterId reg) const {
  const std::uint32_t index = index_of_[reg];
  return index != no_index &&
         (too_large_ || (bits[block * words_ + index / 64] >> (index % 64) & 1) != 0);
}

bool Liveness::live_in(BlockId block, RegisterId reg) const { return bit(in_, block, reg); }
bool Liveness::live_out(BlockId block, RegisterId reg) const { return bit(out_, block, reg); }

} // namespace ptxasw::ptx
