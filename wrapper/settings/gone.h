#pragma once

// What could be set once, was measured and did not pay: who still asks for it is told so.

#include <string>
#include <string_view>

namespace ptxasw::inline wrapper {

/// Why there is no setting of a name (lower case with dashes) any more; empty: there never was one.
/// `spelling` is how the user wrote the name.
std::string gone_setting(std::string_view name, std::string_view spelling);

/// The same for a value of a setting that there is. A list is gone if a part of it is.
std::string gone_value(std::string_view name, std::string_view value);

} // namespace ptxasw::wrapper
