#pragma once

// Whether the loads of a group find in the tile what they would have read, whoever decided how the
// threads share the work.

#include "synth/halo/sites.h"

#include <string>

namespace ptxasw::inline synth::halo {

/// What is wrong for a block of that shape, of all whose threads the bases lie in rows; empty:
/// every place of the tile that is read was written once, with the element that the load there
/// would have read.
std::string tile_fault(const Group &group, const Extents3 &block);

} // namespace ptxasw::synth::halo
