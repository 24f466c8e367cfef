#pragma once

#include "runner/suite.h"
#include "runner/tools.h"
#include "suite/plan.h"

#include <memory>

namespace kernelgen {

/// The buffers of one kernel at one size on the device, and the argument list that names them.
class Workload {
public:
  /// Allocates and fills all buffers; throws DriverError if the memory does not suffice.
  Workload(Driver &driver, Tools &tools, const Kernel &kernel, const Extents &extents);
  ~Workload();
  Workload(const Workload &) = delete;
  Workload &operator=(const Workload &) = delete;

  /// Puts the buffers that the kernel writes back to what they were before any launch.
  void reset();
  /// Launches a compiled variant on these buffers.
  void launch(Handle function, const Launch &launch);
  /// The number of words in which the written buffers of two workloads differ.
  std::uint64_t compare(const Workload &other);

  /// The device address and the number of values of a buffer argument.
  DevicePointer buffer(std::size_t argument) const { return slots_[argument].memory; }
  std::size_t values(std::size_t argument) const { return slots_[argument].values; }

private:
  struct Slot {
    DevicePointer memory = 0;
    std::size_t values = 0;
    int integer = 0; ///< an extent or a stride
    float scalar = 0;
    LaunchPlan plan{};
  };
  void plan(const Launch &launch);
  void fill(std::size_t argument, bool only_written);

  Driver &driver_;
  Tools &tools_;
  const Kernel &kernel_;
  std::vector<Slot> slots_;
  std::vector<void *> arguments_;
};

/// The seed of a buffer argument: its position.
inline std::uint32_t seed_of(std::size_t argument) {
  return static_cast<std::uint32_t>(argument) + 1;
}

/// Bytes of all buffers of a kernel.
std::size_t bytes_allocated(const Kernel &kernel, const Extents &extents);

/// Bytes that any implementation must move between DRAM and the chip: every buffer once, twice if
/// it is read and written.
std::size_t bytes_compulsory(const Kernel &kernel, const Extents &extents);

/// A block of the given shape over as many blocks as give each point a thread (at most the 65535
/// blocks a grid may have in y and z: the kernels' loops do the rest). A kernel that is spread over
/// one axis gets a flat block of as many threads.
Launch launch_for(const Kernel &kernel, const Extents &extents, std::array<unsigned, 2> block);

} // namespace kernelgen
