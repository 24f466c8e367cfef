#pragma once

// What all parts of the proof know of the text that has the replaced loads again (restore.h).

#include "emulator/symbolic/emulate.h"
#include "emulator/symbolic/generic.h"
#include "synth/known.h"
#include "synth/proof/restore.h"
#include "synth/rewrite.h"
#include "synth/shuffle/reuse.h"

#include <map>
#include <span>
#include <vector>

namespace ptxasw::synth {

/// The text that has the replaced loads again, and one emulation of it.
class OneText {
public:
  /// All must outlive it. `probes` are answered by the emulation.
  OneText(const Module &text, const Function &restored, const Restored &where,
          const RewriteOptions &asked, const GenericAddresses &generic,
          std::span<const Probe> probes);

  const Module &module;
  const Function &function;
  const Restored &parts;
  const RewriteOptions &options;
  const LaunchFacts launch;
  Emulation emulation;

  ExprPool &pool() { return emulation.pool(); }
  const ControlFlowGraph &cfg() const { return emulation.cfg(); }
  const Opcode &opcode(std::uint32_t instruction) const {
    return module.opcode(function.instructions[instruction]);
  }
  /// What an instruction does to memory; null: nothing, or it is never reached.
  const MemoryAccess *access(std::uint32_t instruction) const {
    const std::size_t index = trace_index_[instruction];
    return index == no_index ? nullptr : &emulation.trace()[index];
  }
  /// The same for one that loads from an address that is understood; null for any other.
  const MemoryAccess *load(std::uint32_t instruction) const;
  bool is_in_global_memory(const MemoryAccess &access) const;
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
