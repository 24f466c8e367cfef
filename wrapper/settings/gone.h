#pragma once

// What could be set once, was measured and did not pay, or is written otherwise now: who still asks
// for it is told so.

#include "grammar/namespaces.h"

#include <string>
#include <string_view>

namespace ptxasw::wrapper {

/// Why there is no setting of a name (lower case with dashes) any more; empty: there never was one.
/// `spelling` is how the user wrote the name.
std::string gone_setting(std::string_view name, std::string_view spelling);

/// The same for a value of a setting that there is. A list is gone if a part of it is. Shapes that
/// are cut at commas are written with an x now.
std::string gone_value(std::string_view name, std::string_view value);

/// What is wrong with `block=32,8`, or a grid, among words of a launch; empty if there is none.
std::string former_extents(std::string_view words);

} // namespace ptxasw::wrapper
