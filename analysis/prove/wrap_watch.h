#pragma once

// Says of a run if sums and products stayed in the range of signed numbers, as `no-wrap` has it.

#include "emulator/machine/warp_launch.h"

namespace ptxasw::inline analysis {

/// Looks at additions, subtractions, negations, products and shifts to the left of whole numbers.
/// Operands that are neither registers nor numbers count as if something had wrapped around; so do
/// lanes that a predicate excludes.
class WrapWatch : public WarpObserver {
public:
  void before(const WarpStep &step) override;
  bool wrapped() const { return wrapped_; }

private:
  bool wrapped_ = false;
};

} // namespace ptxasw::analysis
