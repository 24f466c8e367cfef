#pragma once

// Tells launches that a search can find from those in which an index would have to wrap around.
// verify() need not try the latter; it reports them.

#include "emulator/symbolic/emulate.h"

#include <vector>

namespace ptxasw::emulator {

/// What holds where all of `conditions` do, unless a 32-bit sum or product that they compare wraps
/// around: comparisons of the sums themselves, which are then whole numbers of any size. If these
/// formulas (width 1) cannot hold together, the conditions hold only where something wraps around.
std::vector<Expr> as_unbounded(ExprPool &pool, const std::vector<PathFact> &conditions);

} // namespace ptxasw::emulator
