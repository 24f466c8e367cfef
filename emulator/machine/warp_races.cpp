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
#include <array>
#include <bit>
#include <utility>

namespace ptxasw::emulator {
namespace {

/// A history is looked through for what can be forgotten when it is as long, and each time that it
/// has become twice as long.
constexpr std::size_t few = 4;
/// Of more the words are looked at one by one.
constexpr std::size_t most_rows = 100;

} // namespace

RaceDetector::Access RaceDetector::Entry::of(unsigned lane) const {
  Access access = first;
  access.thread = first.thread - first.lane + lane;
  access.lane = lane;
  return access;
}

RaceDetector::Access RaceDetector::Row::of(unsigned of_word) const {
  return lanes != 0 ? first : Entry{first}.of(lane(of_word));
}

// As Entry::joins, with the same words of those that are in rows.
bool RaceDetector::Row::joins(const Row &earlier, Words in_rows) const {
  return lanes != 0 && earlier.lanes != 0 && (lanes & earlier.lanes) == 0 &&
         earlier.words == (words & in_rows) && Entry{earlier.first}.joins(first);
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

// Of blocks that have ended, and of which others cannot know, nothing is ordered with what is still
// to come, so one of their accesses does for all of them.
bool RaceDetector::is_covered_end(std::optional<Access> &ended, const Access &entry) {
  const bool is_covered = ended && covers(*ended, entry);
  if (!is_covered)
    ended = entry;
  return is_covered;
}

// Drops what the newest access does for, and what has become of no use.
void RaceDetector::forget(History &history, const Access &access) const {
  std::optional<Access> ended;
  std::erase_if(history, [&](Entry &entry) {
    if (is_ended(entry.first))
      return is_covered_end(ended, entry.first);
    if (covers(access, entry.first) &&
        (entry.first.warp == access.warp || order_.may_be_before(entry.first, access)))
      for (std::uint32_t rest = entry.lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        if (order_.before(entry.of(lane), access))
          entry.lanes &= ~(1u << lane);
      }
    return entry.lanes == 0;
  });
}

void RaceDetector::note_cell(History &history, const Access &access, std::optional<Access> &found) {
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
  const auto same = std::find_if(history.rbegin(), history.rend(),
                                 [&](const Entry &entry) { return entry.joins(access); });
  if (same != history.rend()) {
    same->lanes |= 1u << access.lane;
    return;
  }
  // Only where it grows: lanes that join an entry would ask for nothing new, each of them.
  if (const std::size_t size = history.size(); size >= few && (size & (size - 1)) == 0)
    forget(history, access);
  bytes_in_use_ -= history.capacity() * sizeof(Entry);
  history.push_back({access, 1u << access.lane});
  bytes_in_use_ += history.capacity() * sizeof(Entry);
}

RaceDetector::Chunk &RaceDetector::chunk_of(std::uint32_t space, std::uint64_t address) {
  const std::uint64_t number = address / chunk_bytes;
  if (!last_chunk_ || number != last_number_ || space != last_space_) {
    std::unique_ptr<Chunk> &place = spaces_[space][number];
    if (!place) {
      place = std::make_unique<Chunk>();
      bytes_in_use_ += sizeof(Chunk);
    }
    last_chunk_ = place.get();
    last_space_ = space;
    last_number_ = number;
  }
  return *last_chunk_;
}

// Gives words histories of their own.
void RaceDetector::take_apart(Chunk &chunk, Words words) {
  words &= ~chunk.apart;
  if (words == 0)
    return;
  if (chunk.cells.empty()) {
    chunk.cells.resize(chunk_words);
    bytes_in_use_ += chunk_words * sizeof(History);
  }
  chunk.apart |= words;
  for (Row &row : chunk.rows) {
    for (Words rest = row.words & words; rest != 0; rest &= rest - 1) {
      const auto at = static_cast<unsigned>(std::countr_zero(rest));
      History &history = chunk.cells[at];
      bytes_in_use_ -= history.capacity() * sizeof(Entry);
      history.push_back({row.of(at), row.lanes_of(at)});
      bytes_in_use_ += history.capacity() * sizeof(Entry);
    }
    row.words &= ~words;
  }
  std::erase_if(chunk.rows, [](const Row &row) { return row.words == 0; });
}

void RaceDetector::by_byte(Chunk &chunk) {
  take_apart(chunk, ~Words{0});
  std::vector<History> bytes(chunk_bytes);
  for (const History &history : chunk.cells)
    bytes_in_use_ -= sizeof(History) + history.capacity() * sizeof(Entry);
  for (std::size_t i = 0; i < chunk_bytes; ++i) {
    bytes[i] = chunk.cells[i / word];
    bytes_in_use_ += sizeof(History) + bytes[i].capacity() * sizeof(Entry);
  }
  chunk.cells = std::move(bytes);
}

std::optional<RaceDetector::Access> RaceDetector::note(std::uint32_t space, std::uint64_t address,
                                                       unsigned size, const Access &access,
                                                       std::uint32_t same_bytes) {
  std::optional<Access> found;
  Access here = access;
  const bool whole_words = address % word == 0 && size % word == 0;
  for (unsigned i = 0; i < size;) {
    Chunk &chunk = chunk_of(space, address + i);
    const std::uint64_t offset = (address + i) % chunk_bytes;
    if (!whole_words && !chunk.by_byte())
      by_byte(chunk);
    take_apart(chunk, Words{1} << offset / word);
    const unsigned step = chunk.by_byte() ? 1 : word;
    const std::uint32_t mask = (1u << step) - 1;
    here.same_value = i < 32 && (same_bytes >> i & mask) == mask;
    note_cell(chunk.cells[offset / step], here, found);
    i += step;
  }
  return found;
}

// Words of a new row of which an earlier row of theirs may race with it, or would no longer be one
// row, or come to be one with it.
RaceDetector::Words RaceDetector::doubtful(const Chunk &chunk, const Row &row) const {
  const Access &access = row.first;
  Words words = row.words & chunk.apart;
  for (const Row &earlier : chunk.rows) {
    const Words both = earlier.words & row.words;
    if (both == 0)
      continue;
    const Access &first = earlier.first;
    const bool is_before = order_.is_block_before(first, access);
    bool doubt = false;
    if (first.warp == access.warp && first.time == access.time)
      doubt = !row.joins(earlier, ~chunk.apart);
    else if (may_conflict(first, access))
      doubt = (access.read_only && first.changes()) || (first.read_only && access.changes()) ||
              (!earlier.same_lanes(row) && !is_before);
    else if (first.warp == access.warp && earlier.lanes == 0)
      doubt = row.lanes == 0 && earlier.shift != row.shift;
    else if (first.warp == access.warp && covers(access, first))
      doubt = row.lanes == 0 || ((earlier.lanes & ~row.lanes) != 0 && both != earlier.words);
    // Some of its lanes may be known to be before.
    doubt |= earlier.lanes != 0 && !is_before && order_.may_be_before(first, access);
    words |= doubt ? both : 0;
  }
  // All words of a lane, or none.
  if (row.lanes != 0)
    return words != 0 ? row.words : 0;
  for (unsigned width = 1; words != 0 && width < 1u << row.shift; width *= 2) {
    const Words even = ~Words{0} / ((Words{1} << width) + 1); // `width` bits of twice as many
    words |= (words & even) << width | (words >> width & even);
  }
  return words & row.words;
}

void RaceDetector::forget(Chunk &chunk, unsigned of_word, const Access &access) const {
  std::optional<Access> ended;
  for (Row &row : chunk.rows) {
    if (!(row.words >> of_word & 1))
      continue;
    // Of several lanes all are before, or none: others are in doubt.
    const auto is_before = [&] {
      return row.lanes != 0 ? order_.is_block_before(row.first, access)
                            : order_.before(row.of(of_word), access);
    };
    if (is_ended(row.first) ? is_covered_end(ended, row.first)
                            : covers(access, row.first) && is_before())
      row.words &= ~(Words{1} << of_word);
  }
}

// Of some words those whose history has a length at which forget() is asked.
RaceDetector::Words RaceDetector::lengthy(const Chunk &chunk, Words words) {
  if (chunk.rows.size() < few)
    return 0;
  std::array<Words, 7> lengths{}; // by digits
  for (const Row &row : chunk.rows) {
    Words carry = row.words & words;
    for (std::size_t i = 0; carry != 0; ++i)
      carry &= std::exchange(lengths[i], lengths[i] ^ carry);
  }
  Words digits = 0, several = 0;
  for (const Words digit : lengths) {
    several |= digits & digit;
    digits |= digit;
  }
  static_assert(few == 4 && most_rows < 1 << 7);
  return digits & ~several & ~lengths[0] & ~lengths[1];
}

// What note_cell() does with each of the words, for all of which nothing is found.
void RaceDetector::add(Chunk &chunk, const Row &row) {
  const Access &access = row.first;
  Row *joined = nullptr;
  for (Row &earlier : chunk.rows) {
    const Words both = earlier.words & row.words;
    if (both == 0)
      continue;
    if (row.joins(earlier, ~chunk.apart)) {
      joined = &earlier;
      continue;
    }
    if (!covers(access, earlier.first))
      continue;
    // What may conflict is ordered here, or it would be in doubt.
    const bool conflicts = may_conflict(earlier.first, access);
    if ((conflicts && access.changes()) || earlier.same_lanes(row)) {
      earlier.words &= ~both;
    } else if (!conflicts && row.lanes != 0 && earlier.first.warp == access.warp) {
      if (earlier.lanes == 0)
        for (Words rest = both; rest != 0; rest &= rest - 1) {
          const auto at = static_cast<unsigned>(std::countr_zero(rest));
          earlier.words &= ~((row.lanes >> earlier.lane(at) & 1) << at);
        }
      else if ((earlier.lanes & ~row.lanes) == 0)
        earlier.words &= ~both;
      else
        earlier.lanes &= ~row.lanes;
    }
  }
  const auto shorten = [&] {
    for (Words rest = lengthy(chunk, row.words); rest != 0; rest &= rest - 1) {
      const auto at = static_cast<unsigned>(std::countr_zero(rest));
      forget(chunk, at, row.of(at));
    }
  };
  shorten();
  bytes_in_use_ -= chunk.rows.capacity() * sizeof(Row);
  if (joined) {
    joined->lanes |= row.lanes;
  } else {
    chunk.rows.push_back(row);
    // All lanes but the first have found the entry of the first.
    if ((row.lanes & (row.lanes - 1)) != 0)
      shorten();
  }
  std::erase_if(chunk.rows, [](const Row &one) { return one.words == 0; });
  bytes_in_use_ += chunk.rows.capacity() * sizeof(Row);
}

RaceDetector::Chunk &RaceDetector::chunk_for_row(std::uint32_t space, std::uint64_t address) {
  Chunk &chunk = chunk_of(space, address);
  if (chunk.rows.size() >= most_rows)
    take_apart(chunk, ~Words{0});
  return chunk;
}

std::uint32_t RaceDetector::note_row(std::uint32_t space, std::uint64_t address, unsigned size,
                                     unsigned lanes, const Access &first) {
  Chunk &chunk = chunk_for_row(space, address);
  const auto offset = static_cast<unsigned>(address % chunk_bytes / word);
  Row row{first};
  row.shift = static_cast<unsigned>(std::countr_zero(size / word));
  row.lane_of_word_0 = static_cast<int>(first.lane) - static_cast<int>(offset >> row.shift);
  row.words = ~Words{0} >> (chunk_words - (lanes << row.shift)) << offset;
  const Words words = doubtful(chunk, row);
  take_apart(chunk, words);
  std::uint32_t left = 0;
  for (Words rest = words; rest != 0; rest &= rest - 1)
    left |= std::uint32_t{1} << row.lane(static_cast<unsigned>(std::countr_zero(rest)));
  row.words &= ~words;
  if (row.words != 0)
    add(chunk, row);
  return left;
}

std::uint32_t RaceDetector::note_shared_row(std::uint32_t space, std::uint64_t address,
                                            unsigned size, std::uint32_t lanes,
                                            const Access &first) {
  Chunk &chunk = chunk_for_row(space, address);
  Row row{first};
  row.lanes = lanes;
  row.words = ~Words{0} >> (chunk_words - size / word) << address % chunk_bytes / word;
  // With knowledge of their own, lanes may forget different things.
  if (const Words words = order_.is_by_block() ? doubtful(chunk, row) : row.words; words != 0) {
    take_apart(chunk, words);
    return lanes;
  }
  add(chunk, row);
  return 0;
}

void RaceDetector::end_block(std::uint32_t block) {
  ended_.insert(block);
  const auto shared = spaces_.find(block + 1);
  if (shared == spaces_.end())
    return;
  for (const auto &[number, chunk] : shared->second) {
    bytes_in_use_ -= sizeof(Chunk) + chunk->rows.capacity() * sizeof(Row);
    for (const History &history : chunk->cells)
      bytes_in_use_ -= sizeof(History) + history.capacity() * sizeof(Entry);
  }
  spaces_.erase(shared);
  last_chunk_ = nullptr;
}

} // namespace ptxasw::emulator
