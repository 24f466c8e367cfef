#pragma once

// The inside of the proof: the run of one function's added code on expressions, shared by
//   prove.cpp          the walk over both texts, and what stands in place of a replaced load
//   prove_execute.cpp  one added instruction
//   prove_step.cpp     if lanes that are active together are in the same iteration
//   prove_reuse.cpp    if a value is that of a source: soundness.md, rule by rule

#include "synth/proof/prove.h"

#include "emulator/symbolic/address.h"
#include "emulator/symbolic/emulate.h"
#include "emulator/symbolic/generic.h"
#include "emulator/symbolic/line_evaluator.h"
#include "emulator/symbolic/solver.h"
#include "synth/known.h"
#include "synth/paths.h"
#include "synth/proof/match.h"

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ptxasw::synth {

class FunctionProver {
public:
  FunctionProver(const Module &original, const Function &before, const Module &rewritten,
                 const Function &after, const std::vector<std::uint32_t> &replaced,
                 const RewriteOptions &options, const GenericAddresses &generic)
      : a_(original), fa_(before), b_(rewritten), fb_(after), replaced_(replaced),
        options_(options), generic_(generic), facts_(launch_facts(before, options.assume_block)) {}

  FunctionProof run();

private:
  /// An instruction of either module and a register or element.
  using Key = std::pair<std::uint32_t, std::uint32_t>;

  /// The block of added code before the whole body: it runs once.
  static constexpr BlockId entry_block = no_index;
  /// Blocks that write a register: several.
  static constexpr BlockId several_blocks = no_index - 1;
  static constexpr BlockId not_written = no_index - 2;

  /// The value of one element of a load's destination.
  struct Loaded {
    std::uint32_t load = 0; ///< of the original
    unsigned element = 0;
  };
  struct Shuffle {
    Expr source = nullptr;
    SourceLane lane;
    unsigned region = 0;
    BlockId block = 0;
  };

  bool fail(Missing why) {
    if (failure_.empty())
      failure_ = why;
    return false;
  }
  ExprPool &pool() { return emulation_->pool(); }
  const ControlFlowGraph &cfg() const { return emulation_->cfg(); }
  bool is_replaced(std::uint32_t i) const {
    return std::binary_search(replaced_.begin(), replaced_.end(), i);
  }
  bool fresh(RegisterId reg) const { return match_.registers[reg] == no_register; }
  Expr opaque(std::string_view name, unsigned width) {
    return pool().symbol(std::string(name), std::max(width, 1u));
  }
  static unsigned width_of(const Function &function, RegisterId reg) {
    return bit_width(function.registers[reg].type);
  }
  const MemoryAccess *access(std::uint32_t instruction) const {
    const std::size_t index = trace_index_[instruction];
    return index == no_index ? nullptr : &emulation_->trace()[index];
  }
  /// Where a load runs now: as if just before the original instruction of this index.
  std::uint32_t position(std::uint32_t load) const {
    const auto found = moved_to_.find(load);
    return found == moved_to_.end() ? load : found->second;
  }

  void emulate();
  bool walk();
  bool walk_block(BlockId block, const std::vector<std::uint32_t> &code);
  bool move_up(std::uint32_t j, std::uint32_t load);
  Missing fault_of(std::uint32_t load);
  void settle(std::uint32_t load);
  void hold(std::uint32_t load);
  bool execute(const Instruction &instruction);
  bool shuffle(const Instruction &instruction, Expr guard);
  bool load(const Instruction &instruction, Expr guard);
  bool move(const MoveOperands &operands, Expr guard);
  bool compute(const Instruction &instruction, Expr guard);

  Expr value_of(const Operand &operand, unsigned width);
  /// A loaded value as the emulation of the original knows it, to compute with.
  Expr as_emulated(Expr value) const {
    const auto known = emulated_.find(value);
    return known == emulated_.end() ? value : known->second;
  }
  Expr read(RegisterId reg);
  bool write(const Operand &destination, Expr value, bool is_signed, Expr guard);
  Expr loaded(std::uint32_t load, unsigned element);
  std::vector<RegisterId> destinations(std::uint32_t load) const;
  std::vector<std::uint32_t> claims() const;
  std::uint32_t claim_writing(RegisterId reg) const;

  Known known_in(BlockId block);
  Missing check(Expr value, std::uint32_t load, unsigned element, Expr wanted, const Known &known,
                int &budget);
  Missing check_reuse(Expr value, std::uint32_t load, unsigned element, const Known &known);
  Missing serve(const std::vector<Loaded> &sources, Loaded load, SourceLane lane,
                const Known &known);
  Missing serves(Loaded source, Loaded load, SourceLane lane, const Known &known);
  Missing precedes(std::uint32_t source, std::uint32_t load, SourceLane lane);
  Missing precede(const std::vector<Loaded> &sources, Loaded load, SourceLane lane,
                  const Known &known);
  std::vector<Loaded> sources_of(Expr value) const;
  bool in_step(BlockId block);
  bool comes_together_in_step(LoopId loop);
  bool meets_in_step(LoopId loop);
  bool parts(BlockId block) const;
  bool in_row(SourceLane lane, const Known &known);
  bool same_address(Expr source, Expr load, SourceLane lane, const Known &known, bool may_ask);
  bool holds(const std::vector<WrapCondition> &conditions, SourceLane lane, const Known &known);
  bool nothing_between(std::uint32_t source, std::uint32_t load, const Known &known);
  /// What the way from a source to a load has met so far (soundness.md, rule 5).
  struct Passed {
    bool exchange = false; ///< an instruction that orders nothing
    bool store = false;    ///< a store to global memory
  };
  bool harmless(BlockId block, std::uint32_t first, std::uint32_t end, std::uint32_t source,
                const MemoryAccess &load, const Known &known, Passed &passed);
  bool leaves_alone(const MemoryAccess &other, std::uint32_t source, const MemoryAccess &load,
                    const Known &known, Passed &passed);
  bool apart(const MemoryAccess &store, const MemoryAccess &load, std::uint32_t source,
             const Known &known);
  bool in_global_memory(const MemoryAccess &access) const;
  bool solved(Expr a, Expr b, const Known &known);

  const Module &a_;
  const Function &fa_;
  const Module &b_;
  const Function &fb_;
  const std::vector<std::uint32_t> &replaced_;
  const RewriteOptions &options_;
  const GenericAddresses &generic_;
  const LaunchFacts facts_;
  FunctionMatch match_;
  Missing failure_;
  std::optional<Emulation> emulation_;
  /// Effort for one question, in Z3's resource units.
  static constexpr unsigned solver_resource_limit = 100'000;
  Solver solver_{solver_resource_limit};
  unsigned questions_ = 0;
  std::optional<Paths> paths_; ///< of the original
  std::optional<bool> waits_;  ///< facts::waits_at(), when first asked for
  std::size_t visited_ = 0;
  std::size_t step_visited_ = 0;        ///< blocks, to see which loops are in step
  std::map<LoopId, bool> loop_in_step_; ///< those that were asked for
  FunctionProof result_;

  std::vector<bool> read_by_added_; ///< by original register
  std::vector<Probe> probes_;
  std::map<Key, std::uint32_t> probe_of_; ///< by rewritten instruction and original register
  std::vector<std::uint32_t> trace_index_;
  std::vector<std::vector<std::uint32_t>> events_; ///< by block: what is not a load, trace indices
  std::map<std::uint32_t, std::uint32_t> moved_to_;
  std::map<BlockId, Known> known_in_;
  std::unordered_map<std::uint32_t, bool> uniform_; ///< by source: its address except for the lane
  std::optional<LineEvaluator> evaluate_;           ///< of rewritten instructions

  // The added registers, by rewritten register.
  std::vector<BlockId> written_in_;
  std::vector<Expr> value_;
  std::vector<BlockId> valued_in_;                   ///< the block in which value_ was written last
  std::unordered_map<Expr, RegisterId> if_executed_; ///< values of registers that may be stale
  /// By rewritten register: the blocks that write it, in the order of the walk, and what with.
  std::map<RegisterId, std::map<BlockId, Expr>> written_as_;

  // What symbols mean.
  std::map<Key, Expr> loaded_symbols_;
  std::unordered_map<Expr, Loaded> loaded_;
  std::unordered_map<Expr, Shuffle> shuffles_;
  std::unordered_map<Expr, unsigned> masks_; ///< activemask symbols and their regions
  std::unordered_map<unsigned, std::vector<Expr>> masks_of_; ///< the same by region
  std::unordered_map<Expr, Expr> emulated_; ///< loaded symbols to their names in the emulation

  // Where the walk stands.
  BlockId block_ = 0;
  std::uint32_t j_ = 0;    ///< the rewritten instruction
  std::uint32_t next_ = 0; ///< the first original instruction that has not run
  unsigned region_ = 0;
  std::map<RegisterId, Loaded> held_;  ///< original registers that hold a load's value, this block
  std::map<RegisterId, Expr> pending_; ///< destinations of replaced loads, under construction
  std::unordered_set<std::uint32_t> settled_;
};

} // namespace ptxasw::synth
