#pragma once

// Execution of `wgmma` (PTX ISA 9.7.15), and the matrices in shared memory that `tcgen05` reads,
// too.

#include "emulator/machine/group_product.h"
#include "emulator/machine/memory_view.h"

namespace ptxasw::emulator {

/// wgmma, by all lanes of a warp; fewer are a fault.
void execute_group_product(WarpContext &context, MemoryView &memory, LaneMask group);
/// False if a wgmma.wait_group has to wait until other warps of its group have issued the products
/// that it is about. One that has exited without doing so is a fault.
bool can_wait_for_products(const WarpContext &context);
/// The last warp of a block has ended: a fault if the four warps of a group have not executed the
/// same products.
void check_group_products(const WarpContext &context);

/// What `tcgen05` and `wgmma` read of a matrix in shared memory: element (row, k) at row * columns
/// + k, rows from `first` on. The accesses count as a lane's.
std::vector<MatrixElement> read_shared_matrix(const WarpContext &context, MemoryView &memory,
                                              unsigned lane, const SharedMatrix &matrix,
                                              MatrixType type, unsigned first, unsigned rows,
                                              unsigned columns);

} // namespace ptxasw::emulator
