#pragma once

// What all parts of the proof know of the function as it was. Of what was added they know nothing
// here but how early its loads run now.

#include "emulator/symbolic/emulate.h"
#include "emulator/symbolic/generic.h"
#include "emulator/symbolic/known.h"
#include "synth/rewrite.h"
#include "synth/shuffle/reuse.h"

#include <map>
#include <span>
#include <vector>

namespace ptxasw::synth {

/// A function before it was rewritten, and one emulation of it.
class Original {
public:
  /// `probes` are answered by the emulation. All but these must outlive it.
  Original(const Module &text, const Function &before, const RewriteOptions &asked,
           const GenericAddresses &generic, std::span<const Probe> probes);

  const Module &module;
  const Function &function;
  const RewriteOptions &options;
  const LaunchFacts launch;
  Emulation emulation;
  /// Loads that run earlier now: as if just before the instruction of this index, in their block.
  std::map<std::uint32_t, std::uint32_t> moved_to;

  ExprPool &pool() { return emulation.pool(); }
  const ControlFlowGraph &cfg() const { return emulation.cfg(); }
  const Opcode &opcode(std::uint32_t instruction) const {
    return module.opcode(function.instructions[instruction]);
  }
  /// What an instruction does to memory; null: nothing, or it is never reached.
  const MemoryAccess *access(std::uint32_t instruction) const;
  /// The same for one that loads from an address that is understood; null for any other.
  const MemoryAccess *load(std::uint32_t instruction) const;
  bool is_in_global_memory(const MemoryAccess &access) const;
  /// The registers that a load writes, by element; no_register for those it leaves out. Empty if it
  /// has no plain destination.
  std::vector<RegisterId> destinations(std::uint32_t load) const;
  /// Bits of the register that an element is loaded to.
  unsigned width(LoadedElement element) const;
  /// What the branches on every path to a block establish.
  const Known &known_in(BlockId block);

private:
  const GenericAddresses &generic_;
  std::vector<std::uint32_t> trace_index_; ///< by instruction
  std::map<BlockId, Known> known_in_;
};

} // namespace ptxasw::synth
