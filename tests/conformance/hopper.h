#pragma once

#include "grammar/namespaces.h"
#include "suite.h"

namespace ptxasw::conformance {

/// What Hopper brought, for the target sm_90a: products of groups of four warps with matrices in
/// every layout, boxes of tensors to and from shared memory with every swizzle, bulk reductions,
/// and blocks of clusters among each other. Grids have a block for each kind of matrix that
/// tensor_suite() has.
Suite hopper_suite(const std::string &target);

} // namespace ptxasw::conformance
