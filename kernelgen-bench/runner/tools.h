#pragma once

#include "runner/driver.h"
#include "runner/suite.h"

namespace kernelgen {

/// The device functions of tools.cu behind plain calls.
class Tools {
public:
  Tools(Driver &driver, const std::string &image);

  /// Fills `count` values with draw(fill, seed, index).
  void fill(DevicePointer values, std::size_t count, Fill fill, std::uint32_t seed);
  /// The number of 32-bit words in which two buffers differ.
  std::uint64_t compare(DevicePointer a, DevicePointer b, std::size_t count);
  /// Bytes read plus bytes written per second while copying `bytes` (twice that must be free), best
  /// of a few copies by a kernel and by the driver, in GB/s.
  double copy_bandwidth(std::size_t bytes);

private:
  void run(Handle function, std::vector<void *> arguments);

  Driver &driver_;
  Handle fill_, compare_, copy_;
  DevicePointer different_;
};

} // namespace kernelgen
