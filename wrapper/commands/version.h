#pragma once

// Which ptxasw this is, and with which ptxas and Z3 it works: for `--version` and `ptxasw status`.

#include "grammar/namespaces.h"

#include <string>

namespace ptxasw::wrapper {

/// The number of the release, and the commit that was built: `0.1.0 (a040b0d2c1e3)`. Without the
/// commit where neither git nor an archive made by git records it.
std::string own_version();

/// The line of a ptxas' version text that has the number, or "says no version".
std::string ptxas_version(const std::string &path);

/// What `ptxasw --version` prints: ourselves, the real ptxas that would run and Z3, one line each.
/// Settings that cannot be understood are left out.
std::string version_text();

} // namespace ptxasw::wrapper
