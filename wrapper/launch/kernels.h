#pragma once

// From a handle of the driver to the kernel's siblings.

#include "wrapper/launch/choices.h"
#include "wrapper/launch/driver.h"
#include "wrapper/launch/fit.h"

#include <array>
#include <atomic>
#include <memory>
#include <vector>

namespace ptxasw::wrapper::launch {

/// One sibling as the driver has it.
struct LoadedSibling {
  Handle function = nullptr; ///< null: the module does not have it, or it may not be used
  SiblingLimits limits;
  mutable std::atomic<bool> refused{false}; ///< the driver did not want to launch it
  /// Bytes of dynamic shared memory that it is known to be allowed, by device; 0: the default.
  mutable std::array<std::atomic<unsigned>, most_devices> allowed{};
};

struct Watched;

/// How much a kernel and its siblings compute, by their texts.
struct WorkOfText {
  double cycles_per_byte = 0; ///< as AnswerWork; 0: not known
  std::vector<double> times;  ///< by sibling of the table; empty: not known
};

/// A kernel in a module that is loaded: with siblings, or waiting for some.
struct Kernel {
  KernelCode &code;
  bool in_library = false;                   ///< its handle is a CUkernel
  SiblingLimits limits;                      ///< of its own code
  std::unique_ptr<LoadedSibling[]> siblings; ///< as many as the table has; null: none
  mutable std::atomic<bool> refused{false};  ///< the driver did not want to launch one of them
  /// A launch whose choice is for the original. Others of its grid, block and shared memory count
  /// as this one's, and nothing else is asked of them until the next look.
  mutable std::atomic<const SeenLaunch *> rests_on{nullptr};
  // Under `ptxasw faster` siblings lie in a module of their own:
  Watched *watched = nullptr; ///< null: the kernel's module has the table
  bool settled = false;       ///< no siblings will come
  /// Variables of the kernel's module, which the siblings get behind the kernel's own arguments.
  std::vector<DevicePointer> addresses;
  Handle context = nullptr; ///< theirs; null: there are none
  int device = -1;          ///< for whose architecture the siblings were made
  /// Contexts into which the driver has loaded the code of a library's siblings; others have null.
  mutable std::array<std::atomic<Handle>, 8> ready{};
  Handle own = nullptr; ///< the kernel's handle, for which they were loaded
  /// The next launch is the original's: its first one may make the driver wait for what runs, and
  /// nothing did when this was set.
  mutable std::atomic<bool> own_first{false};
  WorkOfText work = {}; ///< of each sibling, if that is known
};

/// Where a function comes from.
struct Home {
  Handle owner = nullptr; ///< a module, or a library
  bool in_library = false;
  const char *name = nullptr;
};
bool find_home(Handle function, Home &home);
/// What the driver says of a function of that home; false if it says nothing.
bool read_limits(const Home &home, Handle function, SiblingLimits &limits);
/// Siblings of a table that lie in a module or library, or are the kernel's own code, which is
/// `function`. False: none of them may be used.
bool load_siblings(const Home &home, Handle function, const SiblingTable &table, Kernel &kernel);

/// The limits of a kernel, of which `function` is the handle, for a launch with so many bytes of
/// dynamic shared memory, on the calling thread's device: what the program has allowed it by now.
SiblingLimits limits_of(const Kernel &kernel, Handle function, unsigned shared_bytes);
/// The limits of a sibling of it that has code of its own, on the same device: what that has.
SiblingLimits limits_of(const Kernel &kernel, const LoadedSibling &sibling);
/// Has the driver allow a sibling with code of its own so many bytes of dynamic shared memory on
/// the calling thread's device, if it does not yet. What it allows it never becomes less. Returns
/// what the driver says; costs next to nothing where nothing is to be done.
Result allow_shared(const Kernel &kernel, const LoadedSibling &sibling, unsigned shared_bytes);

/// What is known about a handle that a program launches; null for a kernel without siblings. Known
/// handles are found without a lock.
const Kernel *find_kernel(Handle function);

/// With the lock held: from now on that is what is known about a handle.
void replace_kernel(Handle function, Handle owner, const Kernel *kernel);

/// The handles of a module or library, or all of them (null), end now.
void forget_handles(Handle owner);

/// Returns true if any launch was seen: then the process has used the GPU.
bool handles_in_use();
/// For fork(): no thread may be in the middle of a change. Before lock_choices().
void lock_handles();
bool try_lock_handles(); ///< false: somebody else holds it
void unlock_handles();

/// If `function` is a sibling, the original's handle and the sibling's entry.
struct Origin {
  Handle function = nullptr;
  const SiblingTable *table = nullptr;
  const Sibling *sibling = nullptr;
  std::size_t parameters = 0; ///< of the table's, how many are the original's
};
Origin origin_of(Handle function);

} // namespace ptxasw::wrapper::launch
