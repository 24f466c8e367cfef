#pragma once

// Between the warp emulator and code that was translated from a kernel (emulator/translate). The
// machine does not know how such code is made; it is handed a Translator, asks it for the functions
// of programs that have run long enough, and enters what it gets wherever that has an entry.
//
// Between its segments, translated code keeps registers in slots, which say more of them than the
// machine's rows: what is the same in all lanes, or goes up by a constant, has one number there.
// The machine fills slots where lanes enter, and the rows where they have left and the interpreter
// goes on, so that lanes may enter and leave at any instruction. Translated code stops in front of
// whatever it does not know, lanes that part and accesses that something is wrong with included:
// the interpreter goes on there, and is the one who says what is wrong.
//   set_translator(&translator); // from now on, for all programs

#include "emulator/machine/warp_memory.h"
#include "emulator/machine/warp_program.h"
#include "emulator/semantics/launch.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace ptxasw::emulator {

/// A stretch of global memory that translated code may access. Ends are exclusive; `to_host` is
/// added to an address.
struct KnownBytes {
  std::uint64_t first = 0, end = 0;
  std::uint64_t store_end = 0; ///< of what may be stored to; `first`: nothing
  std::uint64_t to_host = 0;
  GlobalMemory::Tracks *tracks = nullptr; ///< accesses are noted here; nothing else may access
};

/// The stretch that an instruction has accessed last, as code asks for it: no bytes where it may
/// not access any.
struct KnownAccess {
  std::uint64_t first = 0;   ///< of what the instruction accesses, a multiple of its size
  std::uint64_t size = 0;    ///< bytes from there on
  std::uint64_t count = 0;   ///< of such multiples from which on Translation::spans bytes are there
  std::uint64_t to_host = 0; ///< is added to an address; of shared memory, the frame says it
};

/// A stretch of shared memory, by 128 bytes: in these no two variables meet (variable_gap).
struct SharedBytes {
  std::uint32_t first = 0, end = 0;
};
inline constexpr std::uint32_t shared_granule = 128;

/// What a translation takes for granted of the lanes that execute it.
enum class LaneLayout : std::uint8_t {
  consecutive, ///< %tid.x goes up by 1 from lane to lane, %tid.y and %tid.z are the same in all
  rows_of_16,  ///< so it does in rows of so many lanes, %tid.y by 1 from row to row
  rows_of_8,
  any,      ///< nothing of %tid
  unshaped, ///< nor that any register is the same in all lanes, or goes up by a constant
};
inline constexpr std::size_t lane_layouts = 5;

/// Lanes of a row of a block's threads: a warp's, where rows are not shorter.
constexpr unsigned row_lanes(LaneLayout layout) {
  return layout == LaneLayout::rows_of_16 ? 16 : layout == LaneLayout::rows_of_8 ? 8 : warp_lanes;
}

/// How much more than lane 0's the value of each lane is.
struct LaneSteps {
  std::int64_t lane = 0; ///< from lane to lane
  std::int64_t row = 0;  ///< and besides from the last lane of a row to the first of the next
  bool operator==(const LaneSteps &) const = default;
  /// Of a lane, in rows of so many; modulo 2^64.
  constexpr std::uint64_t at(unsigned number, unsigned row_size) const {
    return number * static_cast<std::uint64_t>(lane) +
           number / row_size * static_cast<std::uint64_t>(row);
  }
};

/// Where translated code keeps a register between its segments.
struct RegisterSlot {
  enum class Shape : std::uint8_t {
    none,  ///< it is in the machine's row
    steps, ///< 64 bits with the value of lane 0; `steps` more in other lanes, modulo 2^width
    lanes, ///< a value for each lane; of one bit, 32 bits
  };
  Shape shape = Shape::none;
  std::uint8_t width = 0;
  bool any_nan = false;               ///< a NaN of any bits stands for that of f32 arithmetic
  std::uint8_t row_size = warp_lanes; ///< of `steps`
  std::uint32_t offset = 0;           ///< in bytes
  LaneSteps steps;
  /// How much more than lane 0's a lane's value is.
  std::uint64_t more(unsigned lane) const { return steps.at(lane, row_size); }
};

struct Translation;

/// Lanes that have parted from those that code runs, and wait for them where they meet.
struct ParkedLanes {
  std::uint32_t lanes = 0;
  std::uint32_t place = 0;       ///< where they are: where they meet the others, or jump there
  std::uint32_t meeting = 0;     ///< where they meet
  std::uint32_t branch = 0;      ///< the first of those at which they parted
  std::uint32_t took_branch = 0; ///< not 0: all of them, where they parted
  std::uint32_t *iterations = nullptr; ///< by loop
  std::uint8_t *slots = nullptr;       ///< with what others may have changed since then
};
inline constexpr std::size_t most_parked = 8;

/// What translated code is handed, and what it hands back.
struct TranslatedFrame {
  // What the code reads by offsets: the order does not matter, the names do (translate.cpp).
  std::uint8_t *slots = nullptr;
  /// Of Translation::specials: number * 32 + lane; lane 0 of most.
  const std::uint64_t *specials = nullptr;
  std::uint32_t *iterations = nullptr; ///< by loop
  std::size_t loops = 0;
  const std::uint8_t *parameters = nullptr;
  const KnownAccess *known = nullptr; ///< by instruction
  std::uint8_t *shared = nullptr;
  std::uint64_t local_base = 0; ///< address of this depth's frame of local memory
  std::int64_t budget = 0;      ///< instructions that may be executed; what is left of them
  std::uint32_t lanes = 0;
  std::uint32_t pc = 0;       ///< where they are
  std::uint32_t by_block = 0; ///< not 0: calls block_ends at the end of a block

  // Of a warp with all lanes whose code may go on with the warps behind it, from their beginning:
  std::uint32_t next_warps = 0; ///< so many, with all lanes
  /// By warp: what special registers of its own hold, those that are one number, in the order of
  /// Translation::specials.
  const std::uint64_t *next_specials = nullptr;

  // Runs of the lanes, which code ends and begins by itself where lanes part and meet and, as long
  // as some wait, at ends of blocks. Each of its own is of as many instructions as a turn.
  std::uint64_t time_slice = 0;   ///< instructions of a turn
  std::uint64_t enough_steps = 0; ///< thread-instructions of a whole warp in such a run
  std::uint64_t steps_left = 0;   ///< thread-instructions to the limit, when the run began
  std::uint64_t turn_left = 0;    ///< instructions of a whole warp, when the run began
  std::uint64_t run_steps = 0;    ///< thread-instructions of the run before code was entered
  std::uint64_t run_budget = 0;   ///< `budget` when it was
  std::uint32_t has_begun = 0;    ///< not 0: code has begun the run
  std::uint32_t has_parted = 0;   ///< not 0: lanes have parted in code
  std::uint32_t may_part = 0;     ///< 0: they may not without the machine
  /// The last of those that wait meet the others first.
  ParkedLanes parked[most_parked];
  std::uint32_t parked_count = 0;
  std::uint32_t parked_room = 0;     ///< so many of them have room for iterations and slots
  std::uint64_t parked_meetings = 0; ///< by bits: Translation::partings of where they wait
  std::uint32_t asks = 0; ///< not 0: some wait of whom code does not know who goes before whom

  /// Executes an instruction of registers alone for the lanes of a mask, from slots to slots.
  void (*compute)(TranslatedFrame *, std::uint32_t pc, std::uint32_t mask) = nullptr;
  /// A load or a store: `values` holds 32 elements of the instruction for each of its registers.
  /// Returns 0 if the interpreter has to do it; then nothing has happened.
  std::uint32_t (*access)(TranslatedFrame *, std::uint32_t pc, std::uint32_t mask,
                          const std::uint64_t *addresses, std::uint8_t *values) = nullptr;
  /// The same for addresses that go up by `step` from lane to lane.
  std::uint32_t (*access_steps)(TranslatedFrame *, std::uint32_t pc, std::uint32_t mask,
                                std::uint64_t first, std::uint64_t step,
                                std::uint8_t *values) = nullptr;
  /// Not all lanes, and not none, take a branch that is the last of so many instructions. Returns
  /// 0: the interpreter has to do it, and nothing has happened; 1: the others go on, without those
  /// that take it; 2: those that take it go on. From then on `lanes` are those.
  std::uint32_t (*part)(TranslatedFrame *, std::uint32_t pc, std::uint32_t taken,
                        std::uint32_t executed) = nullptr;
  /// Lanes come to the end of a block and go to an instruction. Returns 0: they leave there.
  /// Otherwise all of `lanes` go on, which may be more now.
  std::uint32_t (*block_ends)(TranslatedFrame *, std::uint32_t to) = nullptr;
  void *machine = nullptr; ///< of these
  void *context = nullptr;
  const Translation *code = nullptr;
};

/// A function of a program, translated.
struct Translation {
  virtual ~Translation() = default;
  /// Goes on at frame->pc, which must be an entry with no more instructions than the budget has.
  void (*code)(TranslatedFrame *) = nullptr;
  /// By instruction: how many are executed at least after an entry here; 0: it is none.
  std::vector<std::uint32_t> entries;
  /// By instruction: bytes that it accesses from its first lane's on, if that is always the same.
  std::vector<std::uint32_t> spans;
  std::vector<SpecialRegister> specials;
  std::vector<RegisterSlot> slots; ///< by register
  std::uint32_t slot_bytes = 0;    ///< a multiple of 64, where slots begin
  /// In front of each instruction, the registers in slots that may still be read: of instruction n,
  /// live[live_begin[n]] to live[live_begin[n + 1]].
  std::vector<std::uint32_t> live_begin, live;
  /// Of a branch at which code parts lanes, likewise: those that may be written before its sides
  /// meet and are read from there on.
  std::vector<std::uint32_t> changed_begin, changed;
  /// By instruction: if code parts lanes at this branch by itself, the number of the place where
  /// they meet, from 1 on; 0: it asks the machine.
  std::vector<std::uint8_t> partings;
  LaneLayout layout = LaneLayout::unshaped;
};

/// Returns true of those of which code reads a value for each lane: of others lane 0 is enough.
constexpr bool is_by_lane(SpecialRegister special, LaneLayout layout) {
  return (special >= SpecialRegister::tid_x && special <= SpecialRegister::tid_z &&
          layout >= LaneLayout::any) ||
         (special >= SpecialRegister::lanemask_eq && special <= SpecialRegister::lanemask_gt);
}

/// Returns true of those that may be others in each warp of a block.
constexpr bool is_of_warp(SpecialRegister special) {
  return (special >= SpecialRegister::tid_x && special <= SpecialRegister::tid_z) ||
         special == SpecialRegister::warpid;
}

/// Returns true if code goes on with the next warp where one ends, if it may: a kernel's, if it has
/// code for the first instruction.
inline bool goes_on_with_next(const WarpFunction &function, LaneLayout layout) {
  constexpr std::size_t most_loops = 16; ///< of which numbers are set
  return layout < LaneLayout::any && function.function->is_entry && function.local_bytes == 0 &&
         function.cfg->loops().size() <= most_loops;
}

class Translator {
public:
  virtual ~Translator() = default;
  /// Thread-instructions that a program has to run before a function of it is worth translating.
  virtual std::uint64_t worth(const WarpFunction &function) const = 0;
  /// Null if it cannot be done. Threads may call at once.
  virtual std::unique_ptr<Translation> translate(const WarpProgram &program, std::uint32_t function,
                                                 LaneLayout layout) = 0;
};

/// The translations of a program's functions, made when they are first wanted. Threads may ask at
/// once.
class ProgramTranslations {
public:
  explicit ProgramTranslations(std::size_t functions) : entries_(functions * lane_layouts) {}
  /// Null: there is none, or the program has not run long enough, with `steps` more by now.
  const Translation *of(const WarpProgram &program, std::uint32_t function, LaneLayout layout,
                        std::uint64_t steps);
  void add_steps(std::uint64_t steps) { steps_ += steps; }

private:
  struct Entry {
    bool tried = false;
    std::unique_ptr<Translation> translation;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::atomic<std::uint64_t> steps_ = 0; ///< thread-instructions of runs that have ended
};

/// Who translates for all runs from now on; null, as at the start: nobody. To be called before
/// other threads run kernels.
void set_translator(Translator *translator);
Translator *translator();

} // namespace ptxasw::emulator
