#pragma once

// What all parts of the proof know of the text that has the replaced loads again (restore.h).

#include "emulator/symbolic/emulate.h"
#include "emulator/symbolic/generic.h"
#include "emulator/symbolic/known.h"
#include "synth/proof/restore.h"
#include "synth/proof/reuse.h"
#include "synth/rewrite.h"

#include <map>
#include <tuple>
#include <vector>

namespace ptxasw::synth {

/// The text that has the replaced loads again, and one emulation of it.
class OneText {
public:
  /// All must outlive it.
  OneText(const Module &text, const Function &restored, const Restored &where,
          const RewriteOptions &asked, const GenericAddresses &generic);

  const Module &module;
  const Function &function;
  const Restored &parts;
  const RewriteOptions &options;
  const LaunchFacts launch;
  const std::vector<Probe> probes;
  Emulation emulation;

  ExprPool &pool() { return emulation.pool(); }
  const ControlFlowGraph &cfg() const { return emulation.cfg(); }
  const Opcode &opcode(std::uint32_t instruction) const {
    return module.opcode(function.instructions[instruction]);
  }
  const Operand &operand(std::uint32_t instruction, std::size_t index) const {
    return module.operands(function.instructions[instruction])[index];
  }
  /// What a register holds before an instruction or behind it; null: that is never reached, or is
  /// none of `probes`.
  Expr value_of(std::uint32_t instruction, RegisterId reg, bool behind = false);
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
  std::map<std::tuple<std::uint32_t, RegisterId, bool>, std::size_t> probe_index_;
};

} // namespace ptxasw::synth
