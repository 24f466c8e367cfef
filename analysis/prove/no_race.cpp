// Conditions are listed as far as the proof was given them; that pointers do not lead to the same
// memory only if there is none without it.

#include "analysis/prove/no_race.h"

#include "analysis/prove/prove.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::analysis {
namespace {

/// For a proof without disjoint memory, where there is one with it; as in prove.h.
constexpr std::uint64_t effort_on_less = 2'000'000;

/// True if an instruction of the kernel itself reads an index along an axis.
bool reads_axis(const Module &module, const Function &kernel, char axis) {
  for (const Instruction &instruction : kernel.instructions)
    for (const Operand &operand : module.operands(instruction)) {
      if (operand.kind != Operand::Kind::special)
        continue;
      const std::string_view name = module.text(operand.span);
      if ((name.starts_with("%tid") || name.starts_with("%ctaid")) &&
          (name.back() == axis || name.find('.') == name.npos))
        return true;
    }
  return false;
}

} // namespace

ProofAssumptions usual_launches(const Module &module, const Function &kernel) {
  ProofAssumptions assumptions;
  assumptions.disjoint = assumptions.no_wrap = true;
  for (const char axis : {'x', 'y', 'z'})
    if (!reads_axis(module, kernel, axis))
      for (const char *extent : {"ntid", "nctaid"})
        assume(fmt::format("{}.{} == 1", extent, axis), assumptions);
  return assumptions;
}

NoRace no_race(const Module &module, const Function &kernel, std::uint64_t effort) {
  NoRace result;
  ProofAssumptions assumptions = usual_launches(module, kernel);
  ProofOptions options;
  options.questions /= 5;
  options.explains = false;
  const auto is_proved = [&](bool disjoint, std::uint64_t most) {
    assumptions.disjoint = disjoint;
    options.effort = std::min(most, effort - std::min(effort, result.effort));
    const KernelProof proof = prove_safety(module, kernel, assumptions, options);
    result.effort += proof.effort;
    return proof.races.verdict == ProofVerdict::proved;
  };
  result.proved = is_proved(true, effort);
  if (!result.proved)
    return result;
  result.conditions.emplace_back("index arithmetic does not overflow");
  if (!assumptions.relations.empty())
    result.conditions.emplace_back("an axis that is not used has one thread and one block");
  if (!is_proved(false, effort_on_less))
    result.conditions.emplace_back("no two pointers or variables lead to the same memory");
  return result;
}

} // namespace ptxasw::analysis
