#pragma once

// The functions of the driver that the helper stands in front of. A program comes to them by
// linking libcuda, by dlsym(), or by asking cuGetProcAddress() for a name and a version; the table
// here says which replacement each of those gets.

#include "wrapper/launch/driver_types.h"

#include <span>

namespace ptxasw::wrapper::launch {

/// An index into hooks(); the same order.
enum class Hook : unsigned {
  get_proc_address,
  get_proc_address_2,
  launch_kernel,
  launch_kernel_ptsz,
  launch_kernel_ex,
  launch_kernel_ex_ptsz,
  module_unload,
  library_unload,
  context_destroy,
  context_destroy_2,
  context_detach,
  primary_release,
  primary_release_2,
  primary_reset,
  primary_reset_2,
  green_context_destroy,
  kernel_node_get,
  kernel_node_get_2,
  module_load,
  module_load_data,
  module_load_data_ex,
  module_load_fat_binary,
  library_load_data,
  link_add_data,
  link_add_data_2,
  stream_create,
  stream_create_with_priority,
  stream_destroy,
  stream_destroy_2,
  begin_capture,
  begin_capture_ptsz,
  begin_capture_2,
  begin_capture_2_ptsz,
  begin_capture_to_graph,
  begin_capture_to_graph_ptsz,
  graph_launch,
  graph_launch_ptsz,
  launch_cooperative,
  launch_cooperative_ptsz,
};

struct HookSpec {
  const char *name;   ///< without what distinguishes versions
  int since;          ///< the version of CUDA from which cuGetProcAddress means this one
  bool per_thread;    ///< the form for the default stream of a thread
  const char *symbol; ///< as libcuda exports it
  void *replacement;  ///< ours
  bool ends_handles;  ///< kernels' handles end here: missing that would be wrong
};

/// All of them; for one name the versions in ascending order.
std::span<const HookSpec> hooks();

/// The newest version of CUDA whose cuda.h the table was checked against: 1000 * major + 10 *
/// minor.
inline constexpr int known_cuda = 13000;

/// What is behind a hook: the driver's function, found now if the program came in without asking
/// for it (it links libcuda). Null if no driver is loaded.
void *behind(Hook hook);

/// The driver's function as the type it has.
template <typename Function> Function *real(Hook hook) {
  return reinterpret_cast<Function *>(behind(hook));
}

/// What a program that looked up a symbol of libcuda and found `found` gets: the replacement, or
/// `found` itself if the symbol is not among ours.
void *replace_symbol(const char *symbol, void *found);
/// Returns true if replace_symbol() knows the symbol.
bool is_hook(const char *symbol);
/// The same for cuGetProcAddress.
void *replace_named(const char *name, int version, std::uint64_t flags, void *found);

/// A handle of the driver's library for dlsym; null if none is loaded.
void *driver_library();
/// The address of dlsym() itself, not our own.
void *dlsym_address();
/// Calls it.
void *real_dlsym(void *library, const char *name);
/// What a caller that is linked with a library would have come to if there were no `ours` of that
/// name: the next one that all see, or the one that `caller`, an address in its code, has brought
/// along. Null if there is none.
void *behind_ours(const char *name, const void *ours, const void *caller);
/// The library that an address is in, as a handle that must be closed; null if it has no name.
void *library_of(const void *address);

/// While one lives, lookups by this thread go straight through: the driver looks things up, too,
/// and must not find us.
class LookupGuard {
public:
  LookupGuard();
  ~LookupGuard();
  LookupGuard(const LookupGuard &) = delete;
  LookupGuard &operator=(const LookupGuard &) = delete;
  static bool active();
};

} // namespace ptxasw::wrapper::launch
