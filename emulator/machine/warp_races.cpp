// The history of each word or byte is the accesses that a later one may race with, with what their
// threads knew of each other (warp_order.h). Two that conflict and of which neither is in the
// other's past are a race: nothing is reported that the memory model orders.
//
// An access is forgotten if a later one of its byte does for it: everything that will conflict with
// it, unordered, does so with the later one, too. That holds if it lies in the later one's past (or
// is of the same thread), for what is ordered behind the later one is ordered behind both; and if
// the later one conflicts with whatever it does (covers()). So a byte that is written in turns has
// a short history, and one that many read has one entry for each warp.

#include "emulator/machine/warp_races.h"

#include <algorithm>
#include <bit>

namespace ptxasw::inline emulator {

RaceDetector::Access RaceDetector::Entry::of(unsigned lane) const {
  Access access = first;
  access.thread = first.thread - first.lane + lane;
  access.lane = lane;
  return access;
}

bool RaceDetector::Entry::joins(const Access &a) const {
  return first.time == a.time && first.warp == a.warp && first.line == a.line &&
         first.block_epoch == a.block_epoch && first.is_store == a.is_store &&
         first.weak == a.weak && first.same_value == a.same_value &&
         first.unchanging == a.unchanging && (lanes >> a.lane & 1) == 0;
}

// By what they do. A store that leaves the value may come behind any other, but not before one that
// changes it: to others it is like a load.
bool RaceDetector::may_conflict(const Access &first, const Access &second) {
  return second.changes() || (first.changes() && !second.same_value);
}

bool RaceDetector::conflict(const Access &first, const Access &second) const {
  if (!may_conflict(first, second))
    return false;
  if ((second.read_only && first.changes()) || (first.read_only && second.changes()))
    return true;
  if (first.thread == second.thread)
    return false;
  if (!first.weak && !second.weak &&
      std::min(first.scope, second.scope) >= scope_of_both(first, second))
    return false;
  return !order_.before(first, second);
}

// Returns true if whatever conflicts with an access conflicts with a later one of its byte as well,
// and is no less of a race: by what they do to the byte, and by how strong they are.
bool RaceDetector::covers(const Access &later, const Access &earlier) {
  return (later.changes() || !earlier.changes()) &&
         (!later.unchanging || earlier.unchanging || !earlier.is_store) &&
         (later.weak || (!earlier.weak && later.scope <= earlier.scope)) &&
         (later.read_only || !earlier.read_only);
}

// Drops what the newest access does for, and what has become of no use: blocks that have ended, and
// of which others cannot know, are ordered with nothing that is still to come, so one of their
// accesses does for all of them.
void RaceDetector::forget(History &history, const Access &access) const {
  std::optional<Access> ended;
  std::erase_if(history, [&](Entry &entry) {
    if (ended_.contains(entry.first.block) && !order_.is_known_outside(entry.first.block)) {
      const bool is_covered = ended && covers(*ended, entry.first);
      if (!is_covered)
        ended = entry.first;
      return is_covered;
    }
    if (covers(access, entry.first))
      for (std::uint32_t rest = entry.lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        if (order_.before(entry.of(lane), access))
          entry.lanes &= ~(1u << lane);
      }
    return entry.lanes == 0;
  });
}

void RaceDetector::note_cell(History &history, const Access &access, std::optional<Access> &found) {
  constexpr std::size_t few = 4;
  bool is_spent = false;
  for (Entry &entry : history) {
    const bool covered = covers(access, entry.first);
    if (!may_conflict(entry.first, access)) {
      if (covered && entry.first.warp == access.warp) // what the same thread did
        entry.lanes &= ~(1u << access.lane);
      is_spent |= entry.lanes == 0;
      continue;
    }
    for (std::uint32_t rest = entry.lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const Access earlier = entry.of(lane);
      if (conflict(earlier, access)) {
        // Of several, one that changed something says more.
        if (!found || (found->unchanging && !earlier.unchanging))
          found = earlier;
        if (!found->unchanging)
          break;
      } else if (covered && (earlier.thread == access.thread ||
                             (access.changes() && order_.before(earlier, access)))) {
        entry.lanes &= ~(1u << lane);
      }
    }
    is_spent |= entry.lanes == 0;
  }
  if (is_spent)
    std::erase_if(history, [](const Entry &entry) { return entry.lanes == 0; });
  if (history.size() >= few && std::has_single_bit(history.size()))
    forget(history, access);
  const auto same = std::find_if(history.rbegin(), history.rend(),
                                 [&](const Entry &entry) { return entry.joins(access); });
  if (same != history.rend()) {
    same->lanes |= 1u << access.lane;
    return;
  }
  bytes_in_use_ -= history.capacity() * sizeof(Entry);
  history.push_back({access, 1u << access.lane});
  bytes_in_use_ += history.capacity() * sizeof(Entry);
}

RaceDetector::Chunk &RaceDetector::chunk_of(std::uint32_t space, std::uint64_t address,
                                            bool by_byte) {
  const std::uint64_t number = address / chunk_bytes;
  if (!last_chunk_ || number != last_number_ || space != last_space_) {
    std::unique_ptr<Chunk> &place = spaces_[space][number];
    if (!place) {
      place = std::make_unique<Chunk>();
      bytes_in_use_ += sizeof(Chunk) + chunk_bytes / word * sizeof(History);
    }
    last_chunk_ = place.get();
    last_space_ = space;
    last_number_ = number;
  }
  if (by_byte && !last_chunk_->by_byte()) {
    std::vector<History> bytes(chunk_bytes);
    for (const History &history : last_chunk_->cells)
      bytes_in_use_ -= sizeof(History) + history.capacity() * sizeof(Entry);
    for (std::size_t i = 0; i < chunk_bytes; ++i) {
      bytes[i] = last_chunk_->cells[i / word];
      bytes_in_use_ += sizeof(History) + bytes[i].capacity() * sizeof(Entry);
    }
    last_chunk_->cells = std::move(bytes);
  }
  return *last_chunk_;
}

std::optional<RaceDetector::Access> RaceDetector::note(std::uint32_t space, std::uint64_t address,
                                                       unsigned size, const Access &access,
                                                       std::uint32_t same_bytes) {
  std::optional<Access> found;
  Access here = access;
  const bool whole_words = address % word == 0 && size % word == 0;
  for (unsigned i = 0; i < size;) {
    Chunk &chunk = chunk_of(space, address + i, !whole_words);
    const unsigned step = chunk.by_byte() ? 1 : word;
    const std::uint32_t mask = (1u << step) - 1;
    here.same_value = i < 32 && (same_bytes >> i & mask) == mask;
    note_cell(chunk.cells[(address + i) % chunk_bytes / step], here, found);
    i += step;
  }
  return found;
}

void RaceDetector::end_block(std::uint32_t block) {
  ended_.insert(block);
  const auto shared = spaces_.find(block + 1);
  if (shared == spaces_.end())
    return;
  for (const auto &[number, chunk] : shared->second) {
    bytes_in_use_ -= sizeof(Chunk);
    for (const History &history : chunk->cells)
      bytes_in_use_ -= sizeof(History) + history.capacity() * sizeof(Entry);
  }
  spaces_.erase(shared);
  last_chunk_ = nullptr;
}

} // namespace ptxasw::emulator
