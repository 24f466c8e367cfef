#pragma once

// The machine behind run_kernel: internal to the warp emulator.

#include "emulator/machine/exact_real.h"
#include "emulator/machine/warp_launch.h"
#include "emulator/machine/warp_races.h"
#include "emulator/semantics/banks.h"

#include <bit>

namespace ptxasw {

using LaneMask = std::uint32_t;

/// The space that a generic address lies in.
StateSpace space_of(std::uint64_t address);

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

/// A cp.async that has been issued and not yet waited for.
struct PendingCopy {
  unsigned lane = 0;
  std::uint32_t group = 0;
  std::uint64_t to = 0, from = 0;
  std::uint32_t size = 0, given = 0; ///< bytes written, bytes read
  const WarpInstruction *instruction = nullptr;
};

struct WarpState {
  BlockState *block = nullptr;
  std::uint32_t index = 0; ///< in the block
  LaneMask live = 0;
  std::vector<Fragment> fragments;
  std::vector<CallLevel> levels;
  std::uint32_t tid[3][warp_lanes] = {};
  std::vector<PendingCopy> copies;
  std::uint32_t copy_group[warp_lanes] = {}; ///< that a lane's next copy belongs to
};

struct BarrierState {
  /// What is checked of a warp's arrivals at an aligned barrier.
  struct Aligned {
    LaneMask due = 0; ///< lanes that lived when the first came
    const WarpInstruction *at = nullptr;
  };
  bool used = false;
  bool awaited = false;                    ///< a thread waits, not only arrives
  std::vector<Aligned> aligned;            ///< by warp
  std::uint32_t expected = 0;              ///< threads; 0: all
  std::vector<LaneMask> arrived;           ///< by warp
  KnownPast past;                          ///< of those who arrived, if races are checked
  std::uint32_t true_count = 0, count = 0; ///< of bar.red's predicates
};

struct BlockState {
  std::uint32_t index = 0; ///< among the blocks that run
  std::uint64_t first_step = 0;
  std::uint32_t ctaid[3] = {};
  std::uint32_t epoch = 0;
  std::vector<WarpState> warps;
  std::vector<std::uint8_t> shared, shared_written;
  BarrierState barriers[16];
  /// By warp, lanes at the cluster's barrier: those that have arrived in this phase, and those that
  /// may wait.
  std::vector<LaneMask> cluster_arrived, cluster_due;
  bool cluster_relaxed = false; ///< a thread arrived in this phase without ordering memory
  std::uint32_t live_warps = 0;
};

/// Thrown within the machine, caught in run().
struct MachineFault {
  WarpFault fault;
};

class WarpMachine {
public:
  WarpMachine(const WarpProgram &program, std::uint32_t kernel, const WarpLaunch &launch,
              GlobalMemory &memory, const WarpOptions &options);
  WarpOutcome run();

private:
  enum class Next : std::uint8_t { advance, stay, stop };

  // Scheduling: warp_machine.cpp
  void validate() const;
  std::unique_ptr<BlockState> start_block(std::uint32_t index);
  bool step_blocks();
  bool run_warp(WarpState &warp);
  std::size_t choose_fragment(WarpState &warp, const std::vector<std::size_t> &ready);
  void run_fragment(WarpState &warp, std::size_t index, std::uint64_t quantum, bool to_block_end);
  void merge_fragments(WarpState &warp, bool all);
  bool may_merge(const Fragment &a, const Fragment &b) const;
  bool awaits_others(const Fragment &fragment) const;
  void go_on(Fragment &fragment) const;
  static void forget_partings(const WarpState &warp, Fragment &fragment, const Fragment *gone);
  std::uint32_t meeting_place(const Activation &activation) const;
  bool runs_before(const Fragment &a, const Fragment &b) const;
  void report_stuck(const BlockState &block);
  void move_to(Activation &activation, std::uint32_t pc) const;
  void advance(Fragment &fragment) const {
    move_to(fragment.stack.back(), fragment.stack.back().pc + 1);
  }
  std::size_t split(WarpState &warp, std::size_t index, LaneMask lanes, std::uint32_t where);
  void exit_lanes(WarpState &warp, std::size_t index, LaneMask lanes);
  CallLevel &level(WarpState &warp, std::size_t depth);

  InstructionProfile &profile_of(const WarpInstruction &instruction) {
    return outcome_.profile[function_][static_cast<std::size_t>(
        &instruction - program_.function(function_).code.data())];
  }

  WarpCount &count_of(const WarpState &warp) {
    return outcome_.counts[warp.block->index][warp.index];
  }

  // Instructions: warp_execute.cpp
  Next execute(std::size_t index);
  void compute(LaneMask mask);
  void compute_fast(LaneMask mask);
  void move(LaneMask mask);
  Next branch(std::size_t index, LaneMask mask);
  Next branch_table(std::size_t index, LaneMask mask);
  Next call(std::size_t index);
  void call_function(std::size_t index, const CallTarget &target);
  Next return_from(std::size_t index, LaneMask mask);
  bool parts_lanes(const WarpInstruction &instruction, LaneMask mask, LaneMask all) const;
  LaneMask guard_mask(const WarpInstruction &instruction, LaneMask mask) const;
  std::uint64_t value(const WarpOperand &operand, unsigned lane) const;
  std::uint64_t special(SpecialRegister which, unsigned lane) const;
  void assign(const WarpOperand &operand, unsigned lane, std::uint64_t bits, unsigned width,
              bool sign_extends);

  // What the driver provides: warp_system.cpp
  void call_system(LaneMask mask);
  unsigned print_formatted(unsigned lane, std::uint64_t format, std::uint64_t arguments);
  std::string read_text(unsigned lane, std::uint64_t address);
  void make_workspace();

  // Real numbers: warp_real.cpp
  ExactReal real_of(const WarpOperand &operand, unsigned lane) const;
  /// The same, or the number that the bits are.
  ExactReal real_of(const WarpOperand &operand, unsigned lane, ScalarType type) const;
  void set_real(const WarpOperand &operand, unsigned lane, ExactReal real);
  ExactMemory::Space real_space(unsigned lane, std::uint64_t address) const;
  ExactMemory::Space frame_space(unsigned lane, std::size_t depth) const;
  ExactReal real_in_memory(unsigned lane, std::uint64_t address, ScalarType type,
                           std::uint64_t bits) const;
  ExactReal compute_real(unsigned lane, Args<ConcreteDomain> list, std::uint64_t result) const;
  ExactReal calculate_real(unsigned lane, Args<ConcreteDomain> list, std::uint64_t result) const;
  ExactReal atomic_real(ExactReal old, std::size_t index, unsigned lane) const;
  std::vector<ExactReal> multiply_reals() const;

  // Memory: warp_access.cpp
  void load(LaneMask mask);
  void store(LaneMask mask);
  void atomic(LaneMask mask);
  void is_space(LaneMask mask);
  std::uint64_t address_of(const WarpAddress &address, unsigned lane) const;
  std::uint64_t read_memory(unsigned lane, std::uint64_t address, unsigned size, StateSpace space);
  void write_memory(unsigned lane, std::uint64_t address, unsigned size, StateSpace space,
                    std::uint64_t bits);
  /// Where an access goes for which nothing has to be checked or noted; null: locate() says.
  std::uint8_t *quick_location(std::uint64_t address, std::uint64_t size, StateSpace space,
                               bool is_store);
  std::uint8_t *locate(unsigned lane, std::uint64_t address, unsigned size, StateSpace space,
                       bool is_store);
  void check_race(unsigned lane, std::uint64_t address, const std::uint8_t *bytes, unsigned size,
                  bool shared, bool is_store);
  /// Counts what the lanes of a mask touch with one access, if requested.
  void note_access(LaneMask mask, unsigned bytes, Pairing pairing) {
    note_access(mask, bytes, pairing, instruction_->address, instruction_->space);
  }
  void note_access(LaneMask mask, unsigned bytes, Pairing pairing, const WarpAddress &where,
                   StateSpace space);

  // What happens later: warp_async.cpp
  void copy_async(LaneMask mask);
  void wait_for_copies(LaneMask mask);
  void complete_copies(unsigned lane, std::uint32_t before_group);
  void perform_copy(unsigned lane, const PendingCopy &copy);
  void copy_bulk(LaneMask mask);
  void mbarrier(LaneMask mask);
  struct Mbarrier;
  Mbarrier read_mbarrier(unsigned lane, std::uint64_t address);
  void write_mbarrier(unsigned lane, std::uint64_t address, Mbarrier barrier);
  std::uint64_t arrive_at_mbarrier(unsigned lane, std::uint64_t address, std::uint32_t count,
                                   std::int32_t transactions, bool drops, bool completes);
  void order_by_mbarrier(unsigned lane, std::uint64_t address, bool releases);

  // Lanes together: warp_collective.cpp
  Next arrive_at_sync(std::size_t index, LaneMask mask);
  void complete_syncs(WarpState &warp);
  void perform_sync(LaneMask group, LaneMask named);
  void shuffle(LaneMask group, LaneMask named);
  void vote(LaneMask group);
  void match(LaneMask group);
  void reduce(LaneMask group);
  // Matrices: warp_matrix.cpp
  void matrix(LaneMask group);
  void multiply_matrices();
  void move_fragment(bool is_store);
  void move_rows(bool is_store);
  void transpose_matrix();
  LaneMask named_lanes(const WarpInstruction &instruction, unsigned lane) const;
  Next arrive_at_barrier(std::size_t index, LaneMask mask);
  void complete_barriers(BlockState &block);
  static bool all_wait(const BlockState &block, unsigned id);
  void release(BlockState &block, unsigned id, bool orders = true);
  void check_arrival(BarrierState &barrier, std::uint64_t id, LaneMask mask,
                     std::uint32_t expected);
  void check_release(const BlockState &block, unsigned id);
  void check_unused_arrivals(const BlockState &block);
  void report_barrier(FaultKind kind, unsigned lane, std::string message);
  Next arrive_at_cluster_barrier(std::size_t index, LaneMask mask);
  void complete_cluster(const std::uint32_t (&of)[3]);

  [[noreturn]] void fail(FaultKind kind, unsigned lane, std::string message,
                         std::uint64_t address = 0) const;
  /// The place of an earlier access.
  WarpFault place(const RaceDetector::Access &access) const;
  WarpFault place(FaultKind kind, unsigned lane, std::string message, std::uint64_t address) const;
  std::uint32_t thread_of(unsigned lane) const; ///< in the grid
  ThreadMoment moment(unsigned lane) const;
  /// Makes a fragment the one that execute() and its helpers work on.
  void enter(WarpState &warp, const Fragment &fragment);

  const WarpProgram &program_;
  const std::uint32_t kernel_;
  const WarpLaunch &launch_;
  GlobalMemory &memory_;
  const WarpOptions &options_;
  WarpRandom random_;
  ConcreteDomain domain_;
  std::unique_ptr<RaceDetector> races_;
  WarpOutcome outcome_;
  std::vector<std::unique_ptr<BlockState>> active_; ///< blocks that have started and not ended
  std::uint32_t started_ = 0;                       ///< blocks
  Extents cluster_;                                 ///< in blocks (PTX ISA 11.4.8)
  bool explicit_cluster_ = false;
  const bool is_plain_; ///< accesses are neither checked for races and the like nor noted
  std::uint32_t block_threads_ = 0;
  std::uint32_t block_warps_ = 0;
  std::uint32_t shared_bytes_ = 0;
  std::uint32_t max_parameters_ = 0;
  std::uint32_t max_local_ = 0;
  std::uint64_t partings_ = 0, meetings_ = 0; ///< so far
  bool yields_ = false;                       ///< the warp waits for others: its turn is over
  std::uint64_t workspace_ = 0;               ///< address of a cooperative grid's
  std::unordered_map<std::uint64_t, std::uint64_t> heap_; ///< bytes by address, of malloc
  std::uint64_t heap_bytes_ = 0;

  // The instruction being executed.
  WarpState *warp_ = nullptr;
  CallLevel *level_ = nullptr;
  std::size_t depth_ = 0;
  const std::uint64_t *stored_ = nullptr; ///< what a store in progress writes
  const WarpInstruction *instruction_ = nullptr;
  std::uint32_t function_ = 0;
};

} // namespace ptxasw
