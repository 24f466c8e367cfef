#pragma once

// Which sums of registers may be equal where a loop is entered. A guess: what is guessed here is
// tested by the text that is written, and nothing rests on it.

#include "emulator/facts/word_atoms.h"

#include "grammar/cfg.h"

#include <cstdint>
#include <vector>

namespace ptxasw::facts {

class Guess {
public:
  Guess(const Module &module, const Function &function, const ControlFlowGraph &cfg, LoopId loop);

  /// Returns true if a sum of what registers hold where the loop is entered is 0 in all examples.
  bool is_zero(const Polynomial &value, const Atoms &atoms) const;

private:
  struct Example;
  std::uint64_t value(const Polynomial &value, const Atoms &atoms, Example &example) const;
  std::uint64_t at_entry(RegisterId reg, Example &example) const;
  std::uint64_t computed(std::uint32_t instruction, Example &example) const;
  std::uint64_t operand(const Operand &operand, Example &example) const;

  const Module &module_;
  const Function &function_;
  const ControlFlowGraph &cfg_;
  const LoopId loop_;
  std::vector<std::vector<std::uint32_t>> before_; ///< by register: who writes it outside the loop
};

} // namespace ptxasw::facts
