#pragma once

// Reads the files of options that `-optf` names.

#include "grammar/namespaces.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::wrapper {

/// Splits the text of a `-optf` file as ptxas does: words end at white space, double quotes keep
/// white space and vanish. Nothing if the text has an unclosed quote or a backslash, whose rules
/// are not documented: the caller then leaves the file to ptxas.
std::optional<std::vector<std::string>> split_options(std::string_view text);

} // namespace ptxasw::wrapper
