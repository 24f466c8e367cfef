#pragma once

// Says of a run if sums and products stayed in the range of signed numbers, as `no-wrap` has it.

#include "emulator/machine/warp_launch.h"
#include "emulator/machine/warp_program.h"

#include <vector>

namespace ptxasw::analysis {

/// By instruction: true if it writes what an address, a branch or a predicate may come from, or,
/// with `masks`, what names the lanes of a bar.warp.sync.
std::vector<bool> index_instructions(const Module &module, const Function &kernel,
                                     bool masks = true);

/// Looks at additions, subtractions, negations, products and shifts to the left of whole numbers
/// that addresses, branches and predicates may depend on: what is only data may overflow. Operands
/// that are neither registers nor numbers count as if something had wrapped around, and so do sums
/// of differences and of products (sad, dp4a, dp2a); so do lanes that a predicate excludes. A mask
/// of lanes is no number, and its highest bit is as good as others.
class WrapWatch : public WarpObserver {
public:
  /// Of the kernel that is run; of functions that it calls everything is looked at.
  WrapWatch(const WarpProgram &program, std::uint32_t kernel);
  void before(const WarpStep &step) override;
  bool wrapped() const { return wrapped_; }

private:
  const std::uint32_t kernel_;
  std::vector<bool> of_index_; ///< by instruction of the kernel
  bool wrapped_ = false;
};

} // namespace ptxasw::analysis
