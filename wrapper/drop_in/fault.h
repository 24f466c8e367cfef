#pragma once

#include <string_view>

namespace ptxasw::inline wrapper {

/// Does what the setting `inject-fault` names, at the place where the rewrite would run: `throw`,
/// `memory`, `abort`, `crash` or `overflow`. Returns for any other name.
void inject_fault(std::string_view fault);

} // namespace ptxasw::wrapper
