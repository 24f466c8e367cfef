#pragma once

#include "reference/problem.h"
#include "runner/workload.h"

namespace kernelgen {

/// What a kernel must compute at one size: the results of the host reference in double.
class Expected {
public:
  /// Runs the reference; throws std::runtime_error if the kernel has none.
  Expected(const Kernel &kernel, const Extents &extents);

  /// The largest difference between a compiled variant's results and the reference, over the
  /// largest magnitude of the reference, all written buffers together. Points that only one of the
  /// two writes count as infinitely different.
  double error(Driver &driver, Tools &tools, Handle function, const Launch &launch) const;

private:
  const Kernel &kernel_;
  Extents extents_;
  Problem problem_;
};

} // namespace kernelgen
