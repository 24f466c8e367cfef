#pragma once

// The shuffle as a family: the kernel with loads replaced by values that another lane or the thread
// itself has, beside the kernel, for a launch to choose. Where it stands in the kernel's place
// instead, rewrite_module() decides by the target (synth/rewrite.h).

#include "synth/family.h"

#include <string>
#include <vector>

namespace ptxasw::synth {

std::string prove_shuffle(const KernelContext &context, const Function &sibling,
                          const Proposal &proposal);

} // namespace ptxasw::synth
