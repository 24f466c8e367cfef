// How often a loop iterates is found by computing its exits' conditions: up to the first iteration
// at whose end they hold. Conditions that once true stay true (`i < n` with i counting up) are
// searched by doubling and halving; one that compares for equality is solved as a line through its
// values in the first two iterations. What was found is tried; where nothing is, a guess stands.

#include "analysis/cost/warp_walk.h"

#include <algorithm>
#include <bit>

namespace ptxasw::analysis::cost {
namespace {

constexpr std::uint64_t window = 8;        ///< iterations of an innermost loop, and a first one
constexpr std::uint64_t guess = 16;        ///< iterations of a loop about which nothing is known
constexpr std::uint64_t most = 1ull << 32; ///< iterations

/// How often the code behind a branch that depends on data runs.
constexpr double behind_data = 0.25, behind_rare = 0.01;

template <class Visit> void for_each_lane(LaneMask mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1)
    visit(static_cast<unsigned>(std::countr_zero(mask)));
}

} // namespace

WarpWalk::WarpWalk(Kernel &kernel) : kernel_(kernel), regions_(kernel.loops().size() + 1) {
  const LaneValues &values = kernel.values();
  std::vector<bool> placed(kernel.loops().size());
  for (const CodeBlock &block : kernel.blocks()) {
    // The loops around it that have not been met yet stand where their first block does.
    for (LoopId loop = block.loop; loop != no_index && !placed[loop];
         loop = kernel.loops()[loop].parent) {
      placed[loop] = true;
      Region &around = region(kernel.loops()[loop].parent);
      around.items.push_back({nullptr, loop});
      around.innermost = false;
    }
    Region &around = region(block.loop);
    around.items.push_back({&block, no_index});
    for (const Condition &condition : block.conditions)
      around.slots.push_back(condition.slot);
    for (const Access &access : block.accesses) {
      around.slots.push_back(access.address);
      if (access.guard != ~0u)
        around.slots.push_back(access.guard);
    }
  }
  for (Region &r : regions_)
    r.slots = values.needed_for(r.slots);
  for (const KernelLoop &loop : kernel.loops()) {
    auto &slots = exit_slots_.emplace_back();
    auto &comparisons = comparisons_.emplace_back();
    for (const LoopExit &exit : loop.exits) {
      slots.push_back(exit.slot == ~0u ? std::vector<std::uint32_t>{}
                                       : values.needed_for({exit.slot}));
      comparisons.push_back(exit.slot == ~0u
                                ? std::vector<std::pair<std::uint32_t, std::uint32_t>>{}
                                : values.comparisons_in(exit.slot));
    }
  }
}

void WarpWalk::run(Moment moment, const std::function<void(const Step &)> &visit) {
  moment_ = std::move(moment);
  moment_.iteration.assign(kernel_.loops().size(), Lanes{});
  visit_ = &visit;
  const std::uint64_t threads = moment_.block.count();
  const std::uint64_t here = std::min<std::uint64_t>(warp_lanes, threads - moment_.first);
  enter(no_index, here == warp_lanes ? ~LaneMask{0} : (LaneMask{1} << here) - 1, 1);
}

LaneMask WarpWalk::holding(const Condition &condition) const {
  const std::uint64_t *values = kernel_.values()[condition.slot];
  LaneMask mask = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    if ((values[lane] != 0) == condition.holds)
      mask |= LaneMask{1} << lane;
  return mask;
}

void WarpWalk::enter(LoopId loop, LaneMask mask, double weight) {
  Region &here = region(loop);
  bool computed = false;
  for (const Item &item : here.items) {
    if (!item.block) {
      go_round(item.loop, mask, weight);
      computed = false;
      continue;
    }
    if (!computed)
      kernel_.values().compute(moment_, here.slots);
    computed = true;
    LaneMask active = mask;
    double times = weight;
    for (const Condition &condition : item.block->conditions) {
      if (condition.known)
        active &= holding(condition);
      else
        times *= condition.rare ? behind_rare : behind_data;
    }
    if (active != 0)
      (*visit_)({item.block, times, times < weight, active});
  }
}

void WarpWalk::go_round(LoopId loop, LaneMask mask, double weight) {
  moment_.iteration[loop] = {};
  // The lanes that get here at all: those for which the conditions of the loop's first block hold.
  const Region &inside = region(loop);
  if (!inside.items.empty() && inside.items[0].block) {
    kernel_.values().compute(moment_, inside.slots);
    for (const Condition &condition : inside.items[0].block->conditions)
      if (condition.known)
        mask &= holding(condition);
  }
  if (mask == 0)
    return;
  const Iterations rounds = rounds_of(loop, mask);
  const Lanes &counts = rounds.count;
  std::uint64_t longest = 0;
  for_each_lane(mask, [&](unsigned lane) { longest = std::max(longest, counts[lane]); });
  const auto round = [&](std::uint64_t iteration, double times) {
    LaneMask still = 0;
    for_each_lane(mask, [&](unsigned lane) {
      if (iteration < counts[lane])
        still |= LaneMask{1} << lane;
    });
    moment_.iteration[loop].fill(iteration);
    if (still != 0)
      enter(loop, still, weight * times);
  };
  const auto total = static_cast<double>(longest);
  if (weight == 0) { // how far addresses reach is all that is wanted
    round(0, 0);
    if (longest > 1)
      round(longest - 1, 0);
  } else if (longest <= window + 1) {
    for (std::uint64_t i = 0; i < longest; ++i)
      round(i, 1);
  } else if (inside.innermost) {
    const std::uint64_t first = (longest - window - 1) / 2;
    round(first, 1);
    for (std::uint64_t i = 1; i <= window; ++i)
      round(first + i, (total - 1) / static_cast<double>(window));
    round(0, 0);
    round(longest - 1, 0);
  } else {
    round(longest / 4, total / 2);
    round(longest - 1 - longest / 4, total / 2);
    round(0, 0);
    round(longest - 1, 0);
  }
  moment_.iteration[loop] = rounds.last;
}

/// Lanes that leave by an exit, if they have iterated `at` times.
LaneMask WarpWalk::leaving(LoopId loop, const LoopExit &exit, const Lanes &at) {
  moment_.iteration[loop] = at;
  const auto index = static_cast<std::size_t>(&exit - kernel_.loops()[loop].exits.data());
  kernel_.values().compute(moment_, exit_slots_[loop][index]);
  return holding({exit.slot, exit.leaves_if});
}

WarpWalk::Iterations WarpWalk::rounds_of(LoopId loop, LaneMask mask) {
  Iterations least;
  least.count.fill(most);
  least.last.fill(most);
  bool any = false;
  for (const LoopExit &exit : kernel_.loops()[loop].exits) {
    bool found = false;
    const Lanes leaves = leaves_in(loop, exit, mask, found);
    any |= found;
    for (unsigned lane = 0; lane < warp_lanes && found; ++lane) {
      // The body is run once more than the test at its end says "go on".
      const bool runs = !exit.at_header && leaves[lane] < most;
      least.count[lane] = std::min(least.count[lane], leaves[lane] + runs);
      least.last[lane] = std::min(least.last[lane], leaves[lane]);
    }
  }
  for_each_lane(mask, [&](unsigned lane) { any &= least.count[lane] < most; });
  if (!any) {
    guessed_ = true;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      least.count[lane] = std::min(least.count[lane], guess);
      least.last[lane] = std::min(least.last[lane], guess - 1);
    }
  }
  moment_.iteration[loop] = {};
  return least;
}

// The first iteration in which each lane leaves by an exit.
Lanes WarpWalk::leaves_in(LoopId loop, const LoopExit &exit, LaneMask mask, bool &found) {
  LaneValues &values = kernel_.values();
  Lanes low{}, high{};
  if (exit.slot == ~0u || values.guessed(exit.slot))
    return high;
  const auto depends = values.depends_on_loop(exit.slot, loop);
  // Doubling, lane by lane: `low` has not left, `high` has.
  LaneMask left = leaving(loop, exit, Lanes{});
  LaneMask out = left;
  Lanes at{};
  // 1, 2, 3, 4, 6, 8, 12 and so on.
  for (std::uint64_t step = 1; depends && step <= most && (mask & ~out) != 0;
       step += std::max<std::uint64_t>(1, std::bit_floor(step) / 2)) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      at[lane] = out >> lane & 1 ? high[lane] : step;
    const LaneMask now = leaving(loop, exit, at);
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      if (out >> lane & 1)
        continue;
      (now >> lane & 1 ? high : low)[lane] = step;
    }
    out |= now;
  }
  // Halving.
  for (;;) {
    bool open = false;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const bool between = (out & ~left) >> lane & 1 && high[lane] - low[lane] > 1;
      open |= between;
      at[lane] = between ? low[lane] + (high[lane] - low[lane]) / 2 : high[lane];
    }
    if (!open)
      break;
    const LaneMask now = leaving(loop, exit, at);
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      if ((out & ~left) >> lane & 1 && high[lane] - low[lane] > 1)
        (now >> lane & 1 ? high : low)[lane] = at[lane];
  }
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    if (!(out >> lane & 1))
      high[lane] = most;
  // Equality holds once and is missed by doubling.
  const auto index = static_cast<std::size_t>(&exit - kernel_.loops()[loop].exits.data());
  for (const auto &[comparison, compared] : comparisons_[loop][index]) {
    if (!values.depends_on_loop(comparison, loop))
      continue;
    Lanes ones, first, second;
    ones.fill(1);
    leaving(loop, exit, Lanes{});
    std::copy_n(values[compared], warp_lanes, first.begin());
    leaving(loop, exit, ones);
    std::copy_n(values[compared], warp_lanes, second.begin());
    const std::uint64_t all = mask64(values.width(compared));
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const std::uint64_t up = (second[lane] - first[lane]) & all, down = (0 - up) & all;
      const std::uint64_t distance = up <= down ? (0 - first[lane]) & all : first[lane];
      const std::uint64_t stride = std::min(up, down);
      at[lane] = stride != 0 && distance % stride == 0 ? distance / stride : high[lane];
    }
    const LaneMask now = leaving(loop, exit, at);
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      if (now >> lane & 1 && at[lane] < high[lane])
        high[lane] = at[lane];
  }
  found = true;
  return high;
}

} // namespace ptxasw::analysis::cost
