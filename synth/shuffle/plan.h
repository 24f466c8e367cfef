#pragma once

// What is written for a kernel's reuses, as data: where lanes agree on a mask, what each load tests
// there, and where each of its values comes from. Nothing here is text but what emit() makes of it
// (emit.cpp), and nothing is decided behind it: the paper's other two variants are this plan with
// less in it.

#include "emulator/semantics/launch.h"
#include "grammar/cfg.h"
#include "grammar/edits.h"
#include "grammar/module.h"
#include "synth/proof/reuse.h"
#include "synth/rewrite.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::synth {

/// A load that is replaced. Its wrap tests are those that are none of its region's.
struct PlannedLoad : Reuse {
  std::uint32_t region = 0; ///< index of its region, if another lane is asked
  // A lane for which one of these holds, or a test fails, runs the load itself.
  bool has_corner = false; ///< a lane asked lies outside the row, or the region's tests fail
  unsigned below = 0;      ///< so many lanes of the row must lie below this one
  unsigned above = 0;      ///< and so many above
};

/// What is written for one kernel.
struct ShufflePlan {
  std::vector<Hoist> hoists; ///< of sources that serve a load
  /// Straight pieces of basic blocks in which shuffles have one mask, in the order of the text, and
  /// the tests of each, as their registers are known: all its shuffles are off where one fails.
  std::vector<std::vector<WrapTest>> regions;
  std::vector<PlannedLoad> loads; ///< in the order of the text
};

/// Plans a kernel's reuses.
ShufflePlan plan_shuffles(const Module &module, const Function &function,
                          const ControlFlowGraph &cfg, const Detection &detection);

/// The plan of a variant (paper, section 6), which computes something else on purpose: `no_corner`
/// tests nothing, `no_load` asks no other lane either.
ShufflePlan restrict_to(Variant variant, ShufflePlan plan);

/// A prefix for register names that occurs nowhere in the module.
std::string fresh_prefix(const Module &module);

/// True if `emit` wrote shuffles into the function: one has a register of such a prefix.
bool is_shuffled(const Module &module, const Function &function);

/// Writes the edits that carry out a kernel's plan (paper, section 5.2).
void emit(const Module &module, const Function &function, const ShufflePlan &plan,
          const LaunchFacts &facts, const std::string &prefix, Edits &edits);

} // namespace ptxasw::synth
