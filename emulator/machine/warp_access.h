#pragma once

// Instructions that access memory, for the lanes of a mask (PTX ISA 9.7.9, 9.7.13). What an access
// may touch, and what of it is noted, is memory_view.h's.

#include "emulator/machine/memory_view.h"

namespace ptxasw::emulator {

void execute_load(WarpContext &context, MemoryView &memory, LaneMask mask);
void execute_store(WarpContext &context, MemoryView &memory, LaneMask mask);
/// atom and red.
void execute_atomic(WarpContext &context, MemoryView &memory, LaneMask mask);
/// What an atomic operation writes, from what it read; `c` is compare_and_swap's (PTX
/// ISA 9.7.13.5).
std::uint64_t atomic_result(AtomicOperation operation, ScalarType type, FloatMode mode,
                            std::uint64_t old, std::uint64_t b, std::uint64_t c, bool shared);
/// isspacep.
void execute_is_space(WarpContext &context, MemoryView &memory, LaneMask mask);

} // namespace ptxasw::emulator
