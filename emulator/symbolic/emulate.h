#pragma once

// The symbolic emulator: what every address and branch of a kernel is, as an expression of
// parameters, thread and loop counts, for all launches at once. Detection and proofs begin with it:
//   Emulation emulation(module, kernel, launch_facts(kernel));
//   for (const MemoryAccess &access : emulation.trace()) // access.address, access.guard

#include "emulator/semantics/effects.h"
#include "emulator/semantics/launch.h"
#include "emulator/symbolic/expr.h"
#include "grammar/cfg.h"
#include "grammar/module.h"

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace ptxasw::emulator {

/// One access of the memory trace (paper, section 4.3).
struct MemoryAccess {
  std::uint32_t instruction = 0; ///< index in Function::instructions
  Effect effect = Effect::none;
  BlockId block = 0;
  StateSpace space = StateSpace::generic;
  unsigned bytes = 0;     ///< of the whole access, vectors included
  Expr address = nullptr; ///< 64 bits, loops unexpanded; null if the operand is not understood, or
                          ///< in local or shared memory
  Expr guard = nullptr;   ///< null: not predicated, or the path here shows that it holds
  Expr decided = nullptr; ///< the guard that the path here shows to hold; null: there is none
};

/// A place where a register is read: by `instruction`.
struct RegisterRead {
  std::uint32_t instruction = 0;
  RegisterId reg = no_register;
};

/// A question: what does a register hold just before an instruction, or just after it?
struct Probe {
  std::uint32_t instruction = 0;
  RegisterId reg = no_register;
  bool after = false;
};

/// Something a branch on the path established: `condition` (width 1) is `holds`.
struct PathFact {
  Expr condition = nullptr;
  bool holds = false;
};

/// Bytes of a kernel's parameter that a symbol stands for.
struct ParameterField {
  std::string_view parameter;
  std::int64_t offset = 0; ///< bytes within the parameter
  unsigned width = 0;      ///< bits
};

/// A register as it stands at the header of a loop.
struct LoopRegister {
  LoopId loop = no_index;
  Expr initial = nullptr; ///< where the loop is entered
  Expr next = nullptr;    ///< after an iteration, in terms of what it was
};

/// A register where flows meet that bring different values.
struct JoinRegister {
  BlockId block = 0;
  std::span<const std::pair<BlockId, Expr>> values; ///< by edge into the block; null: undefined
};

/// What an emulation cost, in countable units.
struct Effort {
  std::size_t expressions = 0; ///< nodes in the pool
  std::size_t phis = 0;        ///< registers at joins and loop headers
  std::size_t phi_operands = 0;
};

/// The lanes that uniform() and its like speak of.
enum class LaneGroup : std::uint8_t {
  row,       ///< those of one row of the warp, for which tid.y and tid.z are the same
  whole_row, ///< the same, where rows are taken to be whole warps
  warp,      ///< all lanes of the warp, in whatever rows
  block,     ///< all threads of the block: what lanes of a warp exchange is not theirs
};

/// The symbolic emulation of one function (paper, section 4).
///
/// One pass over the dominator tree in reverse postorder. Registers map to expressions; a branch
/// passes what it established as a fact to the blocks it dominates; flows that meet are joined, and
/// a register that differs becomes a join symbol. Joining at once instead of carrying one flow per
/// path keeps the work linear, and it is what soundness requires: two lanes of a warp may have
/// taken different paths, so an address that differs by path is not comparable across lanes.
///
/// A loop is entered once, its registers standing for any iteration. Afterwards those that step by
/// an invariant amount are expanded to initial + step * trip, one trip symbol per loop.
///
/// Only what addresses and branches depend on is evaluated at all.
class Emulation {
public:
  /// `probes` are answered by probed(). Unless `takes_paths`, nothing is known from branches, and
  /// what is said of a block holds of whoever computes what it says, wherever its branches lead.
  Emulation(const Module &module, const Function &function, const LaunchFacts &facts,
            std::span<const Probe> probes = {}, LaneGroup lanes = LaneGroup::row,
            bool takes_paths = true);
  ~Emulation();

  /// False if the function exceeded a budget or its control flow is not understood; the trace is
  /// then empty.
  bool complete() const;
  const ControlFlowGraph &cfg() const;
  ExprPool &pool();
  /// All accesses with an effect, each after those that dominate it.
  const std::vector<MemoryAccess> &trace() const;
  /// Successors that branches leave open beyond one each, where nothing decides them: one for a
  /// two-way branch, for a table one less than it has targets.
  unsigned undecided_branches() const;
  Effort effort() const;

  /// An expression with every loop register that steps evenly written out in trip symbols.
  Expr expand(Expr expr);
  /// True if an expression has the same value in all lanes of a row of the warp that are in `block`
  /// in the same iteration of every loop around it, except tid.x and laneid, which count as known
  /// (soundness.md, rule 2). With LaneGroup::warp: in all lanes of the warp, tid.y and tid.z being
  /// known as well.
  bool uniform_but_lane(Expr expr, BlockId block) const;
  /// The same with tid.x and laneid counted as varying.
  bool uniform(Expr expr, BlockId block) const;
  /// What decides by which edge the block is left, or whether lanes end there; null: not
  /// understood.
  Expr branch_choice(BlockId block) const;
  /// True if everything that must be the same for the lanes that an instruction brings together is
  /// so (guard, member mask, barrier); false for one that was never reached or is not understood.
  bool meets_evenly(std::uint32_t instruction) const;
  /// True if lanes of one row that are active in `block` together are in the same iteration of
  /// every loop around it (soundness.md, E1). If not, no lane may take what another one read there.
  bool in_step(BlockId block);
  /// The part of the function's parameters that a symbol is; nothing if it is none.
  std::optional<ParameterField> parameter_field(Expr symbol) const;
  /// The same number, where every warp is known (or taken) to lie in one row, with tid.x written as
  /// laneid and a multiple of 32 that the warp shares, so that what is the warp's and what is the
  /// lane's stand apart in it; elsewhere the expression itself.
  Expr by_lane(Expr expr);
  /// What by_lane() writes for tid.x / 32; null if it has nothing to write.
  Expr warp_in_row();
  /// True if an expression is tid.x or laneid itself.
  bool is_lane_symbol(Expr expr) const;
  /// What a symbol that stands for a register at a loop's header is; nothing if it is none, or
  /// differs by the path into or around the loop.
  std::optional<LoopRegister> loop_register(Expr symbol) const;
  /// What a symbol that stands for a register where flows meet is; nothing if it is none.
  std::optional<JoinRegister> join_register(Expr symbol) const;
  /// Index of the instruction whose result a symbol is, one that is not evaluated; nothing if it is
  /// none.
  std::optional<std::uint32_t> produced_by(Expr symbol) const;
  /// The symbol that counts a loop's iterations.
  Expr trip_count(LoopId loop) const;
  /// True if every symbol in the expression keeps its value while control stays in `loop`.
  bool invariant(Expr expr, LoopId loop) const;
  /// The expression as the lane `delta` lanes up in the same row sees it.
  Expr shift_lane(Expr expr, int delta);
  /// Where a 32-bit value (expanded) stood in a register when an instruction extended it, in trace
  /// order; null if nowhere.
  const std::vector<RegisterRead> *reads_of(Expr value);
  /// What the probe of that index found, loops unexpanded; null if control never gets there.
  Expr probed(std::size_t index) const;
  /// A special register (`%tid.x`); a new unknown each time for those that change or vary.
  Expr special(std::string_view name);
  /// The address of a variable, 64 bits.
  Expr symbol_address(std::string_view name);
  /// What holds in a block, the nearest branch first; distant ones are left out where there are
  /// many.
  std::vector<PathFact> facts_in(BlockId block) const;
  /// What the branch at the end of `from` establishes on its way to `to`, loops unexpanded; nothing
  /// if that is not one condition that is understood.
  std::optional<PathFact> fact_on_edge(BlockId from, BlockId to) const;
  /// False for a block that no lane reaches, by what branches establish.
  bool feasible(BlockId block) const;

private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace ptxasw::emulator
