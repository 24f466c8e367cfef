#pragma once

// For whatever rests on threads not racing: is that proved, or assumed?
//   no_race(module, kernel).text() // "no race (proved)"

#include "analysis/prove/races.h"

#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::analysis {

struct NoRace {
  bool proved = false;
  std::vector<std::string> conditions; ///< of the proof, in words
  std::uint64_t effort = 0;            ///< that it took, in the solver's units
  std::string_view text() const { return proved ? "no race (proved)" : "no race (assumed)"; }
};

/// Launches as people make them: no two pointers or variables lead to the same memory, index
/// arithmetic does not overflow, and axes along which the kernel reads no index have one thread
/// and one block.
ProofAssumptions usual_launches(const Module &module, const Function &kernel);

/// Looks for a proof for these launches, within a fraction of the questions of `prove`, and the
/// effort, in the solver's units.
NoRace no_race(const Module &module, const Function &kernel,
               std::uint64_t effort = ProofOptions().effort);

} // namespace ptxasw::analysis
