#pragma once

// The race detector of the warp emulator. It looks for accesses that nothing orders in one run
// (warp_order.h), and says nothing of other runs.

#include "emulator/machine/warp_order.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ptxasw::emulator {

/// Finds two accesses of different threads to one byte, at least one of them a store and at least
/// one weak or of a scope without the other thread, that nothing orders (PTX ISA 8.7).
///
/// RunOrder says what is ordered. A store to what `ld.global.nc` reads is a race in any order (PTX
/// ISA 9.7.9.8). What is reported is a race, and of a run that has one, one is reported: what is
/// forgotten of a byte's history is what races with nothing with which the rest does not.
class RaceDetector {
public:
  /// Who accesses, and when.
  struct Access : ThreadMoment {
    std::uint32_t line = 0;
    ThreadScope scope = ThreadScope::device; ///< of a strong one
    bool weak = true;
    bool same_value = false; ///< of a byte: a store that leaves it as it is, and does not count
    bool unchanging = false; ///< a store that changes nothing, counted or not
    bool is_store = false;
    bool read_only = false; ///< a load of memory that, by contract, is not written (`.nc`)

    /// A store that counts.
    bool changes() const { return is_store && !same_value; }
  };

  /// `only_barriers`: fences order nothing. A kernel that communicates by fences then has races,
  /// but none goes unnoticed because in this run a flag happened to be set.
  explicit RaceDetector(bool only_barriers, std::uint32_t block_threads = 1024)
      : only_barriers_(only_barriers), order_(block_threads) {}

  /// Notes an access to bytes of global memory, or of a block's shared memory (`space` = block+1).
  /// Bit i of `same_bytes`: byte i of a store has the `same_value`. Returns the earlier access that
  /// it races with.
  std::optional<Access> note(std::uint32_t space, std::uint64_t address, unsigned size,
                             const Access &access, std::uint32_t same_bytes = 0);
  /// The same of weak accesses by lanes one after the other to places side by side, in one step:
  /// `first` is that of the lowest lane, at a multiple of `size` (4 to 32 bytes) within
  /// `chunk_bytes` that all are in, and they have its flags, `same_value` included. Returns the
  /// lanes whose accesses are not noted: note() has to be asked, as some of them may race.
  std::uint32_t note_row(std::uint32_t space, std::uint64_t address, unsigned size, unsigned lanes,
                         const Access &first);
  /// The same of weak loads of one place by all lanes of a mask: `size` bytes, a multiple of 4, in
  /// one chunk. Returns all of them, or none.
  std::uint32_t note_shared_row(std::uint32_t space, std::uint64_t address, unsigned size,
                                std::uint32_t lanes, const Access &first);
  static constexpr std::uint64_t chunk_bytes = 128;
  void fence(const ThreadMoment &who, ThreadScope scope) {
    if (!only_barriers_)
      order_.fence(who, scope);
  }
  /// A strong access, before it is noted.
  void release(const ThreadMoment &who, const RunOrder::Place &place, ThreadScope scope,
               bool modifies, bool is_release) {
    if (!only_barriers_)
      order_.release(who, place, scope, modifies, is_release);
  }
  void acquire(const ThreadMoment &who, const RunOrder::Place &place, ThreadScope scope,
               bool is_acquire) {
    if (!only_barriers_)
      order_.acquire(who, place, scope, is_acquire);
  }
  /// Barriers of all kinds.
  RunOrder &order() { return order_; }
  /// A block has ended: nobody accesses its shared memory anymore.
  void end_block(std::uint32_t block);

  /// Bytes that what is remembered takes.
  std::uint64_t bytes_in_use() const { return bytes_in_use_; }

private:
  /// An access by lanes of a warp in one step: `first` is that of the lowest of them.
  struct Entry {
    Access first;
    std::uint32_t lanes = 0;

    Access of(unsigned lane) const;
    bool joins(const Access &access) const;
  };
  /// What is remembered of one byte or one word.
  using History = std::vector<Entry>;
  static constexpr std::uint64_t word = 4, chunk_words = chunk_bytes / word;
  /// Words of a chunk, by bits.
  using Words = std::uint32_t;
  /// Accesses by lanes of a warp in one step, each to words of its own or all of them to the same:
  /// in place of an entry in the history of each word.
  struct Row {
    Access first; ///< of any of the lanes
    Words words = 0;
    int lane_of_word_0 = 0;  ///< if there were one
    unsigned shift = 0;      ///< a lane has so many words, as a power of two
    std::uint32_t lanes = 0; ///< if not 0: these lanes, each with all of the words

    unsigned lane(unsigned of_word) const {
      return static_cast<unsigned>(lane_of_word_0 + static_cast<int>(of_word >> shift));
    }
    std::uint32_t lanes_of(unsigned of_word) const {
      return lanes != 0 ? lanes : 1u << lane(of_word);
    }
    Access of(unsigned of_word) const;
    bool same_lanes(const Row &other) const {
      return first.warp == other.first.warp && lanes == 0 && other.lanes == 0 &&
             shift == other.shift && lane_of_word_0 == other.lane_of_word_0;
    }
    bool joins(const Row &earlier, Words in_rows) const;
  };
  /// Of a stretch of memory: by rows, oldest first, and for words of which little can be said at
  /// once by words, until an access is to a part of one.
  struct Chunk {
    std::vector<Row> rows;
    Words apart = 0; ///< words that have a history in `cells`; no row has them
    std::vector<History> cells;
    bool by_byte() const { return cells.size() == chunk_bytes; }
  };
  using Chunks = std::unordered_map<std::uint64_t, std::unique_ptr<Chunk>>;

  static bool may_conflict(const Access &first, const Access &second);
  bool conflict(const Access &first, const Access &second) const;
  static bool covers(const Access &later, const Access &earlier);
  void note_cell(History &history, const Access &access, std::optional<Access> &found);
  /// Asked of the entries of a history, oldest first; `ended` is empty at the first.
  bool is_ended(const Access &entry) const {
    return ended_.contains(entry.block) && !order_.is_known_outside(entry.block);
  }
  static bool is_covered_end(std::optional<Access> &ended, const Access &entry);
  void forget(History &history, const Access &access) const;
  void forget(Chunk &chunk, unsigned of_word, const Access &access) const;
  Words doubtful(const Chunk &chunk, const Row &row) const;
  static Words lengthy(const Chunk &chunk, Words words);
  void add(Chunk &chunk, const Row &row);
  Chunk &chunk_for_row(std::uint32_t space, std::uint64_t address);
  void take_apart(Chunk &chunk, Words words);
  Chunk &chunk_of(std::uint32_t space, std::uint64_t address);
  void by_byte(Chunk &chunk);

  const bool only_barriers_;
  std::unordered_map<std::uint32_t, Chunks> spaces_;
  std::unordered_set<std::uint32_t> ended_; ///< blocks
  std::uint64_t bytes_in_use_ = 0;
  Chunk *last_chunk_ = nullptr; ///< that an access was to, and where it is
  std::uint32_t last_space_ = 0;
  std::uint64_t last_number_ = 0;
  RunOrder order_;
};

} // namespace ptxasw::emulator
