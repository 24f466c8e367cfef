#include "runner/driver.h"

#include <dlfcn.h>

// The few functions of the CUDA driver API that the runner calls, declared here so that it builds
// without a toolkit and starts without a driver. Signatures follow the CUDA driver API reference.

namespace kernelgen {
namespace {

using Result = int;

/// The functions, in a table that open_driver() fills.
struct Api {
  Result (*cuInit)(unsigned);
  Result (*cuGetErrorString)(Result, const char **);
  Result (*cuDriverGetVersion)(int *);
  Result (*cuDeviceGet)(int *, int);
  Result (*cuDeviceGetCount)(int *);
  Result (*cuDeviceGetName)(char *, int, int);
  Result (*cuDeviceGetAttribute)(int *, int, int);
  Result (*cuDeviceTotalMem_v2)(std::size_t *, int);
  Result (*cuDevicePrimaryCtxRetain)(Handle *, int);
  Result (*cuCtxSetCurrent)(Handle);
  Result (*cuCtxSynchronize)();
  Result (*cuMemGetInfo_v2)(std::size_t *, std::size_t *);
  Result (*cuMemAlloc_v2)(DevicePointer *, std::size_t);
  Result (*cuMemFree_v2)(DevicePointer);
  Result (*cuMemcpyDtoH_v2)(void *, DevicePointer, std::size_t);
  Result (*cuMemcpyHtoD_v2)(DevicePointer, const void *, std::size_t);
  Result (*cuMemcpyDtoD_v2)(DevicePointer, DevicePointer, std::size_t);
  Result (*cuModuleLoadData)(Handle *, const void *);
  Result (*cuModuleUnload)(Handle);
  Result (*cuModuleGetFunction)(Handle *, Handle, const char *);
  Result (*cuFuncGetAttribute)(int *, int, Handle);
  Result (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int *, Handle, int, std::size_t);
  Result (*cuLaunchKernel)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned, Handle, void **, void **);
  Result (*cuEventCreate)(Handle *, unsigned);
  Result (*cuEventRecord)(Handle, Handle);
  Result (*cuEventSynchronize)(Handle);
  Result (*cuEventElapsedTime)(float *, Handle, Handle);
};

Api api;

template <class Function> void resolve(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function)
    throw NoDevice(std::string("the CUDA driver has no ") + name);
}

void open_driver() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library)
    throw NoDevice("no CUDA driver (libcuda.so.1) on this machine");
#define RESOLVE(name) resolve(library, #name, api.name)
  RESOLVE(cuInit);
  RESOLVE(cuGetErrorString);
  RESOLVE(cuDriverGetVersion);
  RESOLVE(cuDeviceGet);
  RESOLVE(cuDeviceGetCount);
  RESOLVE(cuDeviceGetName);
  RESOLVE(cuDeviceGetAttribute);
  RESOLVE(cuDeviceTotalMem_v2);
  RESOLVE(cuDevicePrimaryCtxRetain);
  RESOLVE(cuCtxSetCurrent);
  RESOLVE(cuCtxSynchronize);
  RESOLVE(cuMemGetInfo_v2);
  RESOLVE(cuMemAlloc_v2);
  RESOLVE(cuMemFree_v2);
  RESOLVE(cuMemcpyDtoH_v2);
  RESOLVE(cuMemcpyHtoD_v2);
  RESOLVE(cuMemcpyDtoD_v2);
  RESOLVE(cuModuleLoadData);
  RESOLVE(cuModuleUnload);
  RESOLVE(cuModuleGetFunction);
  RESOLVE(cuFuncGetAttribute);
  RESOLVE(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  RESOLVE(cuLaunchKernel);
  RESOLVE(cuEventCreate);
  RESOLVE(cuEventRecord);
  RESOLVE(cuEventSynchronize);
  RESOLVE(cuEventElapsedTime);
#undef RESOLVE
}

void check(Result result, const char *call) {
  if (result == 0)
    return;
  const char *text = nullptr;
  api.cuGetErrorString(result, &text);
  throw DriverError(std::string(call) + ": " + (text ? text : "unknown error"));
}

// Numbers of CUdevice_attribute and CUfunction_attribute.
enum DeviceAttribute {
  clock_rate = 13,
  multiprocessor_count = 16,
  memory_clock_rate = 36,
  global_memory_bus_width = 37,
  l2_cache_size = 38,
  max_threads_per_multiprocessor = 39,
  compute_capability_major = 75,
  compute_capability_minor = 76,
};
enum FunctionAttribute { max_threads_per_block = 0, local_size_bytes = 3, num_regs = 4 };

} // namespace

int Driver::attribute(int device, int number) {
  int value = 0;
  check(api.cuDeviceGetAttribute(&value, number, device), "cuDeviceGetAttribute");
  return value;
}

Driver::Driver(int ordinal) {
  open_driver();
  if (api.cuInit(0) != 0)
    throw NoDevice("the CUDA driver finds no device");
  int count = 0, device = 0;
  check(api.cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (ordinal >= count)
    throw NoDevice("there is no CUDA device " + std::to_string(ordinal));
  check(api.cuDeviceGet(&device, ordinal), "cuDeviceGet");
  Handle context = nullptr;
  check(api.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(api.cuCtxSetCurrent(context), "cuCtxSetCurrent");

  char name[256] = {};
  check(api.cuDeviceGetName(name, sizeof name - 1, device), "cuDeviceGetName");
  facts_.name = name;
  facts_.major = attribute(device, compute_capability_major);
  facts_.minor = attribute(device, compute_capability_minor);
  facts_.multiprocessors = attribute(device, multiprocessor_count);
  facts_.threads_per_multiprocessor = attribute(device, max_threads_per_multiprocessor);
  facts_.clock_khz = attribute(device, clock_rate);
  facts_.memory_clock_khz = attribute(device, memory_clock_rate);
  facts_.bus_bits = attribute(device, global_memory_bus_width);
  facts_.l2_bytes = static_cast<std::size_t>(attribute(device, l2_cache_size));
  check(api.cuDeviceTotalMem_v2(&facts_.memory_bytes, device), "cuDeviceTotalMem");
  check(api.cuDriverGetVersion(&facts_.driver_version), "cuDriverGetVersion");
}

std::size_t Driver::free_memory() {
  std::size_t free = 0, total = 0;
  check(api.cuMemGetInfo_v2(&free, &total), "cuMemGetInfo");
  return free;
}

DevicePointer Driver::allocate(std::size_t bytes) {
  DevicePointer memory = 0;
  check(api.cuMemAlloc_v2(&memory, bytes), "cuMemAlloc");
  return memory;
}

void Driver::release(DevicePointer memory) { check(api.cuMemFree_v2(memory), "cuMemFree"); }

void Driver::copy_to_host(void *to, DevicePointer from, std::size_t bytes) {
  check(api.cuMemcpyDtoH_v2(to, from, bytes), "cuMemcpyDtoH");
}

void Driver::copy_to_device(DevicePointer to, const void *from, std::size_t bytes) {
  check(api.cuMemcpyHtoD_v2(to, from, bytes), "cuMemcpyHtoD");
}

void Driver::copy_on_device(DevicePointer to, DevicePointer from, std::size_t bytes) {
  check(api.cuMemcpyDtoD_v2(to, from, bytes), "cuMemcpyDtoD");
}

Handle Driver::load(const std::string &image) {
  Handle module = nullptr;
  check(api.cuModuleLoadData(&module, image.data()), "cuModuleLoadData");
  return module;
}

void Driver::unload(Handle module) { check(api.cuModuleUnload(module), "cuModuleUnload"); }

Handle Driver::function(Handle module, const std::string &name) {
  Handle function = nullptr;
  check(api.cuModuleGetFunction(&function, module, name.c_str()), "cuModuleGetFunction");
  return function;
}

FunctionFacts Driver::function_facts(Handle function, unsigned block_threads) {
  FunctionFacts facts;
  const auto get = [&](int &value, int number) {
    check(api.cuFuncGetAttribute(&value, number, function), "cuFuncGetAttribute");
  };
  get(facts.registers, num_regs);
  get(facts.local_bytes, local_size_bytes);
  get(facts.max_threads, max_threads_per_block);
  check(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&facts.blocks_per_multiprocessor, function,
                                                        static_cast<int>(block_threads), 0),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return facts;
}

void Driver::launch(Handle function, const Launch &at, std::vector<void *> &arguments) {
  check(api.cuLaunchKernel(function, at.grid[0], at.grid[1], at.grid[2], at.block[0], at.block[1],
                           at.block[2], 0, nullptr, arguments.data(), nullptr),
        "cuLaunchKernel");
}

void Driver::synchronize() { check(api.cuCtxSynchronize(), "cuCtxSynchronize"); }

Handle Driver::create_event() {
  Handle event = nullptr;
  check(api.cuEventCreate(&event, 0), "cuEventCreate");
  return event;
}

void Driver::record(Handle event) { check(api.cuEventRecord(event, nullptr), "cuEventRecord"); }

double Driver::elapsed(Handle start, Handle end) {
  float milliseconds = 0;
  check(api.cuEventSynchronize(end), "cuEventSynchronize");
  check(api.cuEventElapsedTime(&milliseconds, start, end), "cuEventElapsedTime");
  return milliseconds;
}

} // namespace kernelgen
