// Initialisation, the device, contexts and errors of the Driver API. Contexts are names: all of
// them see the one memory of the process.

#include "wrapper/runtime/driver.h"

#include <algorithm>
#include <cctype>
#include <cstring>

using namespace ptxasw::wrapper;

/// A context: its flags, and whether it is the one that the Runtime API uses.
struct CUctx_st {
  unsigned flags = 0;
  unsigned users = 0; ///< of the primary context
  unsigned long long id = 0;
};

namespace {

bool &initialised() {
  static bool done = false;
  return done;
}

CUctx_st &primary() {
  static CUctx_st context{0, 0, 1};
  return context;
}

std::set<CUcontext> &contexts() {
  static auto *const all = new std::set<CUcontext>{&primary()};
  return *all;
}

std::vector<CUcontext> &stack() {
  thread_local std::vector<CUcontext> contexts;
  return contexts;
}

CUcontext current() {
  if (!stack().empty())
    return stack().back();
  return Device::is_used() ? &primary() : nullptr;
}

/// "invalid value" of CUDA_ERROR_INVALID_VALUE.
std::string words_of_result(std::string_view name) {
  constexpr std::string_view prefix = "CUDA_ERROR_";
  if (!name.starts_with(prefix))
    return "no error";
  std::string words(name.substr(prefix.size()));
  for (char &c : words)
    c = c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return words;
}

struct KnownResult {
  const char *name = nullptr;
  std::string words;
};

const KnownResult *known_driver_result(CUresult result) {
  static const auto *const all = [] {
    auto *const made = new std::map<int, KnownResult>;
#define PTXASW_DRIVER_ERROR(name) (*made)[name] = {#name, words_of_result(#name)};
#include "wrapper/runtime/driver_errors.def"
#undef PTXASW_DRIVER_ERROR
    return made;
  }();
  const auto found = all->find(result);
  return found == all->end() ? nullptr : &found->second;
}

CUresult create(CUcontext *context, unsigned flags, CUdevice number) {
  return driver(
      [&] {
        if (!context)
          return cudaErrorInvalidValue;
        if (number != 0)
          return cudaErrorInvalidDevice;
        static unsigned long long next = 2;
        *context = new CUctx_st{flags, 0, next++};
        contexts().insert(*context);
        stack().push_back(*context);
        return cudaSuccess;
      },
      false);
}

/// A call about the device by its number, for which no context is needed.
template <class Body> CUresult about_device(CUdevice number, Body body) {
  return driver([&] { return number == 0 ? body() : cudaErrorInvalidDevice; }, false);
}

} // namespace

namespace ptxasw::wrapper {

CUresult result_of(cudaError_t error) {
  switch (error) {
  case cudaErrorInvalidConfiguration:
  case cudaErrorInvalidPitchValue:
  case cudaErrorInvalidMemcpyDirection:
    return CUDA_ERROR_INVALID_VALUE;
  case cudaErrorInvalidSymbol:
    return CUDA_ERROR_NOT_FOUND;
  case cudaErrorInvalidDeviceFunction:
    return CUDA_ERROR_INVALID_HANDLE;
  default:
    return static_cast<CUresult>(error); // the rest have the same numbers
  }
}

/// For refused.cpp, which must not know the API's types.
int refuse_driver(const char *name, const char *why) {
  return driver([&] { return Device::refuse(name, why); }, false);
}

CUresult ready(bool needs_context) {
  if (!initialised() && !Device::is_used())
    return CUDA_ERROR_NOT_INITIALIZED;
  if (!needs_context)
    return CUDA_SUCCESS;
  const CUcontext now = current();
  return !now                       ? CUDA_ERROR_INVALID_CONTEXT
         : contexts().contains(now) ? CUDA_SUCCESS
                                    : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

} // namespace ptxasw::wrapper

extern "C" {

CUresult cuInit(unsigned flags) {
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  initialised() = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  return version ? (*version = CUDA_VERSION, CUDA_SUCCESS) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult result, const char **name) {
  const KnownResult *const found = known_driver_result(result);
  if (name)
    *name = found ? found->name : nullptr;
  return name && found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **words) {
  const KnownResult *const found = known_driver_result(result);
  if (words)
    *words = found ? found->words.c_str() : nullptr;
  return words && found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// ---- the device

CUresult cuDeviceGetCount(int *count) {
  return driver([&] { return cudaGetDeviceCount(count); }, false);
}

CUresult cuDeviceGet(CUdevice *to, int number) {
  return about_device(number, [&] { return to ? (*to = 0, cudaSuccess) : cudaErrorInvalidValue; });
}

CUresult cuDeviceGetName(char *name, int length, CUdevice number) {
  return about_device(number, [&] {
    cudaDeviceProp all{};
    if (!name || length <= 0)
      return cudaErrorInvalidValue;
    const cudaError_t error = cudaGetDeviceProperties(&all, 0);
    const std::size_t most = std::min(std::strlen(all.name), static_cast<std::size_t>(length) - 1);
    std::memcpy(name, all.name, most);
    name[most] = 0;
    return error;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice number) {
  return about_device(number, [&] {
    cudaDeviceProp all{};
    if (!uuid)
      return cudaErrorInvalidValue;
    const cudaError_t error = cudaGetDeviceProperties(&all, 0);
    std::memcpy(uuid, &all.uuid, sizeof *uuid);
    return error;
  });
}
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice number) { return cuDeviceGetUuid_v2(uuid, number); }

CUresult cuDeviceGetLuid(char *, unsigned *, CUdevice) { return CUDA_ERROR_NOT_SUPPORTED; }

CUresult cuDeviceTotalMem_v2(std::size_t *bytes, CUdevice number) {
  return about_device(number, [&] {
    return bytes ? (*bytes = device().memory_size(), cudaSuccess) : cudaErrorInvalidValue;
  });
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice number) {
  return driver(
      [&] { return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), number); },
      false);
}

CUresult cuDeviceGetProperties(CUdevprop *to, CUdevice number) {
  return about_device(number, [&] {
    cudaDeviceProp all{};
    if (!to)
      return cudaErrorInvalidValue;
    const cudaError_t error = cudaGetDeviceProperties(&all, 0);
    to->maxThreadsPerBlock = all.maxThreadsPerBlock;
    std::copy_n(all.maxThreadsDim, 3, to->maxThreadsDim);
    std::copy_n(all.maxGridSize, 3, to->maxGridSize);
    to->sharedMemPerBlock = static_cast<int>(all.sharedMemPerBlock);
    to->totalConstantMemory = static_cast<int>(all.totalConstMem);
    to->SIMDWidth = all.warpSize;
    to->memPitch = static_cast<int>(all.memPitch);
    to->regsPerBlock = all.regsPerBlock;
    to->clockRate = 0;
    cudaDeviceGetAttribute(&to->clockRate, cudaDevAttrClockRate, 0);
    to->textureAlign = static_cast<int>(all.textureAlignment);
    return error;
  });
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice number) {
  return about_device(number, [&] {
    if (!major || !minor)
      return cudaErrorInvalidValue;
    *major = static_cast<int>(device().sm() / 10);
    *minor = static_cast<int>(device().sm() % 10);
    return cudaSuccess;
  });
}

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice number) {
  return driver([&] { return cudaDeviceGetPCIBusId(id, length, number); }, false);
}
CUresult cuDeviceGetByPCIBusId(CUdevice *number, const char *id) {
  return driver([&] { return cudaDeviceGetByPCIBusId(number, id); }, false);
}
CUresult cuDeviceCanAccessPeer(int *can, CUdevice one, CUdevice other) {
  return driver([&] { return cudaDeviceCanAccessPeer(can, one, other); }, false);
}
CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice one,
                                 CUdevice other) {
  return driver(
      [&] {
        return cudaDeviceGetP2PAttribute(value, static_cast<cudaDeviceP2PAttr>(attribute), one,
                                         other);
      },
      false);
}
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice number) {
  return driver([&] { return cudaDeviceGetDefaultMemPool(pool, number); }, false);
}
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice number) {
  return driver([&] { return cudaDeviceGetMemPool(pool, number); }, false);
}
CUresult cuDeviceSetMemPool(CUdevice number, CUmemoryPool pool) {
  return driver([&] { return cudaDeviceSetMemPool(number, pool); }, false);
}

// ---- contexts

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice number) {
  return about_device(number, [&] {
    if (!context)
      return cudaErrorInvalidValue;
    ++primary().users;
    *context = &primary();
    return cudaSuccess;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice number) {
  return about_device(number, [&] {
    if (primary().users == 0)
      return static_cast<cudaError_t>(CUDA_ERROR_INVALID_CONTEXT);
    --primary().users;
    return cudaSuccess;
  });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice number) { return cuDevicePrimaryCtxRelease_v2(number); }

CUresult cuDevicePrimaryCtxReset_v2(CUdevice number) {
  return about_device(number, [] { return cudaDeviceReset(); });
}
CUresult cuDevicePrimaryCtxReset(CUdevice number) { return cuDevicePrimaryCtxReset_v2(number); }

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice number, unsigned flags) {
  return about_device(number, [&] { return primary().flags = flags, cudaSuccess; });
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice number, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(number, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice number, unsigned *flags, int *active) {
  return about_device(number, [&] {
    if (!flags || !active)
      return cudaErrorInvalidValue;
    *flags = primary().flags;
    *active = primary().users > 0 || Device::is_used();
    return cudaSuccess;
  });
}

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *, unsigned flags, CUdevice number) {
  return create(context, flags, number);
}
CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *, int, unsigned flags,
                        CUdevice number) {
  return create(context, flags, number);
}
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice number) {
  return create(context, flags, number);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  return driver(
      [&] {
        if (context == &primary() || !contexts().erase(context))
          return static_cast<cudaError_t>(CUDA_ERROR_INVALID_CONTEXT);
        std::erase(stack(), context); // it stays current to other threads
        delete context;
        return cudaSuccess;
      },
      false);
}

CUresult cuCtxDestroy(CUcontext context) { return cuCtxDestroy_v2(context); }

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return driver(
      [&] {
        if (!contexts().contains(context))
          return static_cast<cudaError_t>(CUDA_ERROR_INVALID_CONTEXT);
        stack().push_back(context);
        return cudaSuccess;
      },
      false);
}

CUresult cuCtxPushCurrent(CUcontext context) { return cuCtxPushCurrent_v2(context); }

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  return driver(
      [&] {
        if (stack().empty())
          return static_cast<cudaError_t>(CUDA_ERROR_INVALID_CONTEXT);
        if (context)
          *context = stack().back();
        stack().pop_back();
        return cudaSuccess;
      },
      false); // one that was destroyed can go, too
}

CUresult cuCtxPopCurrent(CUcontext *context) { return cuCtxPopCurrent_v2(context); }

CUresult cuCtxSetCurrent(CUcontext context) {
  return driver(
      [&] {
        if (context && !contexts().contains(context))
          return static_cast<cudaError_t>(CUDA_ERROR_INVALID_CONTEXT);
        if (!stack().empty())
          stack().pop_back();
        if (context)
          stack().push_back(context);
        return cudaSuccess;
      },
      false);
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  return driver(
      [&] { return context ? (*context = current(), cudaSuccess) : cudaErrorInvalidValue; }, false);
}

CUresult cuCtxGetDevice(CUdevice *number) {
  return driver(
      [&] {
        if (!current()) // one that was destroyed has its device still
          return static_cast<cudaError_t>(CUDA_ERROR_INVALID_CONTEXT);
        return number ? (*number = 0, cudaSuccess) : cudaErrorInvalidValue;
      },
      false);
}

CUresult cuCtxGetFlags(unsigned *flags) {
  return driver(
      [&] { return flags ? (*flags = current()->flags, cudaSuccess) : cudaErrorInvalidValue; });
}
CUresult cuCtxSetFlags(unsigned flags) {
  return driver([&] { return current()->flags = flags, cudaSuccess; });
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id) {
  return driver([&] {
    const CUcontext meant = context ? context : current();
    if (!contexts().contains(meant))
      return static_cast<cudaError_t>(CUDA_ERROR_INVALID_CONTEXT);
    return id ? (*id = meant->id, cudaSuccess) : cudaErrorInvalidValue;
  });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version) {
  return driver([&] {
    if (context && !contexts().contains(context))
      return static_cast<cudaError_t>(CUDA_ERROR_INVALID_CONTEXT);
    return version ? (*version = 3020, cudaSuccess) : cudaErrorInvalidValue;
  });
}

CUresult cuCtxSynchronize() {
  return driver([] { return cudaDeviceSynchronize(); });
}
CUresult cuCtxGetLimit(std::size_t *value, CUlimit limit) {
  return driver([&] { return cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)); });
}
CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return driver([&] { return cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value); });
}
CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
  return driver(
      [&] { return cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache *>(config)); });
}
CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return driver([&] { return cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config)); });
}
CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config) {
  return driver([&] {
    return config ? (*config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE, cudaSuccess)
                  : cudaErrorInvalidValue;
  });
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig) {
  return driver([] { return cudaSuccess; });
}
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  return driver([&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}
CUresult cuCtxResetPersistingL2Cache() {
  return driver([] { return cudaCtxResetPersistingL2Cache(); });
}

// ---- functions by name

CUresult cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t,
                             CUdriverProcAddressQueryResult *status) {
  if (!name || !function)
    return CUDA_ERROR_INVALID_VALUE;
  struct Entry {
    std::string_view name;
    void *function;
    int since; ///< the CUDA version from which on the name means this
  };
#define PTXASW_DRIVER(name, symbol, since) {#name, reinterpret_cast<void *>(symbol), since},
  static const Entry entries[] = {
#include "wrapper/runtime/driver_names.def"
  };
#undef PTXASW_DRIVER
  *function = nullptr;
  bool is_later = false;
  int best = -1;
  for (const Entry &entry : entries)
    if (entry.name == name) {
      is_later |= entry.since > version;
      if (entry.since <= version && entry.since > best)
        *function = entry.function, best = entry.since;
    }
  if (status)
    *status = *function  ? CU_GET_PROC_ADDRESS_SUCCESS
              : is_later ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                         : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult *status) {
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  if (!name || !function)
    return Device::remember(cudaErrorInvalidValue);
  Device::is_used() = true;
  const CUresult result =
      cuGetProcAddress_v2(name, function, static_cast<int>(version), flags, &found);
  if (status)
    *status = static_cast<cudaDriverEntryPointQueryResult>(found);
  return result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_FOUND
             ? cudaSuccess
             : Device::remember(cudaErrorInvalidValue);
}

cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult *status) {
  return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, status);
}

} // extern "C"
