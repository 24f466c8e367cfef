// A branch is told by what its condition is made of. Comparisons of a sum of lanes with what all
// lanes share are monotone in the lane: along a row at most one warp is cut.

#include "emulator/facts/branch.h"

#include "emulator/facts/address_form.h"

#include <array>

namespace ptxasw::facts {
namespace {

/// Finds a warp in which the condition differs. False if there is none.
bool find_parting(const Layout &layout, const std::vector<std::uint64_t> &values,
                  const std::vector<bool> *active, Branch &branch) {
  for (std::uint32_t w = 0; w < layout.warps.size(); ++w) {
    const WarpThreads &warp = layout.warps[w];
    std::optional<std::uint32_t> one;
    for (std::uint32_t lane = 0; lane < warp.count; ++lane) {
      const std::size_t thread = warp.first + lane;
      if (active && !(*active)[thread])
        continue;
      if (!one)
        one = lane;
      else if (values[thread] != values[warp.first + *one]) {
        branch.warp = w;
        branch.lanes[0] = *one;
        branch.lanes[1] = lane;
        return true;
      }
    }
  }
  return false;
}

/// Whether it is a comparison that holds below some lane and not above, or the other way round.
bool cuts_once(Emulation &emulation, LaneValues &lanes, Expr condition, BlockId block) {
  // A negation is 1 + condition, in one bit.
  while (condition->kind == ExprKind::sum && condition->width == 1 && condition->child_count == 1)
    condition = condition->children[0];
  if (condition->kind != ExprKind::ult && condition->kind != ExprKind::slt)
    return false;
  for (const Expr side : condition->operands()) {
    const AddressForm form = address_form(emulation, lanes, side, block);
    if (!form.is_linear() || !form.strides.empty() || !form.of_lane.empty())
      return false;
  }
  return true;
}

} // namespace

std::string_view to_string(Parting parting) {
  static constexpr std::array<std::string_view, 5> names{"never", "by-lane", "at-edge", "by-launch",
                                                         "by-data"};
  return names[static_cast<std::size_t>(parting)];
}

Branch branch_at(Emulation &emulation, LaneValues &lanes, BlockId block,
                 const std::vector<bool> *active) {
  const ControlFlowGraph &cfg = emulation.cfg();
  Branch branch;
  branch.block = block;
  branch.instruction = cfg.blocks()[block].branch;
  branch.loop = cfg.loop_of(block);
  const Expr choice = emulation.branch_choice(block);
  branch.condition = choice ? emulation.expand(choice) : nullptr;
  for (LoopId loop = branch.loop; loop != no_index; loop = cfg.loops()[loop].parent) {
    bool all_stay = !cfg.blocks()[block].successors.empty();
    for (const BlockId to : cfg.blocks()[block].successors)
      all_stay = all_stay && cfg.contains(loop, to);
    // An exit with a guard leaves every loop.
    if (!all_stay || cfg.blocks()[block].successors.size() == 1)
      branch.leaves = loop;
  }
  if (!branch.condition)
    return branch;
  if (const auto *values = lanes(branch.condition)) {
    branch.parting =
        find_parting(lanes.layout(), *values, active, branch) ? Parting::by_lane : Parting::never;
    return branch;
  }
  if (!emulation.in_step(block))
    return branch;
  if (emulation.uniform(branch.condition, block))
    branch.parting = Parting::never;
  else if (emulation.uniform_but_lane(branch.condition, block))
    branch.parting = cuts_once(emulation, lanes, branch.condition, block) ? Parting::at_edge
                                                                          : Parting::by_launch;
  return branch;
}

} // namespace ptxasw::facts
