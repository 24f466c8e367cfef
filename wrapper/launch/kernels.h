#pragma once

// From a handle of the driver to the kernel's siblings.

#include "wrapper/launch/choices.h"
#include "wrapper/launch/fit.h"

#include <atomic>
#include <memory>
#include <vector>

namespace ptxasw::inline wrapper::launch {

/// One sibling as the driver has it.
struct LoadedSibling {
  Handle function = nullptr; ///< null: the module does not have it, or it may not be used
  SiblingLimits limits;
  mutable std::atomic<bool> refused{false}; ///< the driver did not want to launch it
};

/// A kernel with siblings in a module that is loaded.
struct Kernel {
  KernelCode &code;
  bool in_library = false;                   ///< its handle is a CUkernel
  SiblingLimits limits;                      ///< of its own code
  std::unique_ptr<LoadedSibling[]> siblings; ///< as many as the table has
};

/// What is known about a handle that a program launches; null for a kernel without siblings. Known
/// handles are found without a lock.
const Kernel *find_kernel(Handle function);

/// The handles of a module or library, or all of them (null), end now.
void forget_handles(Handle owner);

/// Returns true if any launch was seen: then the process has used the GPU.
bool handles_in_use();
/// For fork(): no thread may be in the middle of a change. Before lock_choices().
void lock_handles();
void unlock_handles();

/// If `function` is a sibling, the original's handle and the sibling's entry.
struct Origin {
  Handle function = nullptr;
  const SiblingTable *table = nullptr;
  const Sibling *sibling = nullptr;
};
Origin origin_of(Handle function);

} // namespace ptxasw::wrapper::launch
