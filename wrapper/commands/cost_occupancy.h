#pragma once

// The part of `ptxasw cost` about how many blocks a multiprocessor holds.

#include "wrapper/commands/analyse.h"
#include "wrapper/commands/kernel_needs.h"

namespace ptxasw::wrapper {

/// The limits of a target such as sm_90. Errors: they are not known.
tl::expected<const Architecture *, std::string> architecture_of(const std::string &target);

/// How many blocks of a kernel a multiprocessor holds: of the given shape, otherwise of those that
/// its directives allow. One line with the best, or a table of all. Without a heading.
KernelAnswer occupancy_of(KernelNeeds subject, const Architecture &architecture,
                          const std::optional<BlockShape> &block, bool all);

} // namespace ptxasw::wrapper
