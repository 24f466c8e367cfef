// Who knows of whom. Every thread has a past: what happened before what it does next. Whatever
// synchronises passes pasts on, by way of a barrier, an mbarrier or a place in memory. Barriers of
// whole blocks are by far the most frequent, so they are counted and cost nothing else: an earlier
// epoch of a block is in the past of all its threads.

#include "emulator/machine/warp_order.h"

#include <algorithm>

namespace ptxasw::inline emulator {

void KnownPast::add(const ThreadMoment &moment, std::uint32_t block_threads) {
  OfBlock &block = blocks_[moment.block];
  block.epochs = std::max(block.epochs, moment.block_epoch);
  block.times.resize(block_threads);
  std::uint64_t &time = block.times[(moment.thread - 1) % block_threads];
  time = std::max(time, moment.time);
}

void KnownPast::add_epochs(std::uint32_t block, std::uint32_t epochs) {
  OfBlock &of = blocks_[block];
  of.epochs = std::max(of.epochs, epochs);
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

bool KnownPast::has(const ThreadMoment &moment, std::uint32_t block_threads) const {
  const auto found = blocks_.find(moment.block);
  if (found == blocks_.end())
    return false;
  const OfBlock &block = found->second;
  return moment.block_epoch < block.epochs ||
         (!block.times.empty() && moment.time <= block.times[(moment.thread - 1) % block_threads]);
}

bool RunOrder::before(const ThreadMoment &first, const ThreadMoment &second) const {
  if (first.thread == second.thread)
    return true;
  if (first.block == second.block && first.block_epoch < second.block_epoch)
    return true;
  if (first.warp == second.warp)
    if (const auto warp = together_.find(first.warp);
        warp != together_.end() && warp->second[first.lane * 32 + second.lane] > first.time)
      return true;
  if (const auto block = blocks_.find(second.block);
      block != blocks_.end() && block->second.has(first, block_threads_))
    return true;
  const auto threads = threads_.find(second.block);
  if (threads == threads_.end())
    return false;
  const auto thread = threads->second.find(second.thread);
  return thread != threads->second.end() && thread->second.past.has(first, block_threads_);
}

void RunOrder::add_past(const ThreadMoment &who, const ThreadMoment &until, KnownPast &to) const {
  to.add(until, block_threads_);
  if (const auto block = blocks_.find(who.block); block != blocks_.end())
    to.join(block->second);
  if (const auto threads = threads_.find(who.block); threads != threads_.end())
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

void RunOrder::fence(const ThreadMoment &who) {
  OfThread &thread = of(who);
  thread.past.join(thread.seen);
  thread.seen.clear();
  thread.fence = who;
}

void RunOrder::release(const ThreadMoment &who, const Place &place, bool modifies,
                       bool is_release) {
  const ThreadMoment until = is_release ? who : of(who).fence;
  if (!modifies)
    places_.erase(place);
  if (until.thread != 0)
    add_past(who, until, places_[place]);
}

void RunOrder::acquire(const ThreadMoment &who, const Place &place, bool is_acquire) {
  const auto found = places_.find(place);
  if (found == places_.end())
    return;
  OfThread &thread = of(who);
  (is_acquire ? thread.past : thread.seen).join(found->second);
}

void RunOrder::arrive(const ThreadMoment &who, KnownPast &past) const { add_past(who, who, past); }

void RunOrder::leave(const ThreadMoment &who, const KnownPast &past) {
  OfThread &thread = of(who);
  thread.past.join(past);
  thread.past.join(thread.seen);
  thread.seen.clear();
}

void RunOrder::block_barrier(std::uint32_t block) {
  const auto threads = threads_.find(block);
  if (threads == threads_.end())
    return;
  for (auto &[number, thread] : threads->second)
    for (KnownPast *past : {&thread.past, &thread.seen})
      if (!past->empty()) {
        blocks_[block].join(*past);
        past->clear();
      }
}

void RunOrder::blocks_meet(const std::vector<std::pair<std::uint32_t, std::uint32_t>> &blocks) {
  KnownPast all;
  for (const auto &[block, epoch] : blocks) {
    all.add_epochs(block, epoch);
    all.join(blocks_[block]);
  }
  for (const auto &[block, epoch] : blocks)
    blocks_[block].join(all);
}

void RunOrder::warp_barrier(std::uint32_t warp, std::uint32_t lanes, std::uint64_t time) {
  auto &together = together_[warp];
  for (unsigned a = 0; a < 32; ++a)
    for (unsigned b = 0; b < 32; ++b)
      if ((lanes >> a & 1) && (lanes >> b & 1))
        together[a * 32 + b] = time;
}

void RunOrder::start_mbarrier(const Place &place) { mbarriers_.erase(place); }

void RunOrder::arrive_at_mbarrier(const ThreadMoment &who, const Place &place) {
  add_past(who, who, mbarriers_[place].arriving);
}

void RunOrder::end_phase(const Place &place) {
  Mbarrier &mbarrier = mbarriers_[place];
  mbarrier.complete = std::move(mbarrier.arriving);
  mbarrier.arriving.clear();
}

void RunOrder::leave_mbarrier(const ThreadMoment &who, const Place &place) {
  leave(who, mbarriers_[place].complete);
}

} // namespace ptxasw::emulator
