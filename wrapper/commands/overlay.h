#pragma once

#include "grammar/namespaces.h"

#include <string>

namespace ptxasw::wrapper {

/// The state of an overlay in words: "healthy", or what is wrong with it.
std::string overlay_state(const std::string &directory);

} // namespace ptxasw::wrapper
