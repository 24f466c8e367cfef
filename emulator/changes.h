#pragma once

#include "grammar/module.h"

#include <vector>

namespace ptxasw {

/// Which instructions of two versions of a function the other one does not have.
struct Changes {
  std::vector<bool> gone;  ///< by instruction of the first
  std::vector<bool> added; ///< by instruction of the second
};

/// Compares the instructions of two functions as text, in order: as few as possible have changed.
/// Between functions that have hardly anything in common more may be called changed than need be.
Changes compare_instructions(const Module &first, const Function &before, const Module &second,
                             const Function &after);

} // namespace ptxasw
