// What is proposed: along each axis that the kernel's blocks are numbered on, four blocks by one
// (which measures best most often), then two, then eight.

#include "synth/retile/retile.h"

#include "emulator/warp_launch.h"
#include "synth/retile/obstacle.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw {
namespace {

constexpr Refusal unused{"axis-unused", "the kernel does not ask for its block's index"};
/// Instructions that one sibling may have.
constexpr std::size_t size_budget = 100'000;
constexpr Refusal too_large{"budget", "the sibling would be too large"};

Proposal proposal_for(const Function &kernel, int axis, unsigned factor) {
  Proposal proposal;
  proposal.family = "retile";
  proposal.axis = axis;
  proposal.factor = factor;
  proposal.variant = fmt::format("{}{}", "xyz"[axis], factor);
  Sibling &sibling = proposal.sibling;
  sibling.name = fmt::format("{}__ptxasw_retile_apart_{}", kernel.name, proposal.variant);
  sibling.family = proposal.family;
  sibling.kind = "apart";
  sibling.grid[static_cast<std::size_t>(axis)] = factor;
  sibling.appended = {"xyz"[axis]};
  return proposal;
}

/// Instructions of the sibling at most: the copies, the kernel, and for each branch what leaves.
std::size_t size_of(const Function &kernel, unsigned factor) {
  std::size_t branches = 1;
  for (const Instruction &instruction : kernel.instructions)
    branches += instruction.guard != no_register;
  return (factor + 1) * kernel.instructions.size() +
         branches * factor * (kernel.registers.size() / 4 + 6);
}

} // namespace

FamilyAnswer propose_retile(const Module &module, const Function &kernel) {
  FamilyAnswer answer;
  if (const auto obstacle = retile_obstacle(module, kernel)) {
    answer.refusals.push_back(*obstacle);
    return answer;
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (!mentions_special(module, kernel, block_index_name(axis)))
      continue;
    for (const unsigned factor : {4u, 2u, 8u}) {
      if (size_of(kernel, factor) <= size_budget)
        answer.proposals.push_back(proposal_for(kernel, axis, factor));
      else if (answer.refusals.empty())
        answer.refusals.push_back(too_large);
    }
  }
  if (answer.proposals.empty() && answer.refusals.empty())
    answer.refusals.push_back(unused);
  return answer;
}

} // namespace ptxasw
