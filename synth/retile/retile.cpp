// What is proposed: first rows whose loads several of them share, then, along each axis that the
// kernel's blocks are numbered on, four blocks by one (which measures best most often), two, eight.

#include "synth/retile/retile.h"

#include "synth/retile/merge.h"
#include "synth/retile/obstacle.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw {
namespace {

constexpr Refusal unused{"axis-unused", "the kernel does not ask for its block's index"};
/// Instructions that one sibling may have.
constexpr std::size_t size_budget = 100'000;
constexpr Refusal too_large{"budget", "the sibling would be too large"};

Proposal proposal_for(const Function &kernel, int axis, unsigned factor, bool rows) {
  Proposal proposal;
  proposal.family = "retile";
  proposal.axis = axis;
  proposal.factor = factor;
  proposal.variant = fmt::format("{}{}{}", "xyz"[axis], factor, rows ? "-rows" : "");
  Sibling &sibling = proposal.sibling;
  sibling.family = proposal.family;
  sibling.kind = rows ? "rows" : "apart";
  sibling.name =
      fmt::format("{}__ptxasw_retile_{}_{}{}", kernel.name, sibling.kind, "xyz"[axis], factor);
  sibling.grid[static_cast<std::size_t>(axis)] = factor;
  sibling.appended = {"xyz"[axis]};
  if (rows)
    sibling.needs.blocks = row_blocks(axis);
  return proposal;
}

/// Instructions of the sibling at most: the copies together and alone, and for each branch what
/// leaves.
std::size_t size_of(const Function &kernel, unsigned factor) {
  std::size_t branches = 1;
  for (const Instruction &instruction : kernel.instructions)
    branches += instruction.guard != no_register;
  return 2 * factor * kernel.instructions.size() +
         branches * factor * (kernel.registers.size() / 4 + 6);
}

} // namespace

const std::vector<std::array<std::uint32_t, 3>> &row_blocks(int axis) {
  static const auto shapes = [] {
    std::array<std::vector<std::array<std::uint32_t, 3>>, 3> by_axis;
    constexpr std::uint32_t most = 1024, warp = 32;
    for (std::uint32_t x = warp; x <= most; x += warp)
      by_axis[1].push_back({x, 1, 1});
    for (std::uint32_t x = 1; x <= most; x *= 2)
      for (std::uint32_t y = 1; x * y <= most; y *= 2)
        if (x * y >= warp)
          by_axis[2].push_back({x, y, 1});
    return by_axis;
  }();
  return shapes[static_cast<std::size_t>(axis)];
}

FamilyAnswer propose_retile(const Module &module, const Function &kernel) {
  FamilyAnswer answer;
  if (const auto obstacle = retile_obstacle(module, kernel)) {
    answer.refusals.push_back(*obstacle);
    return answer;
  }
  for (const bool rows : {true, false})
    for (int axis = rows ? 1 : 0; axis < 3; ++axis) {
      if (!mentions_special(module, kernel, block_index_name(axis)))
        continue;
      for (const unsigned factor : {4u, 2u, 8u}) {
        if (size_of(kernel, factor) > size_budget) {
          if (answer.refusals.empty())
            answer.refusals.push_back(too_large);
          continue;
        }
        if (!rows || !merged_loads(module, kernel, axis, factor).empty())
          answer.proposals.push_back(proposal_for(kernel, axis, factor, rows));
      }
    }
  if (answer.proposals.empty() && answer.refusals.empty())
    answer.refusals.push_back(unused);
  return answer;
}

} // namespace ptxasw
