// Conditions are listed as far as the proof was given them; that pointers do not lead to the same
// memory only if there is none without it.

#include "analysis/prove/no_race.h"

#include "analysis/independence.h"
#include "analysis/prove/prove.h"

#include <fmt/core.h>

namespace ptxasw::inline analysis {

ProofAssumptions usual_launches(const Module &module, const Function &kernel) {
  ProofAssumptions assumptions;
  assumptions.disjoint = assumptions.no_wrap = true;
  const KernelIndependence found = independence(module, kernel);
  for (int axis = 0; axis < 3; ++axis)
    if (found.axes[axis].verdict == AxisVerdict::unused)
      for (const char *extent : {"ntid", "nctaid"})
        assume(fmt::format("{}.{} == 1", extent, "xyz"[axis]), assumptions);
  return assumptions;
}

NoRace no_race(const Module &module, const Function &kernel) {
  NoRace result;
  ProofAssumptions assumptions = usual_launches(module, kernel);
  ProofOptions options;
  options.questions /= 5;
  options.explains = false;
  for (const bool disjoint : {false, true}) {
    assumptions.disjoint = disjoint;
    const KernelProof proof = prove_safety(module, kernel, assumptions, options);
    if (proof.races.verdict != ProofVerdict::proved)
      continue;
    result.proved = true;
    result.conditions.emplace_back("index arithmetic does not overflow");
    if (!assumptions.relations.empty())
      result.conditions.emplace_back("an axis that is not used has one thread and one block");
    if (disjoint)
      result.conditions.emplace_back("no two pointers or variables lead to the same memory");
    break;
  }
  return result;
}

} // namespace ptxasw::analysis
