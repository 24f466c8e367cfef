#pragma once

// A faster way to execute the most common instructions: 32 lanes by one call of a function.

#include "emulator/machine/warp_program.h"

namespace ptxasw::emulator {

/// The function that computes what the instruction tables say, for the most common instructions in
/// their plain form: registers of exactly the operands' widths, or numbers that are cut to them,
/// one result, no rounding except to nearest. Null for all others. The tables remain the
/// definition; tests/warp checks these functions against them.
FastFunction find_fast(const WarpInstruction &instruction);

} // namespace ptxasw::emulator
