#pragma once

// What synth/ adds to a kernel and what is worked out about it once (emulator/facts).
//
//   const KernelContext context(module, kernel);
//   for (const Family &family : families())
//     FamilyAnswer answer = propose(family, context);

#include "emulator/facts/kernel_context.h"
#include "synth/refusal.h"

#include <algorithm>
#include <span>
#include <string>

namespace ptxasw::synth {

using facts::KernelContext;
using facts::OfKernel;

/// Why a kernel must have no versions: a thread of it may wait in a loop for what another thread,
/// another kernel or the host writes (facts::waits_at()). A version could do what the other one
/// waits for behind the loop, have other threads share a warp, a block or a thread, or need more
/// registers, so that fewer blocks run at a time. Where no thread waits, none needs another one to
/// run at the same time or before it; so neither the order of threads nor how many blocks are
/// resident matters to whether a launch ends.
const std::optional<Refusal> &waiting_obstacle(const KernelContext &context);

/// Why a kernel must not have a second body beside it: module_obstacle(), or
///   - a variable declared in the body that lasts longer than a thread or block: a launch would
///     find what launches of the same version left there, and not what others did;
///   - clusters of blocks: their size may be an attribute that the program gives the kernel, and
///     not its siblings;
///   - a loop that may wait for somebody (waiting_obstacle()).
const std::optional<Refusal> &same_launch_obstacle(const KernelContext &context);

/// Returns true if a kernel is among those of some names, of which none stands for all.
inline bool is_selected(const Function &kernel, std::span<const std::string> names) {
  return names.empty() || std::find(names.begin(), names.end(), kernel.name) != names.end();
}

} // namespace ptxasw::synth
