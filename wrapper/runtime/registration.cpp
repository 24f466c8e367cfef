// What the code calls that nvcc writes around kernels: their names are documented by the headers
// that nvcc compiles into every program (crt/host_runtime.h).

#include "wrapper/runtime/launch.h"
#include "wrapper/runtime/modules.h"
#include "wrapper/runtime/toolkit.h"

#include <fmt/core.h>
#include <vector>

using namespace ptxasw::wrapper;

namespace {

struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};

std::vector<Configuration> &configurations() {
  thread_local std::vector<Configuration> stack;
  return stack;
}

LoadedModule *module_of(void **handle) { return reinterpret_cast<LoadedModule *>(handle); }

void register_variable(void **handle, const void *host, const char *name, void **managed) {
  Registry::get().variables[host] = {module_of(handle), name, managed};
}

} // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): nvcc calls them so
extern "C" {

void **__cudaRegisterFatBinary(void *wrapper) {
  auto images = read_fat_wrapper(wrapper);
  if (!images)
    say(fmt::format("a fat binary of the program is not understood: {}", images.error()));
  if (images)
    note_program(*images);
  auto &modules = Registry::get().modules;
  modules.push_back(
      std::make_unique<LoadedModule>(images ? std::move(*images) : std::vector<FatImage>()));
  return reinterpret_cast<void **>(modules.back().get());
}

void __cudaRegisterFatBinaryEnd(void **) {}
/// At the program's end: what is still wanted of it then stays.
void __cudaUnregisterFatBinary(void **) {}

void __cudaRegisterFunction(void **handle, const char *host, char *, const char *name, int, uint3 *,
                            uint3 *, dim3 *, dim3 *, int *) {
  Registry::get().kernels[host] = module_of(handle)->kernel(name);
}

void __cudaRegisterVar(void **handle, char *host, char *, const char *name, int, std::size_t, int,
                       int) {
  register_variable(handle, host, name, nullptr);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *, const char *name, int,
                              std::size_t, int, int) {
  register_variable(handle, host, name, host);
}

void __cudaRegisterHostVar(void **handle, const char *name, char *host, std::size_t) {
  register_variable(handle, host, name, nullptr);
}

void __cudaRegisterUnifiedTable(void **, const void *) {}

char __cudaInitModule(void **handle) {
  device().call([&] { return module_of(handle)->load(); });
  return 1;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                     CUstream_st *stream) {
  configurations().push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, std::size_t *shared, void *stream) {
  if (configurations().empty())
    return cudaErrorMissingConfiguration;
  const Configuration top = configurations().back();
  configurations().pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t *>(stream) = top.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
  return cudaGetKernel(kernel, function);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               std::size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                    std::size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

} // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
