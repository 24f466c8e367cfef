#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ptxasw {

/// Finds two accesses of different threads to one byte, at least one of them a store and at least
/// one weak, that nothing orders (PTX ISA 8.7).
///
/// Ordered are: accesses of one thread; of one block with a block barrier between; of one warp
/// with a `bar.warp.sync` of both lanes between; and, generously, those after which the first
/// thread (or, for another block, anyone of its block) executed a fence and the second thread (its
/// block) since then a fence, an atomic or an ordered access. A store to what `ld.global.nc` reads
/// is a race in any order (PTX ISA 9.7.9.8). A byte remembers its last store and two reads, so not
/// every race is found, but what is reported is one.
class RaceDetector {
public:
  /// Who accesses, and when.
  struct Access {
    std::uint32_t thread = 0; ///< in the grid, plus 1; 0: no thread
    std::uint32_t block = 0;
    std::uint32_t warp = 0; ///< in the grid
    std::uint32_t lane = 0;
    std::uint32_t block_epoch = 0;
    std::uint32_t line = 0;
    std::uint64_t time = 0;
    bool weak = true;
    bool same_value = false; ///< a store that changes nothing and therefore does not count
    bool unchanging = false; ///< a store that changes nothing, counted or not
    bool is_store = false;
    bool read_only = false; ///< a load of memory that, by contract, is not written (`.nc`)
  };

  /// `only_barriers`: fences order nothing. A kernel that communicates by fences then has races,
  /// but none goes unnoticed because of a fence that happens to be in between.
  /// Of each byte the last store and two readers are remembered, of those near `focus` (0: none)
  /// every access: where one race is sought, no other reader hides it.
  explicit RaceDetector(bool only_barriers, std::uint64_t focus = 0)
      : only_barriers_(only_barriers), focus_(focus) {}

  /// Notes an access to bytes of global memory, or of a block's shared memory (`space` = block+1).
  /// Returns the earlier access that it races with.
  std::optional<Access> note(std::uint32_t space, std::uint64_t address, unsigned size, bool store,
                             const Access &access);
  void fence(std::uint32_t thread, std::uint32_t block, std::uint64_t time) {
    fences_[thread] = block_fences_[block] = time;
    sync(thread, block, time);
  }
  /// A bar.warp.sync: it orders the accesses of the lanes that took part.
  void warp_barrier(std::uint32_t warp, std::uint32_t lanes, std::uint64_t time);
  /// An atomic, volatile or ordered access.
  void sync(std::uint32_t thread, std::uint32_t block, std::uint64_t time) {
    syncs_[thread] = block_syncs_[block] = time;
  }

  /// Bytes that what is remembered takes.
  std::uint64_t bytes_in_use() const { return chunks_.size() * sizeof(Chunk); }

private:
  struct Cell {
    Access store, read, other_read, read_only;
  };
  static constexpr std::uint64_t chunk = 64;
  using Chunk = std::array<Cell, chunk>;
  bool ordered(const Access &first, const Access &second) const;
  bool conflict(const Access &first, const Access &second) const;

  std::optional<Access> note_in_focus(std::uint32_t space, std::uint64_t byte, bool store,
                                      const Access &access);

  static constexpr std::uint64_t focus_reach = 16; ///< bytes, the widest access
  const bool only_barriers_;
  const std::uint64_t focus_;
  struct Noted {
    Access access;
    bool store = false;
  };
  std::unordered_map<std::uint64_t, std::vector<Noted>> focused_; ///< by space and byte
  /// By warp: when two lanes last took part in the same bar.warp.sync.
  std::unordered_map<std::uint32_t, std::array<std::uint64_t, 1024>> together_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Chunk>> chunks_;
  /// When a thread, or anyone of a block, last executed one.
  using Times = std::unordered_map<std::uint32_t, std::uint64_t>;
  static std::uint64_t last(const Times &times, std::uint32_t who) {
    const auto found = times.find(who);
    return found == times.end() ? 0 : found->second;
  }
  Times fences_, syncs_, block_fences_, block_syncs_;
};

} // namespace ptxasw
