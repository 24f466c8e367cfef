#pragma once

// The machine behind run_kernel: internal to the warp emulator. It starts blocks, gives their warps
// turns, and executes instructions; how lanes part and meet (warp_schedule.h), what they do
// together (warp_collective.h, warp_barriers.h), memory (memory_view.h), what happens later
// (warp_async.h) and what the driver provides (warp_system.h) are parts with states of their own.

#include "emulator/machine/memory_view.h"
#include "emulator/machine/warp_async.h"
#include "emulator/machine/warp_barriers.h"
#include "emulator/machine/warp_bulk.h"
#include "emulator/machine/warp_cluster.h"
#include "emulator/machine/warp_collective.h"
#include "emulator/machine/warp_context.h"
#include "emulator/machine/warp_engine.h"
#include "emulator/machine/warp_schedule.h"
#include "emulator/machine/warp_system.h"
#include "emulator/machine/warp_tensor.h"
#include "emulator/machine/warp_texture.h"

namespace ptxasw::emulator {

class WarpMachine {
public:
  WarpMachine(const WarpProgram &program, std::uint32_t kernel, const WarpLaunch &launch,
              GlobalMemory &memory, const WarpOptions &options)
      : run_(program, kernel, launch, options), memory_(run_, memory),
        may_translate_(can_translate(options)), layout_(layout_of(launch.block)) {}
  WarpOutcome run();

private:
  // Blocks and turns: warp_machine.cpp
  void validate() const;
  void start_next_block();
  std::unique_ptr<BlockState> start_block(std::uint32_t index);
  void find_shapes();
  void start_warp(WarpState &warp, bool with_rows);
  bool step_blocks();
  /// Takes blocks that have ended from those that run; false: none has.
  bool end_blocks();
  /// `has_run`: its turn has begun, and it has left code that it ran whole.
  bool run_warp(WarpState &warp, bool has_run);
  bool run_turn(WarpState &warp, bool has_run);
  void note_turn(const WarpState &warp);
  /// `has_begun`: it goes on with a run.
  void run_fragment(WarpState &warp, std::size_t index, std::uint64_t quantum, bool to_block_end,
                    bool has_begun);
  /// Takes what a fragment has run from the warp's turn.
  void end_run();
  void count_step(const WarpContext &context, LaneMask lanes);
  void exit_lanes(WarpContext &context, std::size_t index, LaneMask lanes);
  void report_stuck(BlockState &block);

  // Instructions: warp_execute.cpp
  NextStep execute(WarpContext &context, std::size_t index);
  NextStep execute_flow(WarpContext &context, std::size_t index, LaneMask mask);
  void compute(WarpContext &context, LaneMask mask);
  void move(WarpContext &context, LaneMask mask);
  NextStep branch(WarpContext &context, std::size_t index, LaneMask mask);
  NextStep branch_table(WarpContext &context, std::size_t index, LaneMask mask);
  NextStep call(WarpContext &context, std::size_t index);
  void call_function(WarpContext &context, std::size_t index, const CallTarget &target);
  NextStep return_from(WarpContext &context, std::size_t index, LaneMask mask);

  // Translated code: warp_translated.cpp
  static bool can_translate(const WarpOptions &options);
  const Translation *translation(std::uint32_t function, LaneLayout layout);
  /// What is true of the lanes of each warp of such blocks.
  static LaneLayout layout_of(const Extents &block);
  /// Has a fragment's registers in the slots of a translation; false: they do not fit there.
  bool hold(WarpContext &context, const Fragment &fragment, const Translation &code);
  /// Brings what a warp holds in slots to the rows.
  void release_held(WarpState &warp);
  /// Returns true of an instruction that neither reads nor writes registers.
  static bool leaves_registers(const WarpInstruction &instruction);
  /// Returns true if a fragment's code has returned in front of an instruction that it does not
  /// know, which is next.
  static bool has_stopped(const WarpState &warp, const Fragment &fragment);
  /// What has become of a run of a fragment. It begins: of others before it that have ended, and
  /// where the fragment of this one ends a run, it has not come yet.
  enum class Translated : std::uint8_t { nothing, went_on, begins, ended };
  /// Executes what has been translated from where a fragment is. If lanes have parted meanwhile,
  /// `index`, `quantum` and `to_block_end` are those of the fragment that goes on.
  Translated run_translated(WarpState &warp, std::size_t &index, std::uint64_t &quantum,
                            bool &to_block_end);
  /// The same for a warp that is whole, and what has become of it: it gets fragments only if it
  /// neither ends nor waits at a barrier where code returns.
  void run_whole(WarpState &warp);
  Translated settle_whole(WarpState &warp, std::size_t &index, std::uint64_t &quantum,
                          bool &to_block_end);
  /// The translation that warps may run as long as they are whole; null: none.
  const Translation *for_whole_warps();
  void find_whole_code();
  /// Returns true if warps of a block that begins are whole and do not wait for each other so.
  bool may_run_straight();
  /// Runs such blocks, one after the other; returns where a warp has stopped before its end, with
  /// its block among those that run.
  void run_straight(std::uint32_t blocks);
  /// How many warps behind one code may go on with by itself.
  std::uint32_t warps_behind(const WarpState &warp) const;
  /// Says whose code it is that runs, of warps that code goes on with.
  void find_straight_warp(TranslatedFrame &frame);
  /// The same, counts what the warps before it have executed, and lets code go on with no other.
  void stay_with_warp(TranslatedFrame &frame);
  /// Runs a block of whole warps that meet at barriers only; returns where one stops elsewhere, or
  /// none can go on.
  void run_together(BlockState &block);
  void release_together(BlockState &block, unsigned barrier);
  void find_stops();
  /// What the special registers hold that code reads, of a whole warp.
  void find_whole_specials(const WarpContext &context, const Translation &code);
  const std::uint64_t *specials_of_whole(const WarpContext &context, const Translation &code);
  /// Gives a whole warp a fragment, with its registers where code has left them.
  void make_fragment(WarpState &warp);
  void make_frame();
  /// Has a frame for a function's code.
  void prepare_frame(WarpContext &context, const Translation &code);
  void forget_known_bytes();
  /// Runs code from an instruction for some lanes; `quantum`: how many instructions.
  void enter(WarpContext &context, const Translation &code, LaneMask lanes, std::uint32_t pc,
             std::uint32_t *iterations, std::uint64_t quantum, bool by_block);
  /// So many instructions, or as many as some lanes may still execute.
  std::uint64_t within_limit(std::uint64_t quantum, LaneMask lanes) const;
  /// Lanes of a frame begin a run, as those of a fragment do; what they have executed counts.
  void begin_run(TranslatedFrame &frame, std::uint64_t quantum);
  void count_run(TranslatedFrame &frame);
  /// A warp holds in slots what code has left there.
  void hold_what_is_left(const WarpContext &context);
  /// Makes fragments of what code has left, in the place of one that all of them were.
  Translated settle(WarpContext &context, std::size_t &index, std::uint64_t &quantum,
                    bool &to_block_end);
  std::uint32_t part_in_code(TranslatedFrame &frame, std::uint32_t pc, LaneMask taken,
                             std::uint32_t executed);
  bool end_block_in_code(TranslatedFrame &frame, std::uint32_t to);
  /// Lanes are about to enter code at an instruction.
  void start_frame(LaneMask lanes, std::uint32_t pc, bool by_block);
  /// Takes over what code has counted in runs of its own.
  void hear_code(TranslatedFrame &frame);
  /// The place of lanes that wait, as the scheduler takes it.
  const Activation &place_of(const TranslatedFrame &frame, std::size_t parked);
  void make_room(TranslatedFrame &frame, std::size_t parked);
  static bool park(const TranslatedFrame &frame, const ParkedLanes &parked, LaneMask lanes);
  static bool unpark(TranslatedFrame &frame);
  /// Lets those who wait at a jump to where they meet the others take it; false: they cannot, or
  /// the warp's turn has ended with it.
  bool take_jump(TranslatedFrame &frame);
  /// Those that go on are at an instruction.
  void go_from(const TranslatedFrame &frame, std::uint32_t pc);
  /// Returns true if those that go on have their turn before all that wait.
  bool goes_before_parked(const TranslatedFrame &frame);
  void find_shared_bytes();
  /// What code asks for from now on where an instruction accesses memory.
  void know_access(const TranslatedFrame &frame, std::uint32_t pc, const KnownBytes &bytes);
  /// The variable that an address of shared memory is in, if it is in one.
  KnownBytes known_shared(std::uint64_t address) const;
  std::uint8_t *known_bytes(const WarpContext &context, unsigned lane, std::uint64_t address,
                            std::uint64_t size, bool is_store);
  std::uint8_t *known_global(std::uint64_t address, std::uint64_t size, bool is_store);
  bool access(TranslatedFrame &frame, std::uint32_t pc, LaneMask mask,
              const std::uint64_t *addresses, std::uint8_t *values);
  bool access_at_once(TranslatedFrame &frame, std::uint32_t pc, LaneMask mask,
                      const std::uint64_t *addresses, std::uint8_t *values);
  void compute_in_slots(TranslatedFrame &frame, std::uint32_t pc, LaneMask mask);

  MachineRun run_;
  MemoryView memory_;
  WarpScheduler scheduler_{run_};
  AsyncUnit async_{run_, memory_, scheduler_};
  TensorUnit tensor_{run_, memory_, async_};
  Collectives collectives_{run_, memory_, scheduler_, tensor_};
  Barriers barriers_{run_, scheduler_};
  BulkUnit bulk_{run_, memory_, async_};
  TextureUnit textures_{memory_};
  ClusterUnit clusters_{run_, memory_, async_};
  DriverCalls driver_{run_, memory_};
  ConcreteDomain domain_;
  const bool may_translate_;
  /// By function and layout; null: not yet, or none.
  std::vector<std::array<const Translation *, lane_layouts>> translations_;
  std::vector<std::unique_ptr<BlockState>> ended_; ///< blocks whose room the next ones take
  std::vector<std::uint8_t> shared_at_start_;      ///< a block's
  std::vector<WarpState *> ready_warps_; ///< of step_blocks() and run_warp(), for the room
  std::vector<std::size_t> ready_fragments_;
  static constexpr std::size_t most_spare = 64;
  std::vector<Fragment> spare_fragments_; ///< of lanes that have ended, for the room
  std::vector<KnownBytes> known_;         ///< by the number of a page; empty until code is entered
  /// Of a function's translation.
  std::vector<std::array<std::vector<KnownAccess>, lane_layouts>> known_by_instruction_;
  std::uint64_t known_changes_ = 0; ///< GlobalMemory::changes() of these
  std::vector<SharedBytes> shared_bytes_;
  std::vector<WarpShape> shapes_; ///< by warp of a block
  TranslatedFrame frame_;
  struct Turn {
    std::uint64_t left = 0;   ///< of a warp's, in instructions of a whole warp
    std::uint64_t before = 0; ///< steps when the fragment that runs began to
  };
  Turn turn_;
  std::uint64_t run_quantum_ = 0; ///< what code began its run of a fragment with
  std::uint64_t run_budget_ = 0;  ///< the same, within the limit of steps
  /// Of the frame's lanes that wait. It is all as if they were a fragment, which they become if the
  /// code returns before they meet the others. They are in the order in which they parted, once for
  /// each place, and meet the others in the opposite order.
  struct ParkedRoom {
    Activation place; ///< the iterations are the frame's
    std::vector<SlotLine> slots;
  };
  std::vector<ParkedRoom> parked_room_{most_parked};
  bool run_ended_ = false;     ///< of the lanes that go on, with the code's return
  Activation going_, waiting_; ///< of those that go on and that wait, for the room
  /// IdleSide of each instruction of a function that lanes have parted in.
  std::vector<std::vector<std::optional<IdleSide>>> idle_sides_;
  const std::optional<IdleSide> &idle_side(std::uint32_t function, std::uint32_t pc);
  CallLevel whole_level_;                   ///< room for rows, of warps that are whole
  const Translation *whole_code_ = nullptr; ///< that they run
  bool runs_straight_ = false;              ///< it has no barrier at which warps wait whole
  bool runs_together_ = false;              ///< it has one
  std::vector<SlotLine> straight_slots_;    ///< of run_straight(), for the room
  std::vector<std::uint32_t> straight_iterations_;
  std::uint32_t straight_last_ = no_index; ///< the last warp that code goes on with
  /// At what whole warps stop, by instruction of the kernel: the number of a barrier, or:
  static constexpr std::uint8_t ends_warp = 16, ends_whole = 17;
  std::vector<std::uint8_t> stops_;
  struct WholeSpecials {
    const Translation *code = nullptr;
    std::uint32_t block = 0; ///< whose they are
    std::vector<std::uint64_t> values;
    struct One {
      std::size_t row; ///< in values
      SpecialRegister special;
    };
    std::vector<One> of_block, by_lane;  ///< not the same in all of them; of a warp, in its lanes
    std::vector<std::size_t> of_warp;    ///< rows of those that are one number in each warp
    std::vector<std::uint64_t> of_warps; ///< by warp of a block: these numbers
  };
  WholeSpecials whole_specials_;
  /// Steps at which translations are asked for again.
  std::array<std::uint64_t, lane_layouts> next_question_{};
  const LaneLayout layout_; ///< of this launch's blocks
};

} // namespace ptxasw::emulator
