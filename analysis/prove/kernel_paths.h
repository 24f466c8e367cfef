#pragma once

// What proofs about threads stand on: a kernel's accesses and barriers, and the condition under
// which control gets to a block, as expressions of one symbolic emulation.

#include "emulator/facts/access.h"
#include "emulator/machine/warp_order.h"
#include "emulator/symbolic/emulate.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ptxasw::analysis {

/// One access of a thread to memory that it may share with others.
struct SharedAccess {
  std::uint32_t instruction = 0; ///< index in Function::instructions
  std::uint32_t line = 0;
  facts::AccessKind kind = facts::AccessKind::load;
  StateSpace space = StateSpace::global; ///< global or shared
  unsigned bytes = 0;
  BlockId block = 0;
  Expr address = nullptr; ///< 64 bits, loops written out
  Expr guard = nullptr;   ///< the same, width 1; null: not predicated
  bool weak = true;       ///< PTX ISA 8.6: neither atomic nor relaxed, acquire, release, volatile
  bool is_volatile = false;
  bool is_packed = false; ///< two of 16 bits in one, each accessed for itself (PTX ISA 8.2.2)
  bool is_copy = false;   ///< of cp.async: at any time before the copy is waited for
  bool read_only = false; ///< a load of memory that, by contract, nobody writes (`.nc`)
  ThreadScope scope = ThreadScope::device; ///< of a strong one
  Expr base = nullptr; ///< the pointer parameter or variable it goes through; null: not known

  bool writes() const { return kind != facts::AccessKind::load; }
};

/// A barrier of a whole block, or bar.warp.sync of lanes.
struct BarrierSite {
  std::uint32_t instruction = 0;
  std::uint32_t line = 0;
  BlockId block = 0;
  Expr guard = nullptr; ///< width 1; null: none
  bool of_warp = false;
  Expr mask = nullptr; ///< of a warp: the lanes, width 32; null: neither it nor who waits is known
};

/// A place in the way of a proof.
struct ProofObstacle {
  std::uint32_t line = 0; ///< 0: the function as a whole
  std::string reason;
};

/// The facts of one kernel.
class KernelPaths {
public:
  KernelPaths(const Module &module, const Function &kernel, const LaunchFacts &launch);

  const Module &module() const { return module_; }
  const Function &kernel() const { return kernel_; }
  const LaunchFacts &launch() const { return launch_; }
  Emulation &emulation() { return emulation_; }
  ExprPool &pool() { return emulation_.pool(); }
  const ControlFlowGraph &cfg() const { return emulation_.cfg(); }

  /// What keeps anything from being said of accesses; nothing: they are all here.
  const std::optional<ProofObstacle> &obstacle() const { return obstacle_; }
  const std::vector<SharedAccess> &accesses() const { return accesses_; }
  /// Loads of constant memory whose addresses are understood.
  const std::vector<SharedAccess> &constant_loads() const { return constant_loads_; }
  const std::vector<BarrierSite> &barriers() const { return barriers_; }
  /// A barrier that orders something, but not a whole block: partial, named by a register, of a
  /// cluster. It counts as no order.
  const std::optional<ProofObstacle> &partial_barrier() const { return partial_barrier_; }

  /// True if two accesses of one thread, of which one is a copy, may be under way together.
  bool may_overlap(const SharedAccess &a, const SharedAccess &b) const;

  /// A line that reads a texture, whose memory no pointer but those of others leads to; 0: none.
  std::uint32_t texture_line() const { return texture_line_; }

  /// An access to local, constant or parameter memory that may leave its variable.
  const std::optional<ProofObstacle> &unbounded() const { return unbounded_; }

  /// What holds, expanded, where control has come to `block`, from a block `from` that dominates
  /// it, without regard to iterations of loops before the last one.
  Expr way(BlockId block, BlockId from = 0);
  /// The same for control that has come from the end of `start` through blocks whose ends are in
  /// `reached`.
  Expr way_since(BlockId start, const std::vector<bool> &reached, BlockId block);
  /// What a branch establishes on an edge, expanded; the constant 1 if nothing is known.
  Expr edge(BlockId from, BlockId to);
  /// What holds at the end of an iteration of a loop that is followed by another one.
  Expr another_round(LoopId loop);
  /// All symbols that addresses and branches depend on.
  const std::vector<Expr> &symbols();
  /// True if the edge goes back to the header of a loop that contains it.
  bool is_back_edge(BlockId from, BlockId to) const;

private:
  void find_accesses();
  void find_barriers();
  std::vector<Probe> probes();
  bool says_nothing(BlockId from, BlockId block);
  bool depends_on_rounds(Expr expr, const std::set<LoopId> &loops);
  Expr local(BlockId block);
  Expr guard_of(std::uint32_t instruction, std::size_t &probe);
  RegisterId mask_register(const Instruction &instruction) const;
  Expr mask_of(const Instruction &instruction, std::size_t &probe);
  void obstruct(std::uint32_t line, std::string reason);
  bool stays_inside(const facts::AccessSite &site, Expr address);
  bool is_harmless(const Instruction &instruction) const;
  bool is_waited_for(std::uint32_t copy);

  const Module &module_;
  const Function &kernel_;
  const LaunchFacts launch_;
  std::vector<facts::AccessSite> sites_;
  std::vector<Probe> probes_;
  Emulation emulation_;
  std::vector<Expr> local_; ///< by block
  std::optional<std::vector<Expr>> symbols_;
  std::vector<SharedAccess> accesses_, constant_loads_;
  std::vector<BarrierSite> barriers_;
  std::optional<ProofObstacle> obstacle_, partial_barrier_, unbounded_;
  std::uint32_t texture_line_ = 0;
  std::map<std::uint32_t, std::vector<bool>> under_way_; ///< by copy, instructions on the way to
                                                         ///< where it is complete
};

} // namespace ptxasw::analysis
