#pragma once

#include <string>

namespace ptxasw::inline wrapper {

/// The state of an overlay in words: "healthy", or what is wrong with it.
std::string overlay_state(const std::string &directory);

} // namespace ptxasw::wrapper
