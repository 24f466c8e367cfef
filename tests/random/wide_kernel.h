#pragma once

#include "grammar/namespaces.h"
#include "random_kernel.h"

namespace ptxasw::test {

/// A small valid kernel whose threads are numbered along x and mostly do neighbouring elements:
/// streams, stencils, several elements of a thread, rows, loops over the grid or over a row, every
/// width of element, indices that wrap around, accesses under conditions. Each thread stores to
/// elements of its own. With `with_loops` each has loops over the grid, along up to three axes. The
/// same seed gives the same kernel.
RandomKernel random_wide_kernel(std::uint64_t seed, bool with_loops = false);

/// The module around such a body.
std::string wide_module_text(const Piece &body);

} // namespace ptxasw::test
