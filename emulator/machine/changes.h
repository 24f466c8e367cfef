#pragma once

// What verify() has to see executed: it searches for launches until every instruction that a
// rewrite added or took away has run.

#include "grammar/module.h"

#include <vector>

namespace ptxasw::emulator {

/// The instructions of two versions of a function that the other one does not have.
struct Changes {
  std::vector<bool> gone;  ///< by instruction of the first
  std::vector<bool> added; ///< by instruction of the second
};

/// Compares the instructions of two functions as text, in order: as few as possible have changed.
/// For functions that have hardly anything in common, more than necessary may be reported as
/// changed.
Changes compare_instructions(const Module &first, const Function &before, const Module &second,
                             const Function &after);

} // namespace ptxasw::emulator
