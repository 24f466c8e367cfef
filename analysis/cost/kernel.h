#pragma once

// The parts of a kernel's code that the cost model looks at; nothing here depends on a launch.

#include "analysis/cost/lane_values.h"

#include <map>
#include <memory>

namespace ptxasw::analysis::cost {

/// How an access moves data, as far as costs differ.
enum class Traffic : std::uint8_t { load, store, atomic };

/// One access of global memory.
struct Access {
  std::uint32_t instruction = 0; ///< index in the function
  Traffic traffic = Traffic::load;
  unsigned bytes = 0;        ///< per lane
  std::uint32_t address = 0; ///< slot of the values
  std::uint32_t guard = ~0u; ///< slot of its predicate; ~0: there is none
  bool known = true;         ///< the address depends on nothing that is not known
};

/// An access of which only a run of the kernel shows what it costs (warp_runs.h): of global memory
/// with an address that is not understood, of shared memory with conflicts that are not known.
struct UnreadAccess {
  std::uint32_t instruction = 0;
  Traffic traffic = Traffic::load;
  unsigned bytes = 0; ///< per lane
  bool shared = false;
};

/// A condition that must hold, or must not, for a lane to be somewhere.
struct Condition {
  std::uint32_t slot = 0;
  bool holds = true;
  bool known = true; ///< it depends on nothing that is not known
  bool rare = false; ///< not known, and it leads to where local memory is used
};

/// Cycles of a multiprocessor's pipes for one warp that runs a piece of code.
struct PipeCycles {
  double issue = 0;   ///< of the four schedulers together
  double integer = 0; ///< multiplications of integers, shifts by them
  double wide = 0;    ///< double precision
  double special = 0; ///< special functions and conversions between integer and floating
  double shared = 0;  ///< requests of shared memory, shuffles

  PipeCycles &operator+=(const PipeCycles &other);
  PipeCycles operator*(double factor) const;
};

/// A straight piece of code.
struct CodeBlock {
  BlockId id = 0;
  LoopId loop = no_index; ///< the innermost around it
  PipeCycles cycles;
  double instructions = 0;
  std::vector<Access> accesses;
  std::vector<UnreadAccess> unread;
  std::vector<Condition> conditions;
  /// The longest chain of results that wait for each other: cycles of all but the loads of global
  /// memory in it, and how many of these there are.
  double chain_cycles = 0;
  double chain_loads = 0;
  unsigned barriers = 0;
  bool uses_local = false;
  double load_words = 0; ///< registers that its loads of global memory fill
};

/// One way out of a loop.
struct LoopExit {
  std::uint32_t slot = ~0u; ///< of the condition; ~0: not understood
  bool leaves_if = true;
  bool at_header = false; ///< before the rest of the loop's body
};

struct KernelLoop {
  LoopId parent = no_index;
  /// Loads of several iterations may be under way at a time: no `.pragma "nounroll"` stands before
  /// it, and nothing is stored in it that a load might read.
  bool may_unroll = true;
  std::vector<LoopExit> exits;
};

/// The kernel, with the values that its costs depend on.
class Kernel {
public:
  /// `arguments` must outlive it; those of them that are `assumed` to be pointers may only go into
  /// addresses, or the times are doubted.
  Kernel(const Module &module, const Function &function, const Arguments &arguments,
         const std::vector<std::string_view> &assumed = {});

  /// Why it cannot be modelled; nothing: it can.
  const std::optional<std::string> &error() const { return error_; }
  const std::vector<CodeBlock> &blocks() const { return blocks_; } ///< in order of execution
  const std::vector<KernelLoop> &loops() const { return loops_; }
  const Module &module() const { return module_; }
  const Function &function() const { return function_; }
  const ControlFlowGraph &cfg() const { return emulation_->cfg(); }
  LaneValues &values() { return *values_; }
  /// From now on accesses of shared memory cost what they do in blocks of this shape; before, and
  /// where rows are whole warps, as in all such blocks.
  void take_shape(const BlockShape &shape);
  /// What makes predictions vague, in words: no two the same.
  const std::vector<std::string> &doubts() const { return doubts_; }
  /// The parameters, or parts of them, whose values are asked for: by parameter and offset.
  const std::vector<ParameterField> &missing() const { return missing_; }
  void doubt(const std::string &why);
  /// Takes back the doubts about these: a run has shown what they cost.
  void settle_unread();

private:
  std::map<std::uint32_t, double> wavefronts_in(const std::optional<BlockShape> &shape) const;
  void enter(BlockId id);
  void measure(CodeBlock &block);
  void find_chain(CodeBlock &block, const BasicBlock &range);
  void find_exits(LoopId loop);
  void find_rare();
  bool belongs(std::uint32_t slot, BlockId block) const;
  std::optional<PathFact> fact_before_loop(BlockId header) const;
  void doubt_assumed(std::uint32_t slot, const std::vector<std::string_view> &assumed);
  void miss(const ParameterField &field);

  const Module &module_;
  const Function &function_;
  std::optional<std::string> error_;
  std::unique_ptr<Emulation> emulation_;
  std::unique_ptr<LaneValues> values_;
  std::vector<CodeBlock> blocks_;
  std::vector<KernelLoop> loops_;
  /// Wavefronts of a warp's access to shared memory, by instruction, where they are known.
  std::map<std::uint32_t, double> wavefronts_;
  std::optional<BlockShape> shape_; ///< that these are of; nothing: rows are whole warps
  std::vector<std::string> doubts_;
  std::vector<ParameterField> missing_;
};

} // namespace ptxasw::analysis::cost
