#pragma once

// What `ptxasw status` asks of an overlay, a directory that stands in for the toolkit's (`ptxasw
// overlay`; overlay.cpp says how).

#include "grammar/namespaces.h"

#include <string>

namespace ptxasw::wrapper {

/// The state of an overlay in words: "healthy", or what is wrong with it.
std::string overlay_state(const std::string &directory);

} // namespace ptxasw::wrapper
