#pragma once

#include "emulator/warp_program.h"

namespace ptxasw {

/// The function that computes what the instruction tables say, for the commonest instructions in
/// their plain form: registers of exactly the operands' widths, one result, nothing rounded but to
/// nearest. Null for all others. The tables remain the definition; tests/warp holds these functions
/// to them.
FastFunction find_fast(const WarpInstruction &instruction);

} // namespace ptxasw
