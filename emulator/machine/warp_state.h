#pragma once

// What there is while a kernel runs: blocks, their warps, fragments of warps whose lanes execute
// together, registers by depth of calls, barriers. Internal to the warp emulator.

#include "emulator/machine/exact_real.h"
#include "emulator/machine/warp_launch.h"
#include "emulator/machine/warp_races.h"

#include <bit>

namespace ptxasw::emulator {

using LaneMask = std::uint32_t;

/// How many lanes there are; mostly all. Processors that may run this need not have an instruction.
inline unsigned lane_count(LaneMask mask) {
  if (mask == ~LaneMask{0})
    return 32;
  mask -= mask >> 1 & 0x55555555;
  mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
  return ((mask + (mask >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

/// Calls f(lane) for every lane of a mask, lowest first.
template <class Function> void for_each_lane(LaneMask mask, Function f) {
  for (; mask; mask &= mask - 1)
    f(static_cast<unsigned>(std::countr_zero(mask)));
}

/// A function being executed: where, and in which iteration of each of its loops.
struct Activation {
  std::uint32_t function = 0;
  std::uint32_t pc = 0;
  std::vector<std::uint32_t> iterations; ///< by loop; of loops around pc only
};

/// What a fragment remembers about a place where lanes parted from it.
struct Parting {
  std::uint64_t id = 0;    ///< the same on both sides
  std::uint32_t where = 0; ///< the next instruction at which the two sides may come together again;
                           ///< no_index: where the function returns
  std::size_t depth = 0;   ///< of the stack there
};

/// Lanes of a warp that execute together.
struct Fragment {
  enum class State : std::uint8_t { ready, at_sync, at_barrier };
  LaneMask mask = 0;
  State state = State::ready;
  std::uint8_t barrier = 0;
  std::vector<Activation> stack;
  std::vector<Parting> partings;
  std::uint64_t met = 0; ///< the meeting that it comes from; 0 once it has gone on
};

/// What belongs to one depth of calls, for all lanes of a warp.
struct CallLevel {
  std::vector<std::uint64_t> registers; ///< register * 32 + lane
  std::vector<std::uint8_t> parameters; ///< lane * max + offset
  std::vector<std::uint8_t> local;      ///< lane * max + offset
  std::vector<std::uint8_t> local_written;
  std::vector<ExactReal> reals; ///< behind the registers, if they are followed
};

struct BlockState;
struct TensorMemory;

/// A cp.async that has been issued and not yet waited for.
struct PendingCopy {
  unsigned lane = 0;
  std::uint32_t group = 0;
  std::uint64_t to = 0, from = 0;
  std::uint32_t size = 0, given = 0; ///< bytes written, bytes read
  const WarpInstruction *instruction = nullptr;
};

/// A wgmma.mma_async that has been issued and not yet waited for.
struct PendingProduct {
  const WarpInstruction *instruction = nullptr;
  std::size_t depth = 0; ///< of calls
  std::uint32_t function = 0;
  std::uint32_t number = 0; ///< among those of the warp, from 1
};

struct Translation;

/// Room for slots: vectors that cross lines of the cache take longer.
struct alignas(64) SlotLine {
  std::uint64_t words[8];
};

/// Registers that translated code has left in its slots (warp_engine.h) and that rows are to get
/// before anybody reads them: those of a fragment's lanes, at a depth of calls.
struct HeldRegisters {
  const Translation *code = nullptr; ///< whose slots; null: rows have everything
  LaneMask mask = 0;
  std::size_t depth = 0;
  std::uint32_t pc = 0;        ///< those that may be read from here on
  bool rows_are_blank = false; ///< with anything in them, and to be zeros first
  std::vector<SlotLine> slots;
};

struct WarpState {
  BlockState *block = nullptr;
  std::uint32_t index = 0; ///< in the block
  LaneMask all = 0;        ///< lanes that it began with
  LaneMask live = 0;       ///< those that have not exited
  LaneMask left = 0;       ///< those that have, and are known not to take part in later epochs
  std::vector<Fragment> fragments;
  std::vector<CallLevel> levels;
  const std::uint32_t (*tid)[warp_lanes] = nullptr; ///< by axis: of WarpShape
  /// It has no fragments: all its lanes are together in translated code, with registers in slots.
  bool is_whole = false;
  bool waits = false;       ///< a whole warp, at a barrier
  std::uint8_t barrier = 0; ///< that it waits at
  Activation at;            ///< where a whole warp is
  std::vector<PendingCopy> copies;
  std::uint32_t copy_group[warp_lanes] = {}; ///< that a lane's next copy belongs to
  std::vector<PendingProduct> products;
  std::uint32_t products_issued = 0;
  std::vector<std::uint32_t> product_groups; ///< how many had been issued when each was committed
  std::uint64_t products_seen = 0;           ///< a hash of all so far
  ThreadMoment products_read;                ///< when the last of them read its matrices
  /// Of Translation::specials: number * 32 + lane.
  std::vector<std::uint64_t> specials;
  const Translation *specials_of = nullptr;
  HeldRegisters held;
};

/// The threads of a block that are a warp, the same in all blocks of a launch.
struct WarpShape {
  LaneMask lanes = 0;
  std::uint32_t tid[3][warp_lanes] = {};
};

struct BarrierState {
  /// Where a thread came to it, if barriers are checked.
  struct Arrival {
    const WarpInstruction *at = nullptr;
    std::uint32_t function = 0;
  };
  bool used = false;
  bool awaited = false;                    ///< a thread waits, not only arrives
  Arrival first;                           ///< of all
  std::vector<Arrival> aligned;            ///< by warp, the first that is for all of its lanes
  std::uint32_t expected = 0;              ///< threads; 0: all
  std::vector<LaneMask> arrived;           ///< by warp
  KnownPast past;                          ///< of those who arrived, if races are checked
  std::uint32_t true_count = 0, count = 0; ///< of bar.red's predicates

  /// Nobody has come to it.
  void clear(std::uint32_t warps) {
    used = awaited = false;
    first = {};
    aligned.clear();
    expected = true_count = count = 0;
    arrived.assign(warps, 0);
    past.clear();
  }
};

struct BlockState {
  std::uint32_t index = 0; ///< among the blocks that run
  std::uint64_t first_step = 0;
  std::uint32_t ctaid[3] = {};
  std::uint32_t epoch = 0;
  std::vector<WarpState> warps;
  std::vector<std::uint8_t> shared, shared_written;
  std::shared_ptr<TensorMemory> tensor_memory; ///< once something is allocated
  BarrierState barriers[16];
  std::uint32_t used_barriers = 0; ///< those of them that somebody has come to, in bits
  /// By warp, lanes at the cluster's barrier: those that have arrived in this phase, and those that
  /// may wait.
  std::vector<LaneMask> cluster_arrived, cluster_due;
  std::uint32_t live_warps = 0;
};

/// Thrown within the machine, caught in run().
struct MachineFault {
  WarpFault fault;
};

/// What becomes of the lanes that have executed an instruction.
enum class NextStep : std::uint8_t {
  advance, ///< they go on behind it
  stay,    ///< they have been moved elsewhere
  stop,    ///< they wait, or their fragment is another one now
};

/// One launch being run: what all parts of the machine see of it.
struct MachineRun {
  MachineRun(const WarpProgram &program, std::uint32_t kernel, const WarpLaunch &launch,
             const WarpOptions &options);

  WarpCount &count_of(const WarpState &warp) {
    return outcome.counts[warp.block->index][warp.index];
  }
  /// The number of a block's cluster; without clusters each block is one.
  std::uint32_t cluster_of(const BlockState &block) const;
  /// Where the block of some number, in the order in which they are started, is in the grid:
  /// clusters one after the other.
  void find_block(std::uint32_t index, std::uint32_t (&ctaid)[3]) const;
  /// The same where `ctaid` is the place of the block before it, and there are no clusters.
  void find_next_block(std::uint32_t index, std::uint32_t (&ctaid)[3]) const {
    if (!launch.blocks.empty())
      return find_block(index, ctaid);
    for (int axis = 0; axis < 3 && ++ctaid[axis] == launch.grid[axis] && axis != 2; ++axis)
      ctaid[axis] = 0;
  }
  /// A block's number in its cluster (%cluster_ctarank).
  std::uint32_t rank_of(const BlockState &block) const;
  /// The block of a rank in the cluster of another one; null if there is none, it has not started,
  /// or has ended.
  BlockState *block_of_rank(const BlockState &of, std::uint64_t rank) const;
  /// The block whose shared memory an address of another one is in, and the offset there. Null:
  /// see block_of_rank().
  std::pair<BlockState *, std::uint64_t> shared_place(BlockState &own, std::uint64_t address) const;
  /// The address in the block of a rank that corresponds to one of shared memory (mapa).
  std::uint64_t shared_of_rank(std::uint64_t rank, std::uint64_t address) const;
  const Function &kernel_function() const { return *program.function(kernel).function; }

  const WarpProgram &program;
  const std::uint32_t kernel;
  const WarpLaunch &launch;
  const WarpOptions &options;
  WarpRandom random;
  std::unique_ptr<RaceDetector> races; ///< null: nobody asked
  WarpOutcome outcome;
  std::vector<std::unique_ptr<BlockState>> active; ///< blocks that have started and not ended
  std::uint32_t started = 0;                       ///< blocks
  Extents cluster;                                 ///< in blocks (PTX ISA 11.4.8)
  bool explicit_cluster = false;
  std::uint32_t block_threads = 0;
  std::uint32_t block_warps = 0;
  std::uint32_t shared_bytes = 0;  ///< of a block, with what lies between variables
  std::uint32_t shared_in_use = 0; ///< of these, bytes of variables
  /// By byte of a block's shared memory: a variable that the kernel has is there.
  std::vector<char> shared_variables;
  std::uint32_t max_parameters = 0; ///< bytes of any function
  std::uint32_t max_local = 0;      ///< bytes of any function
  std::uint64_t workspace = 0;      ///< address of a cooperative grid's
};

} // namespace ptxasw::emulator
