#pragma once

// Makes a run as ptxas fail on purpose, so that tests see that the build goes on all the same.

#include "grammar/namespaces.h"

#include <string_view>

namespace ptxasw::wrapper {

/// Does what the setting `inject-fault` names, at the place where the rewrite would run: `throw`,
/// `memory`, `abort`, `crash` or `overflow`. Returns for any other name.
void inject_fault(std::string_view fault);

} // namespace ptxasw::wrapper
