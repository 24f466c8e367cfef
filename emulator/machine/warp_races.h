#pragma once

#include "emulator/machine/warp_order.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ptxasw::inline emulator {

/// Finds two accesses of different threads to one byte, at least one of them a store and at least
/// one weak, that nothing orders (PTX ISA 8.7).
///
/// RunOrder says what is ordered. A store to what `ld.global.nc` reads is a race in any order (PTX
/// ISA 9.7.9.8). A byte remembers its last store and two reads, so not every race is found, but
/// what is reported is one.
class RaceDetector {
public:
  /// Who accesses, and when.
  struct Access : ThreadMoment {
    std::uint32_t line = 0;
    bool weak = true;
    bool same_value = false; ///< of a byte: a store that leaves it as it is, and does not count
    bool unchanging = false; ///< a store that changes nothing, counted or not
    bool is_store = false;
    bool read_only = false; ///< a load of memory that, by contract, is not written (`.nc`)
  };

  /// `only_barriers`: fences order nothing. A kernel that communicates by fences then has races,
  /// but none goes unnoticed because in this run a flag happened to be set.
  /// Of each byte the last store and two readers are remembered, of those near `focus` (0: none)
  /// every access: where one race is sought, no other reader hides it.
  explicit RaceDetector(bool only_barriers, std::uint64_t focus = 0,
                        std::uint32_t block_threads = 1024)
      : only_barriers_(only_barriers), focus_(focus), order_(block_threads) {}

  /// Notes an access to bytes of global memory, or of a block's shared memory (`space` = block+1).
  /// Bit i of `same_bytes`: byte i of a store has the `same_value`. Returns the earlier access that
  /// it races with.
  std::optional<Access> note(std::uint32_t space, std::uint64_t address, unsigned size, bool store,
                             Access access, std::uint32_t same_bytes = 0);
  void fence(const ThreadMoment &who) {
    if (!only_barriers_)
      order_.fence(who);
  }
  /// A strong access, before it is noted.
  void release(const ThreadMoment &who, const RunOrder::Place &place, bool modifies,
               bool is_release) {
    if (!only_barriers_)
      order_.release(who, place, modifies, is_release);
  }
  void acquire(const ThreadMoment &who, const RunOrder::Place &place, bool is_acquire) {
    if (!only_barriers_)
      order_.acquire(who, place, is_acquire);
  }
  /// Barriers of all kinds.
  RunOrder &order() { return order_; }

  /// Bytes that what is remembered takes.
  std::uint64_t bytes_in_use() const { return chunks_.size() * sizeof(Chunk); }

private:
  struct Cell {
    Access store, read, other_read, read_only;
  };
  static constexpr std::uint64_t chunk = 64;
  using Chunk = std::array<Cell, chunk>;
  bool conflict(const Access &first, const Access &second) const;
  Chunk &chunk_of(std::uint32_t space, std::uint64_t address);

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
  std::unordered_map<std::uint64_t, std::unique_ptr<Chunk>> chunks_;
  Chunk *last_chunk_ = nullptr; ///< that an access was to, and its key
  std::uint64_t last_key_ = 0;
  RunOrder order_;
};

} // namespace ptxasw::emulator
