#pragma once

// What a kernel does under which launches, told by its symbolic emulation. The search for launches
// asks it for conditions to meet; `ptxasw prove` asks which parameters are pointers:
//   std::vector<ParameterSlot> slots = parameter_slots(module, kernel);
//   const KernelModel marks_pointers(module, kernel, slots);

#include "emulator/machine/earlier_blocks.h"
#include "emulator/machine/warp_launch.h"
#include "emulator/symbolic/emulate.h"
#include "emulator/symbolic/evaluation.h"

#include <string>
#include <vector>

namespace ptxasw::emulator {

/// A value that a kernel reads from its parameters: a parameter, an element of one or a field.
struct ParameterSlot {
  std::string name;                      ///< of the parameter, with "+offset" for a field
  std::uint32_t offset = 0;              ///< in the kernel's parameter bytes
  ScalarType type = ScalarType::none;    ///< what it is loaded as, or computed with
  unsigned width = 0;                    ///< bits
  bool is_pointer = false;               ///< accesses go through it
  bool is_step = false;                  ///< a loop goes on by it
  ScalarType element = ScalarType::none; ///< what the first access through it reads or writes
};

/// The slots of a kernel: everything that it loads from its parameters, elements of vectors and
/// fields of structures included. KernelModel says which of them are pointers.
std::vector<ParameterSlot> parameter_slots(const Module &module, const Function &kernel);

/// How a launch affects a kernel, from its symbolic emulation: which parameters and thread
/// coordinates decide its branches and tests, and where its indices wrap around.
class KernelModel {
public:
  /// `slots` are those of the kernel; pointers and steps among them are marked.
  KernelModel(const Module &module, const Function &kernel, std::vector<ParameterSlot> &slots);

  /// What a symbol of the emulation is in a launch.
  struct Meaning {
    enum class Kind : std::uint8_t {
      unknown, ///< loaded, or an address of the machine's choice
      slot,    ///< bits [shift, shift + width) of a parameter slot
      tid,
      ctaid,
      ntid,
      nctaid,
      laneid,
      trip, ///< of a loop
    };
    Kind kind = Kind::unknown;
    std::uint32_t index = 0; ///< of the slot, or the axis
    unsigned shift = 0;
  };

  /// What a launch is wanted for: conditions that hold or not, in one thread.
  struct Wish {
    std::vector<PathFact> conditions;
    /// If set, its value should be near `bound`, as numbers of its width.
    Expr near = nullptr;
    std::uint64_t bound = 0;
  };

  /// False if the kernel is too much for the emulator: it then has no wishes.
  bool complete() const { return emulation_.complete(); }
  /// That an instruction is executed, by a lane whose guard allows it; nothing if it is never
  /// reached.
  std::optional<Wish> to_run(std::uint32_t instruction);
  /// The same, and that the predicate that it computes has the given outcome.
  std::optional<Wish> to_decide(std::uint32_t instruction, bool outcome);
  /// That control goes on from `block` to `next` when it has come there from `from`: as much of it
  /// as is known, which may be nothing.
  Wish to_turn(BlockId from, BlockId block, BlockId next);
  /// Instructions that compute a predicate.
  const std::vector<std::uint32_t> &tests() const { return tests_; }
  /// Wishes for values just on either side of a comparison or of where an index wraps.
  const std::vector<Wish> &boundaries();

  const Meaning &meaning(Expr symbol);
  /// What holds for the masks of active lanes that formulas mention, beyond the formulas: with a
  /// full mask the first and the last lane of the warp, other threads of the same block, get to
  /// where it was taken.
  std::vector<Expr> mask_facts(const std::vector<Expr> &formulas);
  Emulation &emulation() { return emulation_; }
  /// An expression of this kernel as what computes it, until the next is asked for.
  ExprProgram &program(Expr expr);

private:
  /// What branches have established before a block is entered, expanded.
  const std::vector<PathFact> &facts_before(BlockId block);
  std::vector<Probe> probes(const Module &module, const Function &kernel);
  Expr probed(std::uint32_t instruction, bool after);
  void mark_pointers();
  void mark_steps();
  void find_boundaries();

  const Module &module_;
  const Function &kernel_;
  std::vector<ParameterSlot> &slots_;
  std::vector<std::uint32_t> tests_, masks_;
  std::vector<std::uint32_t> guard_probe_, test_probe_,
      mask_probe_; ///< by instruction: index or no_index
  std::vector<Probe> probes_;
  Emulation emulation_;
  EarlierBlocks earlier_{module_, kernel_, emulation_.cfg()};
  std::vector<std::optional<std::vector<PathFact>>> facts_before_; ///< by block
  std::vector<Meaning> meanings_;
  std::vector<bool> known_meaning_;
  std::unordered_map<Expr, ExprProgram> programs_;
  std::size_t steps_ = 0; ///< of all programs
  std::vector<Wish> boundaries_;
  bool boundaries_found_ = false;
};

} // namespace ptxasw::emulator
