#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace kernelgen {

/// No CUDA driver, or no device, on this machine.
struct NoDevice : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A call of the CUDA driver failed; the text names the call and the driver's reason.
struct DriverError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using DevicePointer = std::uint64_t; ///< an address in device memory
using Handle = void *;               ///< a module, function or event of the driver

/// What a report needs to know about the device.
struct DeviceFacts {
  std::string name;
  int major = 0, minor = 0; ///< compute capability
  int multiprocessors = 0;
  int threads_per_multiprocessor = 0;
  int clock_khz = 0, memory_clock_khz = 0, bus_bits = 0;
  std::size_t l2_bytes = 0, memory_bytes = 0;
  int driver_version = 0; ///< 1000 * major + 10 * minor
};

/// What the driver says about a loaded function.
struct FunctionFacts {
  int registers = 0;   ///< per thread
  int local_bytes = 0; ///< per thread: spills and local arrays
  int max_threads = 0; ///< per block
  int blocks_per_multiprocessor = 0;
};

/// A launch configuration.
struct Launch {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
};

/// The CUDA driver, opened at run time, and one device with its primary context. Every method
/// throws DriverError if the driver refuses.
class Driver {
public:
  /// Opens libcuda.so.1 and makes the device current; throws NoDevice if there is none.
  explicit Driver(int ordinal);

  const DeviceFacts &facts() const { return facts_; }
  std::size_t free_memory();

  DevicePointer allocate(std::size_t bytes);
  void release(DevicePointer memory);
  void copy_to_host(void *to, DevicePointer from, std::size_t bytes);
  void copy_to_device(DevicePointer to, const void *from, std::size_t bytes);
  void copy_on_device(DevicePointer to, DevicePointer from, std::size_t bytes);

  /// Loads a cubin from memory.
  Handle load(const std::string &image);
  void unload(Handle module);
  Handle function(Handle module, const std::string &name);
  FunctionFacts function_facts(Handle function, unsigned block_threads);

  void launch(Handle function, const Launch &launch, std::vector<void *> &arguments);
  void synchronize();

  Handle create_event();
  void record(Handle event);
  /// Waits for `end` and returns the milliseconds since `start`.
  double elapsed(Handle start, Handle end);

private:
  int attribute(int device, int number);

  DeviceFacts facts_;
};

} // namespace kernelgen
