#pragma once

// The first sieve of detection, by the instruction alone (soundness.md, rule 6). Rewriting leaves
// kernels alone in which it lets fewer than two loads through:
//   candidate(module, kernel, instruction, widths).eligible

#include "grammar/module.h"
#include "synth/report.h"
#include "synth/rewrite.h"

#include <span>

namespace ptxasw::synth {

/// Says if an instruction is a load that detection looks at: weak, of a width asked for, global
/// or generic. Otherwise why not; nothing if it is no such load at all.
struct Candidate {
  bool is_global_load = false; ///< has `.global`
  bool is_generic = false;     ///< has no state space: global only if all generic addresses are
  bool eligible = false;
  Reason reason = Reason::no_source;

  bool is_load() const { return is_global_load || is_generic; }
};
Candidate candidate(const Module &module, const Function &function, const Instruction &instruction,
                    const Widths &widths);

/// The registers that a load writes, one for each element.
std::span<const Operand> elements_of(const Module &module, const Instruction &load);

/// Returns true if a load writes a register that it reads, its address or its cache policy.
bool overwrites_own_operands(const Module &module, const Instruction &load);

} // namespace ptxasw::synth
