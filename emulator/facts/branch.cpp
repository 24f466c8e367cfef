// A branch is described by what its condition is made of. Comparisons of a sum of lanes with what
// all lanes share are monotone in the lane: along a row at most one warp is cut.

#include "emulator/facts/branch.h"

#include "emulator/facts/address_form.h"

#include <algorithm>
#include <array>
#include <cstdlib>

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

/// A comparison that holds below some lane and not above, or the reverse.
struct Cut {
  std::int64_t a_lane = 0; ///< by how much a lane more changes what is compared with the limit
  std::int64_t an_iteration =
      0; ///< and an iteration of the innermost loop; 0: not known in numbers
};

std::optional<Cut> cut_by(Emulation &emulation, LaneValues &lanes, Expr condition, BlockId block) {
  // A negation is 1 + condition, in one bit.
  while (condition->kind == ExprKind::sum && condition->width == 1 && condition->child_count == 1)
    condition = condition->children[0];
  if (condition->kind != ExprKind::ult && condition->kind != ExprKind::slt)
    return std::nullopt;
  const LoopId loop = emulation.cfg().loop_of(block);
  Cut cut;
  std::int64_t sign = 1;
  for (const Expr side : condition->operands()) {
    const AddressForm form = address_form(emulation, lanes, side, block);
    if (!form.is_linear() || !form.strides.empty() || !form.of_lane.empty())
      return std::nullopt;
    cut.a_lane += sign * (form.tid[0] + form.laneid);
    for (const Term &term : form.loops)
      if (loop != no_index)
        for_each_node(term.atom, [&](Expr node) {
          if (node == emulation.trip_count(loop))
            cut.an_iteration += sign * term.factor;
        });
    sign = -sign;
  }
  return cut;
}

/// Returns true if two lanes of a warp differ in an expression only where a quotient of the lane
/// steps to the next number: iterations that an unrolled loop over a grid has left, ((n - 1 - i) /
/// step
/// + 1) & 3. Where the step is not known it counts as large; two warps long it has to be.
bool steps_seldom(Emulation &emulation, LaneValues &lanes, Expr expr, BlockId block) {
  if (emulation.uniform(expr, block))
    return true;
  const bool division = expr->kind == ExprKind::udiv || expr->kind == ExprKind::sdiv;
  const bool shift = expr->kind == ExprKind::extract && expr->index > 0;
  if (division || shift) {
    const AddressForm form = address_form(emulation, lanes, expr->children[0], block);
    std::int64_t step = shift ? std::int64_t{1} << std::min(expr->index, 62u) : 0;
    if (division && expr->children[1]->kind == ExprKind::constant)
      step = as_signed(expr->children[1]->value.low, expr->width);
    const bool fixed = shift || emulation.uniform(expr->children[1], block);
    const std::int64_t a_lane = std::abs(form.tid[0] + form.laneid);
    if (fixed && form.is_linear() && form.strides.empty() && form.of_lane.empty() &&
        form.tid[1] == 0 && form.tid[2] == 0 &&
        (step == 0 || step >= 2 * std::int64_t{warp_lanes} * a_lane))
      return true;
  }
  return expr->kind != ExprKind::symbol && expr->child_count > 0 &&
         std::all_of(expr->operands().begin(), expr->operands().end(),
                     [&](Expr child) { return steps_seldom(emulation, lanes, child, block); });
}

/// Returns true if the limit passes through a warp in such small steps that its lanes leave a loop
/// one after the other, instead of all but the last at once.
bool is_slow(const Cut &cut) {
  return cut.an_iteration != 0 && std::abs(cut.an_iteration) < std::abs(cut.a_lane) * warp_lanes;
}

} // namespace

std::string_view to_string(Parting parting) {
  static constexpr std::array<std::string_view, 5> names{"never", "by-lane", "at-edge", "by-launch",
                                                         "by-data"};
  return names[static_cast<std::size_t>(parting)];
}

Branch branch_at(Emulation &emulation, LaneValues &lanes, BlockId block, Expr condition,
                 const std::vector<bool> *active) {
  const ControlFlowGraph &cfg = emulation.cfg();
  Branch branch;
  branch.block = block;
  branch.instruction = cfg.blocks()[block].branch;
  branch.loop = cfg.loop_of(block);
  branch.condition = condition;
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
  else if (emulation.uniform_but_lane(branch.condition, block)) {
    const auto cut = cut_by(emulation, lanes, branch.condition, block);
    const bool at_edge = (cut && !(branch.leaves != no_index && is_slow(*cut))) ||
                         steps_seldom(emulation, lanes, branch.condition, block);
    branch.parting = at_edge ? Parting::at_edge : Parting::by_launch;
  }
  return branch;
}

} // namespace ptxasw::facts
