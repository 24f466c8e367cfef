// For each byte the last store and two reads are kept, with what their threads knew of each other
// (warp_order.h). Two that conflict and of which neither is in the other's past are a race: nothing
// is reported that the memory model orders.

#include "emulator/machine/warp_races.h"

namespace ptxasw::inline emulator {

bool RaceDetector::conflict(const Access &first, const Access &second) const {
  return first.thread != 0 && (first.weak || second.weak) && !order_.before(first, second);
}

std::optional<RaceDetector::Access> RaceDetector::note_in_focus(std::uint32_t space,
                                                                std::uint64_t byte, bool store,
                                                                const Access &access) {
  std::vector<Noted> &all = focused_[(std::uint64_t{space} << 42) ^ byte];
  std::optional<Access> found;
  for (const Noted &noted : all) {
    const bool either_changes = (store && !access.same_value) ||
                                (noted.store && !noted.access.same_value && !access.same_value);
    if (!found && either_changes && conflict(noted.access, access))
      found = noted.access;
  }
  all.push_back({access, store});
  return found;
}

RaceDetector::Chunk &RaceDetector::chunk_of(std::uint32_t space, std::uint64_t address) {
  // Shared windows lie below 4 GiB; their block goes on top.
  const std::uint64_t key = (std::uint64_t{space} << 42) ^ (address / chunk);
  if (!last_chunk_ || key != last_key_) {
    std::unique_ptr<Chunk> &place = chunks_[key];
    if (!place)
      place = std::make_unique<Chunk>();
    last_chunk_ = place.get();
    last_key_ = key;
  }
  return *last_chunk_;
}

std::optional<RaceDetector::Access> RaceDetector::note(std::uint32_t space, std::uint64_t address,
                                                       unsigned size, bool store, Access access,
                                                       std::uint32_t same_bytes) {
  std::optional<Access> found;
  for (unsigned i = 0; i < size; ++i) {
    access.same_value = i < 32 && (same_bytes >> i & 1) != 0;
    const std::uint64_t where = address + i;
    if (focus_ != 0 && where - (focus_ - focus_reach) < 2 * focus_reach)
      if (const auto earlier = note_in_focus(space, where, store, access); earlier && !found)
        found = earlier;
    Cell &cell = chunk_of(space, where)[where % chunk];
    // What changes nothing is to others like a load that does not care who stored the value.
    const bool changes = store && !access.same_value;
    if (!found && !access.same_value &&
        (conflict(cell.store, access) || (access.read_only && cell.store.thread != 0)))
      found = cell.store;
    if (changes) {
      if (!found && cell.read_only.thread != 0)
        found = cell.read_only;
      if (!found && conflict(cell.read, access))
        found = cell.read;
      if (!found && conflict(cell.other_read, access))
        found = cell.other_read;
      cell.store = access;
      continue;
    }
    if (access.read_only)
      cell.read_only = access;
    if (cell.read.thread != access.thread)
      cell.other_read = cell.read;
    cell.read = access;
  }
  return found;
}

} // namespace ptxasw::emulator
