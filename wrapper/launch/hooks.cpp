// For each hook there is one slot with the driver's function. A program may be given different
// addresses for one function (the symbol, and what cuGetProcAddress hands out); as long as they lie
// in one library they do the same, and the first found serves all. An address in another library
// (another interposer, a second driver) is passed through as it is: the launches behind it are not
// seen. If it is one that ends handles, what the helper knows about handles could go stale unseen;
// then it stops redirecting (state.h).
//
// cuGetProcAddress is asked for a version, and a driver newer than this file may answer with a
// function of another signature. It then exports the symbol NAME_vN with a higher N than the table
// has, and for a version beyond the known one such a function is passed through.

#include "wrapper/launch/hooks.h"

#include "wrapper/launch/exported.h"
#include "wrapper/launch/state.h"

#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <iterator>
#include <string>

namespace ptxasw::wrapper::launch {
namespace {

template <typename Function> void *address(Function *function) {
  return reinterpret_cast<void *>(function);
}

const HookSpec table[] = {
    {"cuGetProcAddress", 11030, false, "cuGetProcAddress", address(&cuGetProcAddress), false},
    {"cuGetProcAddress", 12000, false, "cuGetProcAddress_v2", address(&cuGetProcAddress_v2), false},
    {"cuLaunchKernel", 4000, false, "cuLaunchKernel", address(&cuLaunchKernel), false},
    {"cuLaunchKernel", 7000, true, "cuLaunchKernel_ptsz", address(&cuLaunchKernel_ptsz), false},
    {"cuLaunchKernelEx", 11060, false, "cuLaunchKernelEx", address(&cuLaunchKernelEx), false},
    {"cuLaunchKernelEx", 11060, true, "cuLaunchKernelEx_ptsz", address(&cuLaunchKernelEx_ptsz),
     false},
    {"cuModuleUnload", 2000, false, "cuModuleUnload", address(&cuModuleUnload), true},
    {"cuLibraryUnload", 12000, false, "cuLibraryUnload", address(&cuLibraryUnload), true},
    {"cuCtxDestroy", 2000, false, "cuCtxDestroy", address(&cuCtxDestroy), true},
    {"cuCtxDestroy", 4000, false, "cuCtxDestroy_v2", address(&cuCtxDestroy_v2), true},
    {"cuCtxDetach", 2000, false, "cuCtxDetach", address(&cuCtxDetach), true},
    {"cuDevicePrimaryCtxRelease", 7000, false, "cuDevicePrimaryCtxRelease",
     address(&cuDevicePrimaryCtxRelease), true},
    {"cuDevicePrimaryCtxRelease", 11000, false, "cuDevicePrimaryCtxRelease_v2",
     address(&cuDevicePrimaryCtxRelease_v2), true},
    {"cuDevicePrimaryCtxReset", 7000, false, "cuDevicePrimaryCtxReset",
     address(&cuDevicePrimaryCtxReset), true},
    {"cuDevicePrimaryCtxReset", 11000, false, "cuDevicePrimaryCtxReset_v2",
     address(&cuDevicePrimaryCtxReset_v2), true},
    {"cuGreenCtxDestroy", 12040, false, "cuGreenCtxDestroy", address(&cuGreenCtxDestroy), true},
    {"cuGraphKernelNodeGetParams", 10000, false, "cuGraphKernelNodeGetParams",
     address(&cuGraphKernelNodeGetParams), false},
    {"cuGraphKernelNodeGetParams", 12000, false, "cuGraphKernelNodeGetParams_v2",
     address(&cuGraphKernelNodeGetParams_v2), false},
    {"cuModuleLoad", 2000, false, "cuModuleLoad", address(&cuModuleLoad), false},
    {"cuModuleLoadData", 2000, false, "cuModuleLoadData", address(&cuModuleLoadData), false},
    {"cuModuleLoadDataEx", 2010, false, "cuModuleLoadDataEx", address(&cuModuleLoadDataEx), false},
    {"cuModuleLoadFatBinary", 2000, false, "cuModuleLoadFatBinary", address(&cuModuleLoadFatBinary),
     false},
    {"cuLibraryLoadData", 12000, false, "cuLibraryLoadData", address(&cuLibraryLoadData), false},
    {"cuLinkAddData", 5050, false, "cuLinkAddData", address(&cuLinkAddData), false},
    {"cuLinkAddData", 6050, false, "cuLinkAddData_v2", address(&cuLinkAddData_v2), false},
    {"cuStreamCreate", 2000, false, "cuStreamCreate", address(&cuStreamCreate), false},
    {"cuStreamCreateWithPriority", 5050, false, "cuStreamCreateWithPriority",
     address(&cuStreamCreateWithPriority), false},
    {"cuStreamDestroy", 2000, false, "cuStreamDestroy", address(&cuStreamDestroy), false},
    {"cuStreamDestroy", 4000, false, "cuStreamDestroy_v2", address(&cuStreamDestroy_v2), false},
    {"cuStreamBeginCapture", 10000, false, "cuStreamBeginCapture", address(&cuStreamBeginCapture),
     false},
    {"cuStreamBeginCapture", 10000, true, "cuStreamBeginCapture_ptsz",
     address(&cuStreamBeginCapture_ptsz), false},
    {"cuStreamBeginCapture", 10010, false, "cuStreamBeginCapture_v2",
     address(&cuStreamBeginCapture_v2), false},
    {"cuStreamBeginCapture", 10010, true, "cuStreamBeginCapture_v2_ptsz",
     address(&cuStreamBeginCapture_v2_ptsz), false},
    {"cuStreamBeginCaptureToGraph", 12030, false, "cuStreamBeginCaptureToGraph",
     address(&cuStreamBeginCaptureToGraph), false},
    {"cuStreamBeginCaptureToGraph", 12030, true, "cuStreamBeginCaptureToGraph_ptsz",
     address(&cuStreamBeginCaptureToGraph_ptsz), false},
    {"cuGraphLaunch", 10000, false, "cuGraphLaunch", address(&cuGraphLaunch), false},
    {"cuGraphLaunch", 10000, true, "cuGraphLaunch_ptsz", address(&cuGraphLaunch_ptsz), false},
    {"cuLaunchCooperativeKernel", 9000, false, "cuLaunchCooperativeKernel",
     address(&cuLaunchCooperativeKernel), false},
    {"cuLaunchCooperativeKernel", 9000, true, "cuLaunchCooperativeKernel_ptsz",
     address(&cuLaunchCooperativeKernel_ptsz), false},
};
constexpr std::size_t hook_count = std::size(table);
static_assert(hook_count == static_cast<std::size_t>(Hook::launch_cooperative_ptsz) + 1);

std::atomic<void *> slots[hook_count];

thread_local int depth __attribute__((tls_model("initial-exec")));

using Dlsym = void *(void *, const char *);

bool same_library(void *a, void *b) {
  Dl_info one, other;
  return ::dladdr(a, &one) && ::dladdr(b, &other) && one.dli_fbase == other.dli_fbase;
}

/// Our function for a hook behind which the driver's is `found`.
void *enter(std::size_t index, void *found) {
  if (found == table[index].replacement)
    return found;
  void *known = nullptr;
  if (slots[index].compare_exchange_strong(known, found, std::memory_order_acq_rel) ||
      known == found || same_library(known, found))
    return table[index].replacement;
  if (table[index].ends_handles)
    switch_off(Off::unseen_unload);
  return found;
}

/// Returns true if the driver has a version of the function beyond those of the table.
bool has_newer(const HookSpec &newest) {
  const char *suffix = std::strstr(newest.symbol, "_v");
  const int version = suffix ? suffix[2] - '0' : 1;
  const std::string symbol = std::string(newest.name) + "_v" + std::to_string(version + 1) +
                             (newest.per_thread ? "_ptsz" : "");
  void *library = driver_library();
  return library && real_dlsym(library, symbol.c_str());
}

} // namespace

std::span<const HookSpec> hooks() { return table; }

void *dlsym_address() {
  // Sanitizers look things up before they can bear a guarded initialisation, so there is none here:
  // whoever comes second finds the same. And never by dlsym(), which is us; the version of the
  // first glibc for this machine is there in all.
  static std::atomic<void *> address{nullptr};
  if (void *const known = address.load(std::memory_order_acquire))
    return known;
  void *const found = ::dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  address.store(found, std::memory_order_release);
  return found;
}

void *real_dlsym(void *library, const char *name) {
  auto *const function = reinterpret_cast<Dlsym *>(dlsym_address());
  return function ? function(library, name) : nullptr;
}

void *library_of(const void *address) {
  Dl_info info;
  return ::dladdr(address, &info) && info.dli_fname
             ? ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
             : nullptr;
}

void *behind_ours(const char *name, const void *ours, const void *caller) {
  const LookupGuard guard;
  void *found = real_dlsym(RTLD_NEXT, name);
  if (found && found != ours)
    return found;
  // An interpreter opens its modules for themselves: what they are linked with is theirs.
  void *const library = library_of(caller);
  found = library ? real_dlsym(library, name) : nullptr;
  if (library)
    ::dlclose(library);
  return found == ours ? nullptr : found;
}

void *driver_library() {
  static std::atomic<void *> library{nullptr};
  if (void *const known = library.load(std::memory_order_acquire))
    return known;
  void *found = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  // Under another name: the library that gave us a function, unless that is an interposer.
  for (const std::atomic<void *> &slot : slots) {
    Dl_info info;
    void *const function = slot.load(std::memory_order_acquire);
    if (!found && function && ::dladdr(function, &info) && info.dli_fname) {
      found = ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
      if (found && !real_dlsym(found, "cuInit"))
        found = nullptr;
    }
  }
  if (found)
    library.store(found, std::memory_order_release);
  return found;
}

void *behind(Hook hook) {
  const auto index = static_cast<std::size_t>(hook);
  if (void *const known = slots[index].load(std::memory_order_acquire))
    return known;
  const LookupGuard guard;
  // Whoever links libcuda has it behind us; whoever opened it privately has at least loaded it.
  void *found = real_dlsym(RTLD_NEXT, table[index].symbol);
  if (!found || found == table[index].replacement) {
    void *const library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    found = library ? real_dlsym(library, table[index].symbol) : nullptr;
  }
  if (found && found != table[index].replacement)
    enter(index, found);
  return slots[index].load(std::memory_order_acquire);
}

bool is_hook(const char *symbol) {
  for (const HookSpec &spec : table)
    if (std::strcmp(spec.symbol, symbol) == 0)
      return true;
  return false;
}

void *replace_symbol(const char *symbol, void *found) {
  for (std::size_t i = 0; i < hook_count; ++i)
    if (std::strcmp(table[i].symbol, symbol) == 0)
      return enter(i, found);
  return found;
}

void *replace_named(const char *name, int version, std::uint64_t flags, void *found) {
  if (is_hook(name) && std::strpbrk(name, "_")) // asked for by the symbol itself
    return replace_symbol(name, found);
  const bool per_thread = flags & per_thread_stream;
  std::size_t match = hook_count, newest = hook_count;
  bool has_per_thread = false;
  for (const HookSpec &spec : table)
    has_per_thread = has_per_thread || (spec.per_thread && std::strcmp(spec.name, name) == 0);
  for (std::size_t i = 0; i < hook_count; ++i) {
    if (std::strcmp(table[i].name, name) != 0 ||
        (has_per_thread && table[i].per_thread != per_thread))
      continue;
    newest = i;
    if (table[i].since <= version)
      match = i;
  }
  if (match == hook_count)
    return found;
  if (version > known_cuda && has_newer(table[newest])) {
    if (table[newest].ends_handles)
      switch_off(Off::unseen_unload);
    return found;
  }
  return enter(match, found);
}

LookupGuard::LookupGuard() { ++depth; }
LookupGuard::~LookupGuard() { --depth; }
bool LookupGuard::active() { return depth > 0; }

} // namespace ptxasw::wrapper::launch
