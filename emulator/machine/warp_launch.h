#pragma once

// Running a kernel on the CPU.
//
// Grid, blocks and warps of 32 lanes run the same instruction table as the symbolic emulator, on
// numbers. Lanes of a warp that diverge are scheduled by a policy; a correct program does not
// notice which one, but `activemask` and the interleaving of memory accesses do.

#include "emulator/machine/exact_real.h"
#include "emulator/machine/warp_fault.h"
#include "emulator/machine/warp_memory.h"
#include "emulator/machine/warp_program.h"
#include "emulator/semantics/launch.h"
#include "emulator/semantics/parameter_layout.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptxasw::emulator {

/// What the driver is given to launch a kernel.
struct WarpLaunch {
  Extents grid;
  Extents block{32, 1, 1};
  /// Which blocks of the grid to run, by number (x first); empty: all of them.
  std::vector<std::uint64_t> blocks;
  std::uint32_t dynamic_shared = 0; ///< bytes
  /// Blocks of a cluster; nothing: what the kernel's .reqnctapercluster says.
  std::optional<Extents> cluster;
  std::vector<std::uint8_t> parameters;
};

/// How the lanes of a warp that have diverged come together again.
enum class WarpSchedule : std::uint8_t {
  reconverge, ///< where the branches' paths meet
  apart,      ///< never; only `.sync` instructions act together
  random,     ///< apart for as long as the seed likes; together where a branch that parted them
          ///< lets them meet or a `.sync` has made them (soundness.md, E1). Warps and up to four
          ///< blocks interleave.
};

/// A way to schedule a launch, with what its pseudo-random decisions are drawn from.
struct SeededSchedule {
  WarpSchedule policy = WarpSchedule::reconverge;
  std::uint64_t seed = 0;
  /// As `--schedule` takes it: reconverge, apart, or random:SEED.
  std::string text() const {
    return policy == WarpSchedule::reconverge ? "reconverge"
           : policy == WarpSchedule::apart    ? "apart"
                                              : "random:" + std::to_string(seed);
  }
};

/// Executions of one instruction.
struct InstructionProfile {
  std::uint64_t warps = 0;          ///< times a warp executed it
  std::uint64_t lanes = 0;          ///< times a lane executed it
  std::uint64_t holds = 0;          ///< of those, how often the predicate that it computes held
  std::uint64_t sectors = 0;        ///< 32-byte sectors of global memory that it touched
  std::uint64_t bank_conflicts = 0; ///< shared-memory passes beyond one per warp access
};

/// What one warp did, as docs/cost.md defines it.
struct WarpCount {
  std::uint64_t instructions = 0; ///< executions, by however many of its lanes together
  std::uint64_t sectors = 0;      ///< 32-byte sectors of global memory, added up over accesses
  std::uint64_t conflicts = 0;    ///< shared-memory passes beyond one per access
  std::uint64_t divwarps = 0;     ///< branches at which lanes that had been together parted
};

/// Instructions, sectors, conflicts and divergence together.
inline std::uint64_t steps_of(const WarpCount &count) {
  return count.instructions + count.sectors + count.conflicts + count.divwarps;
}

/// An instruction that lanes of a warp are about to execute.
struct WarpStep {
  std::uint32_t function = 0; ///< in the program
  const WarpInstruction *instruction = nullptr;
  std::uint32_t block[3] = {};
  std::uint32_t warp = 0;  ///< in the block
  std::uint32_t lanes = 0; ///< by bits; those that the guard excludes are among them
  const std::uint64_t *registers = nullptr; ///< register * 32 + lane
};

/// An observer of a run.
class WarpObserver {
public:
  virtual ~WarpObserver() = default;
  virtual void before(const WarpStep &step) = 0;
};

/// What kernels hold from malloc.
struct DeviceHeap {
  std::unordered_map<std::uint64_t, std::uint64_t> sizes; ///< bytes by address
  std::uint64_t bytes = 0;
};

/// The end of a warp's turn.
struct WarpTurn {
  std::uint32_t block = 0, warp = 0; ///< by number, among the blocks that run
  std::uint64_t steps = 0;           ///< of the launch, by then
  bool ended = false;                ///< and of the warp
  bool operator==(const WarpTurn &) const = default;
};

/// How to run it.
struct WarpOptions {
  WarpSchedule schedule = WarpSchedule::reconverge;
  std::uint64_t seed = 0;
  bool lanes_alone = false;      ///< parted from the beginning, which matters to `apart`
  std::uint64_t shared_seed = 0; ///< of what shared memory holds before anything is written there
  bool check_races = false;
  bool volatile_races = false; ///< volatile accesses race, as weak ones do
  /// For races: instructions on matrices order the lanes of their warp, as bar.warp.sync does.
  bool matrices_order = false;
  /// Divergent and mismatched barriers, arrivals without a wait, shuffles from lanes outside.
  bool check_barriers = false;
  bool only_barriers_order = false; ///< for races: fences and atomics order nothing
  /// A store that leaves memory as it is races with no store of that value.
  bool allow_same_value = false;
  bool check_uninitialized = false;
  /// What is read uninitialized is noted (WarpOutcome::uninitialized), and the run goes on.
  bool go_on_uninitialized = false;
  /// What accesses of memory do wrong is noted (WarpOutcome::findings), races included, and the run
  /// goes on: a load from where nothing is gives 0, a store there does nothing.
  bool go_on = false;
  bool profile = false;
  bool profile_memory = false;           ///< with sectors and bank conflicts
  bool count = false;                    ///< by warp, see WarpOutcome::counts
  bool note_touched = false;             ///< mark what is accessed in the global memory's pages
  const GlobalMemory *allowed = nullptr; ///< global loads may only touch what was noted there
  std::uint64_t step_limit = ~std::uint64_t{0}; ///< thread-instructions
  /// Bytes that the emulation itself may use for what the kernel touches, races included.
  std::uint64_t memory_limit = ~std::uint64_t{0};
  unsigned threads = 1;     ///< of the host, for blocks; the result is the same
  bool tables_only = false; ///< no fast functions: for tests of them
  WarpObserver *observer = nullptr;
  /// Instructions until another warp gets a turn. Others than this are for tests.
  std::uint64_t time_slice = 20'000;
  /// Turns are noted here in their order, if blocks run one after the other; those at whose end
  /// the warp has ended may be missing.
  std::vector<WarpTurn> *turns = nullptr;
  std::uint64_t heap_limit = 8 << 20; ///< bytes that kernels may hold from malloc at a time
  DeviceHeap *heap = nullptr;         ///< of them, if a later run may go on with it
  ExactMemory *reals = nullptr; ///< real numbers are computed along, those in memory kept here
  std::uint64_t watch = 0;      ///< an address whose last store is wanted; 0: none
};

/// What was found at one line of the text, or between two, and how many accesses did it.
struct WarpFinding {
  WarpFault first;
  std::uint64_t count = 1;
};

/// The result. Memory holds the kernel's effects up to the fault, if there is one.
struct WarpOutcome {
  std::optional<WarpFault> fault;
  std::optional<WarpFault> race;            ///< the first, if races are checked
  std::optional<WarpFault> same_value_race; ///< the first of those that change nothing
  std::optional<WarpFault> barrier;         ///< the first, if barriers are checked
  std::optional<WarpFault> uninitialized;   ///< the first, if the run goes on after it
  std::vector<WarpFinding> findings;        ///< if the run goes on after what it finds
  std::string output;                       ///< of printf
  std::optional<WarpFault> watched;         ///< where the watched address was last stored to
  /// Line of the first instruction that read something machine-dependent (%clock, %smid, ...); 0:
  /// none did.
  std::uint32_t machine_line = 0;
  bool parted = false;     ///< lanes of a warp went different ways: else the schedules `reconverge`
                           ///< and `apart` are one
  std::uint64_t steps = 0; ///< thread-instructions
  std::vector<std::vector<InstructionProfile>> profile; ///< by function and instruction
  std::vector<std::vector<WarpCount>> counts;           ///< by block (of those that ran) and warp
};

/// Runs a kernel to its end or first fault.
WarpOutcome run_kernel(const WarpProgram &program, std::uint32_t kernel, const WarpLaunch &launch,
                       GlobalMemory &memory, const WarpOptions &options);

} // namespace ptxasw::emulator
