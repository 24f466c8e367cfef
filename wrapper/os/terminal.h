#pragma once

#include <string_view>

namespace ptxasw::inline wrapper {

/// Whether what goes to a descriptor is coloured. `choice`: `always`, `never`, or `auto`: on a
/// terminal that is not `dumb`, unless NO_COLOR is set (no-color.org).
bool wants_colour(std::string_view choice, int descriptor);

} // namespace ptxasw::wrapper
