// Where handles begin and end. What ends is forgotten before the driver is told, so that an address
// that it uses again is a new one to us. Nothing is forgotten for a process that redirects nothing.

#include "wrapper/launch/driver.h"
#include "wrapper/launch/exported.h"
#include "wrapper/launch/hooks.h"
#include "wrapper/launch/jit.h"
#include "wrapper/launch/kernels.h"
#include "wrapper/launch/measure.h"
#include "wrapper/launch/watch.h"

#include <algorithm>
#include <iterator>

namespace ptxasw::wrapper::launch {
namespace {

/// A module or library ends.
Result end_owner(Hook hook, Handle owner) {
  auto *const function = real<Result(Handle)>(hook);
  if (!function)
    return not_initialized;
  if (at_work()) {
    forget_handles(hook == Hook::library_unload ? nullptr : owner);
    forget_images(owner);
  }
  return function(owner);
}

/// A context ends, and with it whatever was loaded into it. Null: which one is not known.
Result end_context(Hook hook, Handle handle, Handle context) {
  auto *const function = real<Result(Handle)>(hook);
  if (!function)
    return not_initialized;
  if (at_work()) {
    forget_handles(nullptr);
    forget_context(context);
    forget_events(context, -1);
  }
  return function(handle);
}

/// Returns true unless the driver says that the primary context of a device is still there.
bool has_ended(int device) {
  const LookupGuard guard;
  unsigned flags = 0;
  int active = 0;
  const auto ask = driver().primary_state;
  return !ask || ask(device, &flags, &active) != success || active == 0;
}

/// A primary context ends, or one of those who hold it lets go.
Result end_primary(Hook hook, int device, bool is_reset) {
  auto *const function = real<Result(int)>(hook);
  if (!function)
    return not_initialized;
  if (at_work()) { // what is still there is found again
    forget_handles(nullptr);
    forget_events(nullptr, device);
    if (is_reset)
      forget_device(device);
  }
  const Result result = function(device);
  if (!is_reset && at_work() && has_ended(device)) {
    forget_device(device);
    forget_handles(nullptr);
  }
  return result;
}

/// Returns true if code that is compiled with these options may be another.
bool changes_code(const int *options, unsigned count) {
  constexpr int harmless[] = {jit_wall_time,   jit_info_log,       jit_info_log_size,
                              jit_error_log,   jit_error_log_size, jit_target_from_context,
                              jit_log_verbose, jit_line_info};
  return count != 0 && (!options || !std::all_of(options, options + count, [&](int option) {
           return std::find(std::begin(harmless), std::end(harmless), option) != std::end(harmless);
         }));
}

/// Loads an image by `load`, rewritten if it is PTX and that is wanted, and unchanged if the driver
/// does not take what we made of it.
template <typename Load>
Result load_image(Handle *owner, bool in_library, const void *image, bool other_code, Load load) {
  if (const char *const changed = rewritten_image(image); changed) {
    const LookupGuard guard;
    if (load(changed) == success) {
      forget_unseen(owner);
      return success;
    }
    note_rejected();
  }
  const Result result = load(image);
  if (result == success && owner)
    remember_image(*owner, in_library, image, other_code);
  return result;
}

Result add_link_data(Hook hook, void *state, int type, void *data, std::size_t size,
                     const char *name, unsigned count, int *options, void **values) {
  using Function = Result(void *, int, void *, std::size_t, const char *, unsigned, int *, void **);
  auto *const function = real<Function>(hook);
  if (!function)
    return not_initialized;
  if (type == jit_input_ptx)
    if (const std::string *changed = rewritten_ptx(data, size); changed) {
      auto *const text = const_cast<char *>(changed->c_str());
      if (function(state, type, text, changed->size() + 1, name, count, options, values) == success)
        return success;
      note_rejected();
    }
  return function(state, type, data, size, name, count, options, values);
}

} // namespace
} // namespace ptxasw::wrapper::launch

using namespace ptxasw::wrapper::launch;

extern "C" {

int cuGetProcAddress(const char *name, void **function, int version, std::uint64_t flags) {
  using Function = Result(const char *, void **, int, std::uint64_t);
  auto *const through = real<Function>(Hook::get_proc_address);
  if (!through)
    return not_initialized;
  const LookupGuard guard;
  const Result result = through(name, function, version, flags);
  if (result == success && name && function && *function)
    *function = replace_named(name, version, flags, *function);
  return result;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, std::uint64_t flags,
                        int *status) {
  using Function = Result(const char *, void **, int, std::uint64_t, int *);
  auto *const through = real<Function>(Hook::get_proc_address_2);
  if (!through)
    return not_initialized;
  const LookupGuard guard;
  const Result result = through(name, function, version, flags, status);
  if (result == success && name && function && *function)
    *function = replace_named(name, version, flags, *function);
  return result;
}

int cuModuleUnload(void *module) { return end_owner(Hook::module_unload, module); }
int cuLibraryUnload(void *library) { return end_owner(Hook::library_unload, library); }
int cuCtxDestroy(void *context) { return end_context(Hook::context_destroy, context, context); }
int cuCtxDestroy_v2(void *context) {
  return end_context(Hook::context_destroy_2, context, context);
}
int cuCtxDetach(void *context) { return end_context(Hook::context_detach, context, context); }
int cuDevicePrimaryCtxRelease(int device) {
  return end_primary(Hook::primary_release, device, false);
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  return end_primary(Hook::primary_release_2, device, false);
}
int cuDevicePrimaryCtxReset(int device) { return end_primary(Hook::primary_reset, device, true); }
int cuDevicePrimaryCtxReset_v2(int device) {
  return end_primary(Hook::primary_reset_2, device, true);
}
int cuGreenCtxDestroy(void *context) { // a CUgreenCtx, not a CUcontext
  return end_context(Hook::green_context_destroy, context, nullptr);
}

int cuModuleLoad(void **module, const char *path) {
  auto *const function = real<Result(void **, const char *)>(Hook::module_load);
  if (!function)
    return not_initialized;
  const Result result = function(module, path);
  if (result == success)
    forget_unseen(module);
  return result;
}

int cuModuleLoadData(void **module, const void *image) {
  auto *const function = real<Result(void **, const void *)>(Hook::module_load_data);
  return function ? load_image(module, false, image, false,
                               [&](const void *from) { return function(module, from); })
                  : not_initialized;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                       void **values) {
  using Function = Result(void **, const void *, unsigned, int *, void **);
  auto *const function = real<Function>(Hook::module_load_data_ex);
  return function ? load_image(module, false, image, changes_code(options, count),
                               [&](const void *from) {
                                 return function(module, from, count, options, values);
                               })
                  : not_initialized;
}

int cuModuleLoadFatBinary(void **module, const void *image) {
  auto *const function = real<Result(void **, const void *)>(Hook::module_load_fat_binary);
  return function ? load_image(module, false, image, false,
                               [&](const void *from) { return function(module, from); })
                  : not_initialized;
}

int cuLibraryLoadData(void **library, const void *image, int *jit_options, void **jit_values,
                      unsigned jit_count, int *library_options, void **library_values,
                      unsigned library_count) {
  using Function =
      Result(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
  auto *const function = real<Function>(Hook::library_load_data);
  return function ? load_image(library, true, image, changes_code(jit_options, jit_count),
                               [&](const void *from) {
                                 return function(library, from, jit_options, jit_values, jit_count,
                                                 library_options, library_values, library_count);
                               })
                  : not_initialized;
}

int cuLinkAddData(void *state, int type, void *data, std::size_t size, const char *name,
                  unsigned count, int *options, void **values) {
  return add_link_data(Hook::link_add_data, state, type, data, size, name, count, options, values);
}

int cuLinkAddData_v2(void *state, int type, void *data, std::size_t size, const char *name,
                     unsigned count, int *options, void **values) {
  return add_link_data(Hook::link_add_data_2, state, type, data, size, name, count, options,
                       values);
}
}
