// A warp is a set of fragments: disjoint sets of lanes, each with its own stack of activations. A
// branch that not all lanes take splits a fragment. Whether and when two fragments at the same
// place merge is the policy; where they may is what E1 of soundness.md assumes of the machine: at a
// post-dominator of the branch that parted them, the first time that each of them gets there, and
// after an instruction that made them wait for each other, whatever iteration each of them is in.
// Lanes that the policy parts without a branch may come together where the block's branch would
// allow it.

#include "emulator/machine/warp_schedule.h"

#include <algorithm>

namespace ptxasw::emulator {

std::size_t WarpScheduler::choose(WarpState &warp, const std::vector<std::size_t> &ready) {
  if (run_.options.schedule == WarpSchedule::random) {
    // A fragment that stands where others may come mostly waits for them.
    const std::size_t chosen = ready[run_.random.below(ready.size())];
    if (!awaits_others(warp.fragments[chosen]) || run_.random.one_in(8))
      return chosen;
    return ready[run_.random.below(ready.size())];
  }
  if (run_.options.schedule == WarpSchedule::apart)
    // In turns, so that lanes that spin do not keep the others from going on.
    return ready[run_.outcome.steps / run_.options.time_slice % ready.size()];
  return *std::min_element(ready.begin(), ready.end(), [&](std::size_t a, std::size_t b) {
    return runs_before(warp.fragments[a], warp.fragments[b]);
  });
}

// True if two fragments may be merged: they are at the same place, in every function on the stack,
// and come from a meeting of the two or stand where the sides of a branch that parted them meet.
bool WarpScheduler::may_merge(const Fragment &a, const Fragment &b) const {
  const auto same = [](const Activation &x, const Activation &y) {
    return x.function == y.function && x.pc == y.pc;
  };
  if (!std::equal(a.stack.begin(), a.stack.end(), b.stack.begin(), b.stack.end(), same))
    return false;
  if (a.met != 0 && a.met == b.met)
    return true;
  const auto here = [&](const Parting &parting) {
    return parting.where == a.stack.back().pc && parting.depth == a.stack.size();
  };
  return std::any_of(a.partings.begin(), a.partings.end(), [&](const Parting &mine) {
    return here(mine) && std::any_of(b.partings.begin(), b.partings.end(), [&](const Parting &its) {
             return its.id == mine.id && here(its);
           });
  });
}

// Where the ways out of the block that an activation is in meet.
std::uint32_t WarpScheduler::meeting_place(const Activation &activation) const {
  const WarpFunction &function = run_.program.function(activation.function);
  if (activation.pc + 1 >= function.code.size())
    return no_index;
  const BlockId block = function.postdominators[function.cfg->block_of(activation.pc)];
  return block < function.cfg->blocks().size() ? function.cfg->blocks()[block].first : no_index;
}

// The order of the reconverge policy: earlier iterations first, then earlier blocks; so a fragment
// waits where paths meet until those behind it have come.
WarpScheduler::Order WarpScheduler::order(const Activation &x, const Activation &y) const {
  const auto by = [](bool before) { return before ? Order::before : Order::behind; };
  if (x.function != y.function)
    return by(x.function < y.function);
  const WarpFunction &function = run_.program.function(x.function);
  const std::size_t end = function.places.size() - 1;
  if (x.pc == end || y.pc == end)
    return x.pc == y.pc ? Order::level : by(y.pc == end);
  const WarpFunction::Place &p = function.places[x.pc], &q = function.places[y.pc];
  // Outer loops have smaller indices.
  for (std::uint64_t both = p.loops & q.loops; both != 0; both &= both - 1)
    if (const auto loop = static_cast<std::size_t>(std::countr_zero(both));
        x.iterations[loop] != y.iterations[loop])
      return by(x.iterations[loop] < y.iterations[loop]);
  const ControlFlowGraph &cfg = *function.cfg;
  for (std::size_t loop = 64; loop < x.iterations.size(); ++loop)
    if (const auto id = static_cast<LoopId>(loop); cfg.contains(id, cfg.block_of(x.pc)) &&
                                                   cfg.contains(id, cfg.block_of(y.pc)) &&
                                                   x.iterations[loop] != y.iterations[loop])
      return by(x.iterations[loop] < y.iterations[loop]);
  if (p.rank != q.rank)
    return by(p.rank < q.rank);
  return x.pc == y.pc ? Order::level : by(x.pc < y.pc);
}

bool WarpScheduler::runs_before(const Fragment &a, const Fragment &b) const {
  for (std::size_t i = 0; i < std::min(a.stack.size(), b.stack.size()); ++i)
    if (const Order found = order(a.stack[i], b.stack[i]); found != Order::level)
      return found == Order::before;
  return a.stack.size() < b.stack.size();
}

namespace {

bool knows(const Fragment &fragment, std::uint64_t parting) {
  return std::any_of(fragment.partings.begin(), fragment.partings.end(),
                     [&](const Parting &p) { return p.id == parting; });
}

} // namespace

// Drops the partings of a fragment whose other side is gone; `gone` counts as no other side.
void WarpScheduler::forget_partings(const WarpState &warp, Fragment &fragment,
                                    const Fragment *gone) {
  std::erase_if(fragment.partings, [&](const Parting &parting) {
    return std::none_of(warp.fragments.begin(), warp.fragments.end(), [&](const Fragment &other) {
      return &other != &fragment && &other != gone && knows(other, parting.id);
    });
  });
}

void WarpScheduler::merge(WarpState &warp, bool all) {
  for (std::size_t i = 0; i < warp.fragments.size(); ++i)
    for (std::size_t j = warp.fragments.size(); --j > i;) {
      if (warp.fragments[i].state != Fragment::State::ready ||
          warp.fragments[j].state != Fragment::State::ready ||
          !may_merge(warp.fragments[i], warp.fragments[j]))
        continue;
      if (!all && run_.random.one_in(2))
        continue;
      // What parted both of them from others is left; the two have parted no more.
      Fragment &kept = warp.fragments[i];
      const Fragment &gone = warp.fragments[j];
      std::erase_if(kept.partings, [&](const Parting &p) { return !knows(gone, p.id); });
      forget_partings(warp, kept, &gone);
      warp.fragments[i].mask |= warp.fragments[j].mask;
      warp.fragments.erase(warp.fragments.begin() + static_cast<std::ptrdiff_t>(j));
    }
}

// Takes lanes out of a fragment into a new one at the same place; returns its index. None or all
// of the lanes: nothing happens. `where`: the instruction at which they may come together again.
std::size_t WarpScheduler::split(WarpState &warp, std::size_t index, LaneMask lanes,
                                 std::uint32_t where) {
  if (lanes == 0 || lanes == warp.fragments[index].mask)
    return index;
  run_.outcome.parted = true;
  if (run_.options.schedule != WarpSchedule::apart) {
    Fragment &fragment = warp.fragments[index];
    if (fragment.partings.size() >= 2 * std::size_t{warp_lanes})
      forget_partings(warp, fragment, nullptr);
    fragment.partings.push_back({++partings_, where, fragment.stack.size()});
  }
  Fragment other = warp.fragments[index];
  other.mask = lanes;
  warp.fragments[index].mask &= ~lanes;
  warp.fragments.push_back(std::move(other));
  return warp.fragments.size() - 1;
}

} // namespace ptxasw::emulator
