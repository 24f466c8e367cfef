#pragma once

// Finds the loops by which programs write atomics that PTX lacks, such as the minimum of f32. To
// independence() such a loop is one reduction; exchange_loops.cpp says why that is right.

#include "grammar/cfg.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ptxasw::analysis {

/// A loop that brings a location to the least, the greatest or the sum of what it holds and a value
/// by compare-and-swap:
///
///     again: new = min(old, value); found = cas(place, old, new);
///            unequal = found != old; old = found; if (unequal) goto again;
///
/// However often it goes round, each thread that comes by does so once, and nothing else of it
/// shows: it is `red.min`, of types for which there is none. Or one that brings a location of whole
/// numbers to the least or greatest, and is over once there is nothing to do:
///
///            old = load(place); if (!(value < old)) goto end;
///     again: old = cas(place, old, value); if (value < old) goto again;
///     end:
///
///            old = load(place);
///     again: if (!(value < old)) goto end;
///            found = cas(place, old, value);
///            unequal = found != old; old = found; if (unequal) goto again;
///     end:
struct ExchangeLoop {
  std::uint32_t exchange = 0;         ///< the `atom.cas`, index in Function::instructions
  std::uint32_t branch = 0;           ///< that goes round again
  std::uint32_t entry = no_index;     ///< the branch that leaves it when nothing is to do
  Operand value;                      ///< register or constant that the loop does not change
  std::string_view operation;         ///< min.f32: `.min`, `.max` or `.add`
  ScalarType type = ScalarType::none; ///< of the operation
};

/// Returns true if an atomic only reads: it leaves what is there, be it what it may, as
/// `atomicCAS(p, 0, 0)` and `atomicAdd(p, 0)` of whole numbers do.
bool reads_by_atomic(const Module &module, const Instruction &instruction);

/// All of a kernel whose control flow is well-formed.
std::vector<ExchangeLoop> exchange_loops(const Module &module, const Function &kernel,
                                         const ControlFlowGraph &cfg);

} // namespace ptxasw::analysis
