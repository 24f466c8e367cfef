#pragma once

// The kernel once more, with fewer registers for a thread (`.maxnreg`, PTX ISA 11.4.2): more
// threads fit, and the assembler is free to use all of them instead of as few as it likes. It may
// have to spill; so this is for launches to choose, by measuring.
//
// The body is the kernel's own, byte for byte, and so is what its names can mean; that is the
// proof.

#include "synth/family.h"

#include <string>

namespace ptxasw::synth {

std::string write_registers(const KernelContext &context, const Proposal &proposal);
std::string prove_registers(const KernelContext &context, const Function &sibling,
                            const Proposal &proposal);

} // namespace ptxasw::synth
