#pragma once

// Makes questions to the solver small enough to be answered. Detection and proof ask them where the
// normal form does not show that two addresses are equal:
//   solver.check("equal addresses", ways_to_differ(pool, a, b, known)) == SolverAnswer::unsat

#include "emulator/symbolic/expr.h"

#include <span>
#include <utility>
#include <vector>

namespace ptxasw::synth {

/// Returns true if an expression has parts that the normal form does not see through and a solver
/// might.
bool has_bit_operations(Expr expr);

/// What to ask a solver about two expressions: formulas (width 1) that cannot hold together unless
/// the two may differ where `known` (width 1, each with its value) holds. That they can says
/// nothing: products of unknowns stand for anything there.
std::vector<Expr> ways_to_differ(ExprPool &pool, Expr a, Expr b,
                                 std::span<const std::pair<Expr, bool>> known);

} // namespace ptxasw::synth
