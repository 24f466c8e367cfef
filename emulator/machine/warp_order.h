#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxasw::inline emulator {

/// A thread at some point of a run.
struct ThreadMoment {
  std::uint32_t thread = 0; ///< in the grid, plus 1; 0: no thread
  std::uint32_t block = 0;
  std::uint32_t warp = 0; ///< in the grid
  std::uint32_t lane = 0;
  std::uint32_t block_epoch = 0; ///< barriers at which its whole block has waited
  std::uint64_t time = 0;        ///< counts up with every instruction of the run
};

/// Which moments are known to lie before something: by block all that precede its barrier of some
/// number, and by thread of it all up to some time.
class KnownPast {
public:
  void add(const ThreadMoment &moment, std::uint32_t block_threads);
  /// All of a block before one of its epochs.
  void add_epochs(std::uint32_t block, std::uint32_t epochs);
  void join(const KnownPast &other);
  bool has(const ThreadMoment &moment, std::uint32_t block_threads) const;
  bool empty() const { return blocks_.empty(); }
  void clear() { blocks_.clear(); }

private:
  struct OfBlock {
    std::uint32_t epochs = 0;
    std::vector<std::uint64_t> times; ///< by thread of the block; none is as good as zeros
  };
  std::map<std::uint32_t, OfBlock> blocks_;
};

/// What a run orders: "causality order" of the PTX ISA (8.9) between what threads did, from the
/// synchronisation that took place.
///
/// - a barrier at which a whole block waits, bar.warp.sync among lanes, and any other barrier:
///   between those who arrived and those who waited;
/// - an mbarrier: between arrivals in a phase and those who saw its end;
/// - a fence, or `.release`, before a strong store or atomic, and a strong load or atomic of that
///   place, before a fence or `.acquire`. A barrier also does as the latter fence: programs that
///   hand a counter's value to their block rely on it.
class RunOrder {
public:
  explicit RunOrder(std::uint32_t block_threads) : block_threads_(block_threads) {}

  /// A place in memory: the space (0: global, otherwise a block plus 1) and the address.
  using Place = std::pair<std::uint32_t, std::uint64_t>;

  bool before(const ThreadMoment &first, const ThreadMoment &second) const;

  void fence(const ThreadMoment &who);
  /// A strong store; `modifies`: an atomic, which goes on with what others released here.
  void release(const ThreadMoment &who, const Place &place, bool modifies, bool is_release);
  /// A strong load.
  void acquire(const ThreadMoment &who, const Place &place, bool is_acquire);

  /// Someone comes to a barrier that keeps `past`.
  void arrive(const ThreadMoment &who, KnownPast &past) const;
  /// Someone who has waited goes on.
  void leave(const ThreadMoment &who, const KnownPast &past);
  /// All of a block have waited for all: its epoch ends.
  void block_barrier(std::uint32_t block);
  /// Blocks of a cluster have waited for each other: indices, with their new epochs.
  void blocks_meet(const std::vector<std::pair<std::uint32_t, std::uint32_t>> &blocks);
  /// A bar.warp.sync.
  void warp_barrier(std::uint32_t warp, std::uint32_t lanes, std::uint64_t time);

  void start_mbarrier(const Place &place);
  void arrive_at_mbarrier(const ThreadMoment &who, const Place &place);
  void end_phase(const Place &place);
  void leave_mbarrier(const ThreadMoment &who, const Place &place);

private:
  struct OfThread {
    KnownPast past;
    KnownPast seen; ///< of strong loads, not in force before a fence
    ThreadMoment fence;
  };
  struct Mbarrier {
    KnownPast arriving, complete;
  };
  OfThread &of(const ThreadMoment &who) { return threads_[who.block][who.thread]; }
  /// What lies before a thread, itself included up to a moment.
  void add_past(const ThreadMoment &who, const ThreadMoment &until, KnownPast &to) const;

  std::uint32_t block_threads_;
  std::unordered_map<std::uint32_t, std::unordered_map<std::uint32_t, OfThread>> threads_;
  std::unordered_map<std::uint32_t, KnownPast> blocks_;
  std::map<Place, KnownPast> places_;
  std::map<Place, Mbarrier> mbarriers_;
  /// By warp: when lane a last took part in a bar.warp.sync with lane b, at a * 32 + b.
  std::unordered_map<std::uint32_t, std::array<std::uint64_t, 1024>> together_;
};

} // namespace ptxasw::emulator
