#pragma once

// Loads of what nothing writes as long as the kernel runs, by the text alone.

#include "emulator/facts/origins.h"
#include "synth/cache/writers.h"

#include <optional>
#include <string>

namespace ptxasw::inline synth::cache {

class Unwritten {
public:
  /// `apart`: arrays that different parameters lead to do not overlap (arrays_apart).
  Unwritten(const Module &module, const Function &kernel, bool apart)
      : module_(module), kernel_(kernel), apart_(apart), writers_(writers_of(module, kernel)) {}

  const Writers &writers() const { return writers_; }
  /// Why something might write what a load reads; empty: nothing does.
  std::string fault(const Instruction &load);

private:
  std::set<facts::Origin> address(const Instruction &access, std::size_t operand) const;

  const Module &module_;
  const Function &kernel_;
  const bool apart_;
  const Writers writers_;
  std::optional<facts::Origins> origins_; ///< once they are asked for
};

} // namespace ptxasw::synth::cache
