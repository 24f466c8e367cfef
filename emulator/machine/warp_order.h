#pragma once

// What the synchronisation of one run orders, by the memory consistency model (PTX ISA 8). The race
// detector asks it. Proofs of race freedom have their scopes from here (ThreadScope).

#include "grammar/namespaces.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ptxasw::emulator {

/// Whom a strong access or a fence is for (PTX ISA 8.5).
enum class ThreadScope : std::uint8_t { block, cluster, device };
inline constexpr std::size_t thread_scopes = 3;

/// A thread at some point of a run.
struct ThreadMoment {
  std::uint32_t thread = 0; ///< in the grid, plus 1; 0: no thread
  std::uint32_t block = 0;
  std::uint32_t warp = 0; ///< in the grid
  std::uint32_t lane = 0;
  std::uint32_t block_epoch = 0; ///< barriers at which its whole block has waited
  std::uint32_t cluster = 0;     ///< in the grid
  std::uint64_t time = 0;        ///< counts up with every instruction of the run
};

/// The narrowest scope that holds both threads.
inline ThreadScope scope_of_both(const ThreadMoment &a, const ThreadMoment &b) {
  return a.block == b.block       ? ThreadScope::block
         : a.cluster == b.cluster ? ThreadScope::cluster
                                  : ThreadScope::device;
}

/// Which moments are known to lie before something: by block all that precede its barrier of some
/// number, and by thread of it all up to some time.
class KnownPast {
public:
  void add(const ThreadMoment &moment, std::uint32_t block_threads);
  void join(const KnownPast &other);
  /// `in_epochs`: the thread came to the barrier that ended the moment's epoch, if that has ended.
  bool has(const ThreadMoment &moment, std::uint32_t block_threads, bool in_epochs) const;
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
///   between those who arrived and those who waited. Who has exited did neither: a barrier does not
///   wait for it, and orders nothing that it did since it last came to one;
/// - an mbarrier, or a cluster's barrier: between arrivals in a phase and those who saw its end;
/// - a fence, or `.release`, before a strong store or atomic, and a strong load or atomic of that
///   place, before a fence or `.acquire`, if the scope of each of the four holds both threads. A
///   barrier also does as the latter fence: programs that hand a counter's value to their block
///   rely on it.
class RunOrder {
public:
  explicit RunOrder(std::uint32_t block_threads) : block_threads_(block_threads) {}

  /// A place in memory: the space (0: global, otherwise a block plus 1) and the address.
  using Place = std::pair<std::uint32_t, std::uint64_t>;

  bool before(const ThreadMoment &first, const ThreadMoment &second) const;
  /// Returns false if it is not so for any two threads of these warps; true says nothing.
  bool may_be_before(const ThreadMoment &first, const ThreadMoment &second) const {
    return (first.block == second.block && first.block_epoch < second.block_epoch) ||
           (first.warp == second.warp && !together_.empty()) ||
           (!blocks_.empty() && blocks_.contains(second.block)) ||
           (!threads_.empty() && threads_.contains(second.block));
  }
  /// Returns true if threads of a warp that are in one epoch know the same.
  bool is_by_block() const { return together_.empty() && threads_.empty(); }
  /// Returns true if it is so for all threads of both blocks; false says nothing.
  bool is_block_before(const ThreadMoment &first, const ThreadMoment &second) const {
    return first.block == second.block && first.block_epoch < second.block_epoch &&
           last_epochs_.empty();
  }

  void fence(const ThreadMoment &who, ThreadScope scope);
  /// A strong store; `modifies`: an atomic, which goes on with what others released here.
  void release(const ThreadMoment &who, const Place &place, ThreadScope scope, bool modifies,
               bool is_release);
  /// A strong load.
  void acquire(const ThreadMoment &who, const Place &place, ThreadScope scope, bool is_acquire);

  /// Someone comes to a barrier that keeps `past`.
  void arrive(const ThreadMoment &who, KnownPast &past) const;
  /// Someone who has waited goes on.
  void leave(const ThreadMoment &who, const KnownPast &past);
  /// All of a block that have not exited have waited for all: its epoch ends. `of_arrived`: the
  /// past of those who arrived, if some of them have exited since; otherwise null.
  void block_barrier(std::uint32_t block, const KnownPast *of_arrived);
  /// Threads of a warp that have exited do not come to the end of this epoch.
  void leave_epochs(const ThreadMoment &first_lane, std::uint32_t lanes);
  /// Returns true if threads of other blocks may know of what a block did.
  bool is_known_outside(std::uint32_t block) const { return known_outside_.contains(block); }
  /// A bar.warp.sync.
  void warp_barrier(const ThreadMoment &first_lane, std::uint32_t lanes);

  /// What the barrier of a cluster has for a place.
  static Place cluster_barrier(std::uint32_t cluster) { return {~std::uint32_t{0}, cluster}; }
  void start_mbarrier(const Place &place);
  /// `relaxed`: with what lies before the thread's last fence alone.
  void arrive_at_mbarrier(const ThreadMoment &who, const Place &place, bool relaxed = false);
  void end_phase(const Place &place);
  void leave_mbarrier(const ThreadMoment &who, const Place &place);

private:
  /// A thread's last fence that reaches a scope, with the past it had then, if it has another one
  /// by now.
  struct Fence {
    ThreadMoment at;
    std::optional<KnownPast> past;
  };
  struct OfThread {
    KnownPast past;
    KnownPast seen[thread_scopes]; ///< of strong loads, not in force before a fence of that scope
    Fence fences[thread_scopes];
  };
  /// What somebody released at a place.
  struct Released {
    ThreadMoment by;
    ThreadScope scope = ThreadScope::device;
    KnownPast past;
  };
  struct Mbarrier {
    KnownPast arriving, complete; ///< of the phase that goes on, and of all before it
  };
  /// Returns true if a moment's thread came to the end of its epoch, if that has ended.
  bool in_epochs(const ThreadMoment &moment) const;
  OfThread &of(const ThreadMoment &who) { return threads_[who.block][who.thread]; }
  /// What lies before a thread, itself included up to a moment; `known`: instead of its past now.
  void add_past(const ThreadMoment &who, const ThreadMoment &until, KnownPast &to,
                const KnownPast *known = nullptr) const;
  /// Adds to a thread's past.
  static void learn(OfThread &thread, const KnownPast &what);

  std::uint32_t block_threads_;
  std::unordered_map<std::uint32_t, std::unordered_map<std::uint32_t, OfThread>> threads_;
  std::unordered_map<std::uint32_t, KnownPast> blocks_;
  /// By thread that exited before a barrier of its block: the epoch that it did so in.
  std::unordered_map<std::uint32_t, std::uint32_t> last_epochs_;
  std::map<Place, std::vector<Released>> places_;
  std::unordered_set<std::uint32_t> known_outside_; ///< blocks
  std::map<Place, Mbarrier> mbarriers_;
  /// By warp: up to when lane b knows what lane a did, by bar.warp.sync, at a * 32 + b.
  std::unordered_map<std::uint32_t, std::array<std::uint64_t, 1024>> together_;
};

} // namespace ptxasw::emulator
