#pragma once

#include "synth/family.h"

namespace ptxasw::inline synth {

/// The toy family: the kernel once more, as it is.
FamilyAnswer propose_twin(const Module &module, const Function &kernel);
std::string write_twin(const Module &module, const Function &kernel, const Proposal &proposal);
std::string prove_twin(const Module &written, const Function &kernel, const Function &sibling,
                       const Proposal &proposal);

} // namespace ptxasw::synth
