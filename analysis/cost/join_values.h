#pragma once

// The conditions under which a register has one or the other value behind a branch. With them the
// cost model can say in numbers what an address is in each lane, where the emulator has only a
// symbol.

#include "emulator/symbolic/emulate.h"

namespace ptxasw::analysis::cost {

/// What a register holds where flows meet, written out with the conditions that decide by which
/// edge a lane comes there; of a loop that was left, its symbols stand for the last iteration. Null
/// if the symbol is no such register, or if that is not understood.
Expr value_at_join(Emulation &emulation, Expr symbol);

} // namespace ptxasw::analysis::cost
