// Modules, kernels and launches of the Driver API. A CUmodule is a cudaLibrary_t, a CUfunction and
// a CUkernel are cudaKernel_t. PTX is linked as text: what cuLinkComplete hands out is PTX again.

#include "wrapper/runtime/driver.h"
#include "wrapper/runtime/link_ptx.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

using namespace ptxasw::wrapper;

/// Texts that are being linked.
struct CUlinkState_st {
  std::vector<std::string> texts;
  std::string result;
};

namespace {

cudaLibrary_t library_of(CUmodule module) { return reinterpret_cast<cudaLibrary_t>(module); }
CUmodule module_of(CUlib_st *library) { return reinterpret_cast<CUmodule>(library); }

/// The library that a kernel is of, so that its module can be told; null if it is the program's.
CUlib_st *library_with(const CUkern_st *kernel) {
  return kernel ? kernel->module->handle : nullptr;
}

/// Puts a text into the buffer that an option names, and its length to the size that another does.
void give(unsigned count, const CUjit_option *options, void **values, CUjit_option buffer_option,
          CUjit_option size_option, const std::string &text) {
  char *buffer = nullptr;
  void **size = nullptr;
  for (unsigned i = 0; options && values && i < count; ++i)
    if (options[i] == buffer_option)
      buffer = static_cast<char *>(values[i]);
    else if (options[i] == size_option)
      size = &values[i];
  if (!size)
    return;
  const std::size_t room = reinterpret_cast<std::uintptr_t>(*size) & 0xffffffff;
  const std::size_t length = room == 0 ? 0 : std::min(text.size(), room - 1);
  if (buffer && room > 0) {
    std::memcpy(buffer, text.data(), length);
    buffer[length] = 0;
  }
  *size = reinterpret_cast<void *>(length);
}

/// What went wrong, in the logs that the program asked for.
void give_logs(unsigned count, const CUjit_option *options, void **values, cudaError_t error) {
  give(count, options, values, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
       error == cudaSuccess ? "" : LoadedModule::last_failure());
  give(count, options, values, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
}

CUresult load(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
              void **values) {
  return driver([&] {
    cudaLibrary_t library = nullptr;
    if (!module)
      return cudaErrorInvalidValue;
    const cudaError_t error =
        cudaLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (error == cudaSuccess)
      *module = module_of(library);
    give_logs(count, options, values, error);
    return error;
  });
}

/// A call about a kernel, loaded.
template <class Body> CUresult about(CUkern_st *kernel, Body body) {
  return driver([&] { return kernel ? body() : cudaErrorInvalidResourceHandle; });
}

cudaError_t attribute_of(int *value, CUfunction_attribute attribute, const void *kernel) {
  cudaFuncAttributes all{};
  if (!value)
    return cudaErrorInvalidValue;
  if (const cudaError_t error = cudaFuncGetAttributes(&all, kernel); error != cudaSuccess)
    return error;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    return *value = all.maxThreadsPerBlock, cudaSuccess;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    return *value = static_cast<int>(all.sharedSizeBytes), cudaSuccess;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    return *value = static_cast<int>(all.constSizeBytes), cudaSuccess;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    return *value = static_cast<int>(all.localSizeBytes), cudaSuccess;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    return *value = all.numRegs, cudaSuccess;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    return *value = all.ptxVersion, cudaSuccess;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    return *value = all.binaryVersion, cudaSuccess;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    return *value = all.maxDynamicSharedSizeBytes, cudaSuccess;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    return *value = all.preferredShmemCarveout, cudaSuccess;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    return *value = all.clusterDimMustBeSet, cudaSuccess;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    return *value = all.requiredClusterWidth, cudaSuccess;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    return *value = all.requiredClusterHeight, cudaSuccess;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    return *value = all.requiredClusterDepth, cudaSuccess;
  default:
    return attribute >= 0 && attribute < CU_FUNC_ATTRIBUTE_MAX ? (*value = 0, cudaSuccess)
                                                               : cudaErrorInvalidValue;
  }
}

/// Parameters one behind the other (CU_LAUNCH_PARAM_BUFFER_POINTER) as a list of addresses.
cudaError_t unpack(CUkern_st *kernel, void **extra, std::vector<void *> &arguments) {
  char *buffer = nullptr;
  std::size_t size = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2)
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = static_cast<char *>(extra[1]);
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = *static_cast<std::size_t *>(extra[1]);
    else
      return cudaErrorInvalidValue;
  std::size_t offset = 0, bytes = 0;
  for (std::size_t i = 0; cudaFuncGetParamInfo(kernel, i, &offset, &bytes) == cudaSuccess; ++i) {
    if (!buffer || offset + bytes > size)
      return cudaErrorInvalidValue;
    arguments.push_back(buffer + offset);
  }
  return cudaSuccess;
}

CUresult launch(const CUlaunchConfig &config, CUfunction function, void **arguments, void **extra) {
  return driver([&] {
    if (!function)
      return cudaErrorInvalidResourceHandle;
    std::vector<void *> unpacked;
    if (arguments && extra)
      return cudaErrorInvalidValue;
    if (extra) {
      if (const cudaError_t error = unpack(kernel_of(function), extra, unpacked);
          error != cudaSuccess)
        return error;
      arguments = unpacked.data();
    }
    cudaLaunchConfig_t same{};
    same.gridDim = {config.gridDimX, config.gridDimY, config.gridDimZ};
    same.blockDim = {config.blockDimX, config.blockDimY, config.blockDimZ};
    same.dynamicSmemBytes = config.sharedMemBytes;
    same.stream = config.hStream;
    same.attrs = reinterpret_cast<cudaLaunchAttribute *>(config.attrs);
    same.numAttrs = config.numAttrs;
    return cudaLaunchKernelExC(&same, kernel_of(function), arguments);
  });
}

} // namespace

extern "C" {

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values) {
  return load(module, image, count, options, values);
}
CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return load(module, image, 0, nullptr, nullptr);
}
CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
  return load(module, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoad(CUmodule *module, const char *file) {
  return driver([&] {
    cudaLibrary_t library = nullptr;
    if (!module)
      return cudaErrorInvalidValue;
    const cudaError_t error =
        cudaLibraryLoadFromFile(&library, file, nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (error == cudaSuccess)
      *module = module_of(library);
    return error;
  });
}

CUresult cuModuleUnload(CUmodule module) {
  return driver([&] { return cudaLibraryUnload(library_of(module)); });
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  return driver([&] {
    return cudaLibraryGetKernel(reinterpret_cast<cudaKernel_t *>(function), library_of(module),
                                name);
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, std::size_t *bytes, CUmodule module,
                              const char *name) {
  return driver([&] {
    return cudaLibraryGetGlobal(reinterpret_cast<void **>(address), bytes, library_of(module),
                                name);
  });
}

CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule module) {
  return driver([&] { return cudaLibraryGetKernelCount(count, library_of(module)); });
}
CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule module) {
  return driver([&] {
    return cudaLibraryEnumerateKernels(reinterpret_cast<cudaKernel_t *>(functions), count,
                                       library_of(module));
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
  return mode ? (*mode = CU_MODULE_EAGER_LOADING, CUDA_SUCCESS) : CUDA_ERROR_INVALID_VALUE;
}

// ---- libraries

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options,
                           void **values, unsigned count, CUlibraryOption *, void **, unsigned) {
  return driver(
      [&] {
        const cudaError_t error =
            cudaLibraryLoadData(reinterpret_cast<cudaLibrary_t *>(library), code, nullptr, nullptr,
                                0, nullptr, nullptr, 0);
        give_logs(count, options, values, error);
        return error;
      },
      false);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *file, CUjit_option *, void **,
                               unsigned, CUlibraryOption *, void **, unsigned) {
  return driver(
      [&] {
        return cudaLibraryLoadFromFile(reinterpret_cast<cudaLibrary_t *>(library), file, nullptr,
                                       nullptr, 0, nullptr, nullptr, 0);
      },
      false);
}

CUresult cuLibraryUnload(CUlibrary library) {
  return driver([&] { return cudaLibraryUnload(library); }, false);
}
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  return driver([&] { return cudaLibraryGetKernel(kernel, library, name); }, false);
}
CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library) {
  return driver([&] { return cudaLibraryGetKernelCount(count, library); }, false);
}
CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary library) {
  return driver([&] { return cudaLibraryEnumerateKernels(kernels, count, library); }, false);
}
CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library) {
  return driver([&] {
    return module && library ? (*module = module_of(library), cudaSuccess) : cudaErrorInvalidValue;
  });
}
CUresult cuLibraryGetGlobal(CUdeviceptr *address, std::size_t *bytes, CUlibrary library,
                            const char *name) {
  return driver([&] {
    return cudaLibraryGetGlobal(reinterpret_cast<void **>(address), bytes, library, name);
  });
}
CUresult cuLibraryGetManaged(CUdeviceptr *address, std::size_t *bytes, CUlibrary library,
                             const char *name) {
  return cuLibraryGetGlobal(address, bytes, library, name);
}

// ---- kernels and functions

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  return driver([&] {
    return function && kernel ? (*function = function_of(kernel), cudaSuccess)
                              : cudaErrorInvalidValue;
  });
}
CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
  return about(kernel, [&] {
    if (!library)
      return cudaErrorInvalidValue;
    *library = library_with(kernel);
    return *library ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}
CUresult cuKernelGetName(const char **name, CUkernel kernel) {
  return about(kernel, [&] { return cudaFuncGetName(name, kernel); });
}
CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t *offset,
                              std::size_t *size) {
  return about(kernel, [&] { return cudaFuncGetParamInfo(kernel, index, offset, size); });
}
CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice) {
  return about(kernel, [&] { return attribute_of(value, attribute, kernel); });
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice) {
  return about(kernel, [&] {
    return cudaFuncSetAttribute(kernel, static_cast<cudaFuncAttribute>(attribute), value);
  });
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache, CUdevice) {
  return about(kernel, [&] { return cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferNone); });
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  return cuKernelGetAttribute(value, attribute, kernel_of(function), 0);
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return cuKernelSetAttribute(attribute, value, kernel_of(function), 0);
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return cuKernelSetCacheConfig(kernel_of(function), config, 0);
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  return cuKernelSetCacheConfig(kernel_of(function), CU_FUNC_CACHE_PREFER_NONE, 0);
}
CUresult cuFuncGetModule(CUmodule *module, CUfunction function) {
  return cuKernelGetLibrary(reinterpret_cast<CUlibrary *>(module), kernel_of(function));
}
CUresult cuFuncGetName(const char **name, CUfunction function) {
  return cuKernelGetName(name, kernel_of(function));
}
CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t *offset,
                            std::size_t *size) {
  return cuKernelGetParamInfo(kernel_of(function), index, offset, size);
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
  return about(kernel_of(function), [&] {
    return state ? (*state = CU_FUNCTION_LOADING_STATE_LOADED, cudaSuccess) : cudaErrorInvalidValue;
  });
}
CUresult cuFuncLoad(CUfunction function) {
  return about(kernel_of(function), [] { return cudaSuccess; });
}

// ---- launches

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void **arguments, void **extra) {
  return launch({grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, nullptr, 0},
                function, arguments, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments,
                          void **extra) {
  return config ? launch(*config, function, arguments, extra) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void **arguments) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  return launch({grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, &attribute, 1},
                function, arguments, nullptr);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *argument) {
  return driver([&] { return cudaLaunchHostFunc(stream, function, argument); });
}

// ---- occupancy

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                              int threads, std::size_t shared,
                                                              unsigned flags) {
  return about(kernel_of(function), [&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel_of(function),
                                                                  threads, shared, flags);
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     std::size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t *bytes, CUfunction function,
                                                 int blocks, int threads) {
  return about(kernel_of(function), [&] {
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, kernel_of(function), blocks, threads);
  });
}

// The largest block that keeps most threads on a multiprocessor, by whole warps from above.
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, std::size_t shared,
                                                   int limit, unsigned) {
  return about(kernel_of(function), [&] {
    if (!grid || !block)
      return cudaErrorInvalidValue;
    int most = 0, best = 0;
    if (const cudaError_t error =
            attribute_of(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel_of(function));
        error != cudaSuccess)
      return error;
    if (limit > 0)
      most = std::min(most, limit);
    *grid = *block = 0;
    for (int threads = (most + 31) / 32 * 32; threads > 0; threads -= 32) {
      const int real = std::min(threads, most);
      int blocks = 0;
      if (const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &blocks, kernel_of(function), real, shared_of ? shared_of(real) : shared);
          error != cudaSuccess)
        return error;
      if (blocks * real > best) {
        best = blocks * real;
        *block = real;
        *grid = blocks * static_cast<int>(device().architecture().multiprocessors);
      }
    }
    return cudaSuccess;
  });
}
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                          CUoccupancyB2DSize shared_of, std::size_t shared,
                                          int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared, limit,
                                                   0);
}

// ---- linking

CUresult cuLinkCreate_v2(unsigned, CUjit_option *, void **, CUlinkState *state) {
  return driver(
      [&] { return state ? (*state = new CUlinkState_st, cudaSuccess) : cudaErrorInvalidValue; });
}

CUresult cuLinkCreate(unsigned count, CUjit_option *options, void **values, CUlinkState *state) {
  return cuLinkCreate_v2(count, options, values, state);
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, std::size_t size,
                          const char *, unsigned, CUjit_option *, void **) {
  return driver([&] {
    if (!state || !data)
      return cudaErrorInvalidValue;
    std::string text(static_cast<const char *>(data), size);
    if (type == CU_JIT_INPUT_FATBINARY || (type == CU_JIT_INPUT_CUBIN && is_fat_file(text))) {
      const auto images = read_fat_file(text);
      if (!images)
        return cudaErrorInvalidKernelImage;
      const auto chosen = choose_ptx(*images, device().sm());
      if (chosen.empty())
        return cudaErrorNoKernelImageForDevice;
      for (const FatImage *image : chosen) {
        auto one = image->unpack();
        if (!one)
          return cudaErrorInvalidKernelImage;
        state->texts.push_back(std::move(*one));
      }
      return cudaSuccess;
    }
    if (text.starts_with("\x7f"
                         "ELF") ||
        (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_CUBIN))
      return cudaErrorNoKernelImageForDevice;
    text.resize(std::strlen(text.c_str()));
    state->texts.push_back(std::move(text));
    return cudaSuccess;
  });
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, std::size_t size,
                       const char *name, unsigned count, CUjit_option *options, void **values) {
  return cuLinkAddData_v2(state, type, data, size, name, count, options, values);
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                          CUjit_option *options, void **values) {
  std::ifstream file(path ? path : "", std::ios::binary);
  if (!file)
    return driver([] { return cudaErrorFileNotFound; });
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  return cuLinkAddData_v2(state, type, bytes.data(), bytes.size(), path, count, options, values);
}

CUresult cuLinkComplete(CUlinkState state, void **image, std::size_t *size) {
  return driver([&] {
    if (!state || !image || state->texts.empty())
      return cudaErrorInvalidValue;
    if (state->texts.size() == 1) {
      state->result = state->texts[0];
    } else {
      auto linked = link_ptx(state->texts);
      if (!linked) {
        say("PTX cannot be linked: " + linked.error());
        return cudaErrorInvalidPtx;
      }
      state->result = std::move(*linked);
    }
    *image = state->result.data();
    if (size)
      *size = state->result.size() + 1;
    return cudaSuccess;
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return driver([&] { return delete state, cudaSuccess; });
}

} // extern "C"
