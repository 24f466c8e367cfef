// Who knows of whom. Every thread has a past: what happened before what it does next. Whatever
// synchronises passes pasts on, by way of a barrier, an mbarrier or a place in memory. Barriers of
// whole blocks are by far the most frequent, so they are counted and cost nothing else: an earlier
// epoch of a block is in the past of all its threads.

#include "emulator/machine/warp_order.h"

#include <algorithm>

namespace ptxasw::emulator {

void KnownPast::add(const ThreadMoment &moment, std::uint32_t block_threads) {
  OfBlock &block = blocks_[moment.block];
  block.epochs = std::max(block.epochs, moment.block_epoch);
  block.times.resize(block_threads);
  std::uint64_t &time = block.times[(moment.thread - 1) % block_threads];
  time = std::max(time, moment.time);
}

void KnownPast::join(const KnownPast &other) {
  for (const auto &[index, theirs] : other.blocks_) {
    OfBlock &mine = blocks_[index];
    mine.epochs = std::max(mine.epochs, theirs.epochs);
    mine.times.resize(std::max(mine.times.size(), theirs.times.size()));
    for (std::size_t i = 0; i < theirs.times.size(); ++i)
      mine.times[i] = std::max(mine.times[i], theirs.times[i]);
  }
}

bool KnownPast::has(const ThreadMoment &moment, std::uint32_t block_threads, bool in_epochs) const {
  const auto found = blocks_.find(moment.block);
  if (found == blocks_.end())
    return false;
  const OfBlock &block = found->second;
  return (in_epochs && moment.block_epoch < block.epochs) ||
         (!block.times.empty() && moment.time <= block.times[(moment.thread - 1) % block_threads]);
}

bool RunOrder::in_epochs(const ThreadMoment &moment) const {
  if (last_epochs_.empty())
    return true;
  const auto last = last_epochs_.find(moment.thread);
  return last == last_epochs_.end() || moment.block_epoch < last->second;
}

void RunOrder::leave_epochs(const ThreadMoment &first_lane, std::uint32_t lanes) {
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    if (lanes >> lane & 1)
      last_epochs_[first_lane.thread + lane] = first_lane.block_epoch;
}

bool RunOrder::before(const ThreadMoment &first, const ThreadMoment &second) const {
  if (first.thread == second.thread)
    return true;
  if (!may_be_before(first, second))
    return false;
  const bool ordered_by_epochs = in_epochs(first);
  if (first.block == second.block && first.block_epoch < second.block_epoch && ordered_by_epochs)
    return true;
  if (first.warp == second.warp)
    if (const auto warp = together_.find(first.warp);
        warp != together_.end() && warp->second[first.lane * 32 + second.lane] > first.time)
      return true;
  if (const auto block = blocks_.find(second.block);
      block != blocks_.end() && block->second.has(first, block_threads_, ordered_by_epochs))
    return true;
  const auto threads = threads_.find(second.block);
  if (threads == threads_.end())
    return false;
  const auto thread = threads->second.find(second.thread);
  return thread != threads->second.end() &&
         thread->second.past.has(first, block_threads_, ordered_by_epochs);
}

void RunOrder::add_past(const ThreadMoment &who, const ThreadMoment &until, KnownPast &to,
                        const KnownPast *known) const {
  to.add(until, block_threads_);
  if (const auto block = blocks_.find(who.block); block != blocks_.end())
    to.join(block->second);
  if (known)
    to.join(*known);
  else if (const auto threads = threads_.find(who.block); threads != threads_.end())
    if (const auto thread = threads->second.find(who.thread); thread != threads->second.end())
      to.join(thread->second.past);
  if (const auto warp = together_.find(who.warp); warp != together_.end())
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::uint64_t met = warp->second[lane * 32 + who.lane];
      if (lane == who.lane || met == 0)
        continue;
      ThreadMoment other = until;
      other.thread = who.thread - who.lane + lane;
      other.time = std::min(met, until.time);
      to.add(other, block_threads_);
    }
}

void RunOrder::learn(OfThread &thread, const KnownPast &what) {
  for (Fence &fence : thread.fences)
    if (fence.at.thread != 0 && !fence.past)
      fence.past = thread.past;
  thread.past.join(what);
}

void RunOrder::fence(const ThreadMoment &who, ThreadScope scope) {
  OfThread &thread = of(who);
  const auto widest = static_cast<std::size_t>(scope);
  for (std::size_t i = 0; i <= widest; ++i) {
    learn(thread, thread.seen[i]);
    thread.seen[i].clear();
  }
  for (std::size_t i = 0; i <= widest; ++i)
    thread.fences[i] = {who, std::nullopt};
}

void RunOrder::release(const ThreadMoment &who, const Place &place, ThreadScope scope,
                       bool modifies, bool is_release) {
  if (!modifies)
    places_.erase(place);
  const auto add = [&](const ThreadMoment &until, ThreadScope reach, const KnownPast *known) {
    std::vector<Released> &all = places_[place];
    auto same = std::find_if(all.begin(), all.end(), [&](const Released &released) {
      return released.by.block == who.block && released.scope == reach;
    });
    if (same == all.end())
      same = all.insert(all.end(), {who, reach, {}});
    add_past(who, until, same->past, known);
    if (reach != ThreadScope::block)
      known_outside_.insert(who.block);
  };
  if (is_release) {
    add(who, scope, nullptr);
    return;
  }
  const OfThread &thread = of(who);
  for (std::size_t i = 0; i <= static_cast<std::size_t>(scope); ++i)
    if (const Fence &fence = thread.fences[i]; fence.at.thread != 0)
      add(fence.at, static_cast<ThreadScope>(i), fence.past ? &*fence.past : nullptr);
}

void RunOrder::acquire(const ThreadMoment &who, const Place &place, ThreadScope scope,
                       bool is_acquire) {
  const auto found = places_.find(place);
  if (found == places_.end())
    return;
  OfThread &thread = of(who);
  for (const Released &released : found->second) {
    const ThreadScope needed = scope_of_both(released.by, who);
    if (released.scope < needed || scope < needed)
      continue;
    if (is_acquire)
      learn(thread, released.past);
    else
      thread.seen[static_cast<std::size_t>(needed)].join(released.past);
  }
}

void RunOrder::arrive(const ThreadMoment &who, KnownPast &past) const { add_past(who, who, past); }

void RunOrder::leave(const ThreadMoment &who, const KnownPast &past) {
  OfThread &thread = of(who);
  learn(thread, past);
  for (KnownPast &seen : thread.seen) {
    thread.past.join(seen);
    seen.clear();
  }
}

void RunOrder::block_barrier(std::uint32_t block, const KnownPast *of_arrived) {
  if (of_arrived)
    blocks_[block].join(*of_arrived);
  const auto threads = threads_.find(block);
  if (threads == threads_.end())
    return;
  for (auto &[number, thread] : threads->second) {
    if (last_epochs_.contains(number))
      continue;
    for (KnownPast *past : {&thread.past, &thread.seen[0], &thread.seen[1], &thread.seen[2]})
      if (!past->empty()) {
        blocks_[block].join(*past);
        past->clear();
      }
  }
}

// Lanes that meet know what any of them knew, of other lanes and of other warps.
void RunOrder::warp_barrier(const ThreadMoment &first_lane, std::uint32_t lanes) {
  auto &together = together_[first_lane.warp];
  for (unsigned a = 0; a < 32; ++a) {
    std::uint64_t until = lanes >> a & 1 ? first_lane.time : 0;
    for (unsigned b = 0; b < 32; ++b)
      if (lanes >> b & 1)
        until = std::max(until, together[a * 32 + b]);
    for (unsigned b = 0; b < 32; ++b)
      if (lanes >> b & 1)
        together[a * 32 + b] = until;
  }
  const auto threads = threads_.find(first_lane.block);
  if (threads == threads_.end())
    return;
  KnownPast all;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (const auto thread = threads->second.find(first_lane.thread + lane);
        (lanes >> lane & 1) != 0 && thread != threads->second.end()) {
      all.join(thread->second.past);
      for (const KnownPast &seen : thread->second.seen)
        all.join(seen);
    }
  if (all.empty())
    return;
  ThreadMoment who = first_lane;
  for (who.lane = 0; who.lane < 32; ++who.lane, ++who.thread)
    if (lanes >> who.lane & 1)
      learn(of(who), all);
}

void RunOrder::start_mbarrier(const Place &place) { mbarriers_.erase(place); }

void RunOrder::arrive_at_mbarrier(const ThreadMoment &who, const Place &place, bool relaxed) {
  if (place.first != who.block + 1)
    known_outside_.insert(who.block);
  KnownPast &arriving = mbarriers_[place].arriving;
  if (!relaxed) {
    add_past(who, who, arriving);
    return;
  }
  const Fence &fence = of(who).fences[static_cast<std::size_t>(ThreadScope::cluster)];
  if (fence.at.thread != 0)
    add_past(who, fence.at, arriving, fence.past ? &*fence.past : nullptr);
}

void RunOrder::end_phase(const Place &place) {
  Mbarrier &mbarrier = mbarriers_[place];
  mbarrier.complete.join(mbarrier.arriving);
  mbarrier.arriving.clear();
}

void RunOrder::leave_mbarrier(const ThreadMoment &who, const Place &place) {
  leave(who, mbarriers_[place].complete);
}

} // namespace ptxasw::emulator
