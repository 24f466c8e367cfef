#pragma once

#include "reference/problem.h"

namespace kernelgen {

/// Both tricubic kernels: interpolates u0 at the offsets a, b, c of every point into u1.
void interpolate_tricubic(Problem &p);

} // namespace kernelgen
