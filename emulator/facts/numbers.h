#pragma once

// Numbers that compilers put into registers before instructions that could have them in the text:
// member masks and lanes of `shfl.sync`, say.

#include "grammar/module.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ptxasw::facts {

/// By instruction, and one past the last: does a way lead before it on which nothing has written a
/// register? All branches of the function must have a target.
std::vector<bool> comes_unwritten(const Module &module, const Function &function, RegisterId reg);

/// Which registers of 32 bits hold one number of the text, whichever way a thread came.
class Numbers {
public:
  /// Both must outlive it. All branches of the function must have a target, or nothing is right.
  Numbers(const Module &module, const Function &function);

  /// What an operand is before an instruction: a number of the text, or a register that every
  /// instruction that may write it sets to the same number, and that one of these has set on every
  /// way from the beginning. Nothing: that is not known.
  std::optional<std::uint32_t> of(const Operand &operand, std::uint32_t instruction) const;

private:
  struct Constant {
    std::uint32_t number = 0;
    std::vector<bool> unset; ///< comes_unwritten()
  };

  const Module &module_;
  const Function &function_;
  std::vector<std::optional<std::uint32_t>> written_; ///< by register: the only number
  mutable std::map<RegisterId, Constant> known_;      ///< those that were asked for
};

} // namespace ptxasw::facts
