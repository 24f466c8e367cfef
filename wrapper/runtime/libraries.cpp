// Modules that the program loads by itself: PTX, a fat binary, or a file of either.

#include "wrapper/runtime/modules.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <fstream>
#include <iterator>

using namespace ptxasw::wrapper;

namespace {

cudaError_t load(cudaLibrary_t *library, std::unique_ptr<LoadedModule> module) {
  if (const cudaError_t error = module->load(); error != cudaSuccess)
    return error;
  *library = module->handle = new CUlib_st{module.get()};
  Registry::get().modules.push_back(std::move(module));
  return cudaSuccess;
}

/// The names of a library's kernels.
std::vector<std::string> kernels_of(const CUlib_st &library) {
  std::vector<std::string> names;
  for (const Function &function : library.module->module().functions)
    if (function.is_entry && function.has_body)
      names.emplace_back(function.name);
  return names;
}

} // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, cudaJitOption *, void **,
                                unsigned, cudaLibraryOption *, void **, unsigned) {
  return device().call([&] {
    if (!library || !code)
      return cudaErrorInvalidValue;
    for (const auto &images : {read_fat_wrapper(code), read_fat_memory(code)})
      if (images && !images->empty())
        return load(library, std::make_unique<LoadedModule>(*images));
    if (std::memcmp(code,
                    "\x7f"
                    "ELF",
                    4) == 0) {
      say(fmt::format("the program loads machine code; what runs here is PTX (NVRTC makes it for "
                      "--gpu-architecture=compute_{})",
                      device().sm()));
      return cudaErrorNoKernelImageForDevice;
    }
    return load(library, std::make_unique<LoadedModule>(static_cast<const char *>(code)));
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *name, cudaJitOption *,
                                    void **, unsigned, cudaLibraryOption *, void **, unsigned) {
  return device().call([&] {
    if (!library || !name)
      return cudaErrorInvalidValue;
    std::ifstream file(name, std::ios::binary);
    if (!file)
      return cudaErrorFileNotFound;
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    if (!is_fat_file(bytes))
      return load(library, std::make_unique<LoadedModule>(std::move(bytes)));
    const auto images = read_fat_file(bytes);
    if (!images)
      return cudaErrorInvalidKernelImage;
    return load(library, std::make_unique<LoadedModule>(*images));
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return device().call([&] {
    if (!library)
      return cudaErrorInvalidValue;
    std::erase_if(Registry::get().modules,
                  [&](const auto &module) { return module.get() == library->module; });
    delete library;
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name) {
  return device().call([&] {
    if (!kernel || !library || !name)
      return cudaErrorInvalidValue;
    if (!library->module->program().find_kernel(name) || !*name)
      return cudaErrorSymbolNotFound;
    *kernel = library->module->kernel(name);
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library) {
  return device().call([&] {
    return count && library
               ? (*count = static_cast<unsigned>(kernels_of(*library).size()), cudaSuccess)
               : cudaErrorInvalidValue;
  });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned count,
                                        cudaLibrary_t library) {
  return device().call([&] {
    if (!kernels || !library)
      return cudaErrorInvalidValue;
    for (const std::string &name : kernels_of(*library))
      if (count > 0)
        --count, *kernels++ = library->module->kernel(name);
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetGlobal(void **address, std::size_t *bytes, cudaLibrary_t library,
                                 const char *name) {
  return device().call([&] {
    const auto *place = library && name ? library->module->find(name) : nullptr;
    if (!place)
      return library && name ? cudaErrorSymbolNotFound : cudaErrorInvalidValue;
    if (address)
      *address = place->address;
    if (bytes)
      *bytes = place->size;
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetManaged(void **address, std::size_t *bytes, cudaLibrary_t library,
                                  const char *name) {
  return cudaLibraryGetGlobal(address, bytes, library, name);
}

} // extern "C"
