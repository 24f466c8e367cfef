#pragma once

// Execution of the instructions that warp_matrix.h describes (PTX ISA 9.7.14).

#include "emulator/machine/memory_view.h"

namespace ptxasw::emulator {

/// mma, wmma, ldmatrix, stmatrix and movmatrix, by all lanes of a warp; fewer are a fault.
void execute_matrix(WarpContext &context, MemoryView &memory, LaneMask group);

} // namespace ptxasw::emulator
