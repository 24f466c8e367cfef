#pragma once

// What is known of a version's time before it has run.

#include "wrapper/launch/chooser.h"
#include "wrapper/launch/fit.h"

namespace ptxasw::wrapper::launch {

/// How much a kernel and one of its siblings compute, by their texts.
struct TextsOfBoth {
  /// Of the kernel: cycles of a multiprocessor's pipes for each byte of global memory; 0: not
  /// known.
  double cycles_per_byte = 0;
  double times = 1; ///< of the sibling: as AnswerWork::times
};

/// Of a launch of a sibling. `own` is the kernel's code, `limits` the sibling's; `multiprocessors`:
/// of the GPU, 0 if that is not known.
Prior prior_of(const Launch &launch, const Sibling &sibling, const SiblingLimits &own,
               const SiblingLimits &limits, unsigned multiprocessors,
               const TextsOfBoth &texts = {});

/// Of one code in blocks of several shapes the version that promises most comes first, in the
/// kernel's own blocks if others promise no more; the others come after it. `priors`: of each
/// version, the original first. `in_own_blocks`: of each the version that has its code in the
/// kernel's own blocks, or itself.
void order_blocks(std::vector<Prior> &priors, const std::vector<std::size_t> &in_own_blocks);

} // namespace ptxasw::wrapper::launch
