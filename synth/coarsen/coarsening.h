#pragma once

// What writer and proof of a coarsened version both know of a kernel.

#include "synth/coarsen/merge.h"
#include "synth/coarsen/recompute.h"
#include "synth/coarsen/rooms.h"
#include "synth/coarsen/wide.h"

#include <utility>
#include <vector>

namespace ptxasw::inline synth {

/// What is to be known of a kernel in a form, for whoever writes it and for the proof, which has it
/// of the kernel that it reads.
class Coarsening {
protected:
  Coarsening(const KernelContext &context, const CoarsenForm &form, WidePlan plan)
      : module_(context.module), kernel_(context.kernel), form_(form), copies_(form.total()),
        sharing_(context, form), shared_(sharing_.by_all()), first_(done_first(context, shared_)),
        recomputation_(context, sharing_.by_some()), merged_(merged_loads(context, form)),
        plan_(std::move(plan)), rooms_(rooms_of(module_, kernel_)),
        dynamic_(dynamic_rooms_of(module_, kernel_)) {}

  /// The merged load of a copy; null: that is none.
  const MergedLoad *merged(std::uint32_t load, unsigned copy) const;
  /// The kernel's register that a load writes.
  RegisterId loaded(std::uint32_t load) const {
    return module_.operands(kernel_.instructions[load])[0].reg;
  }

  const Module &module_;
  const Function &kernel_;
  const CoarsenForm form_;
  const unsigned copies_;
  const Sharing sharing_;
  const std::vector<bool> &shared_; ///< by all copies
  const std::vector<bool> first_;   ///< by instruction of the kernel
  const Recomputation recomputation_;
  const std::vector<MergedLoad> &merged_;
  const WidePlan plan_;
  const std::vector<Room> rooms_;
  const std::vector<Symbol> dynamic_; ///< names of memory whose size the launch says
};

} // namespace ptxasw::synth
