#pragma once

#include "runner/workload.h"

namespace kernelgen {

/// The largest difference between a kernel's results on the device and the host reference in
/// double, over the largest magnitude of the reference, all written buffers together. Points that
/// only one of the two writes count as infinitely different. Throws std::runtime_error if the
/// kernel has no reference.
double reference_error(Driver &driver, Tools &tools, const Kernel &kernel, const Extents &extents,
                       Handle function, const Launch &launch);

} // namespace kernelgen
