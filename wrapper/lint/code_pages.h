#pragma once

#include "analysis/lint/codes.h"

#include <string>

namespace ptxasw::inline wrapper {

/// What `ptxasw lint --explain CODE` prints: why it is slow, a kernel before and after, and what
/// that gained where it was measured (docs/lint-codes.md).
std::string code_page(lint::Code code);

/// One line for each code: its name, whether it is on, what it means.
std::string code_list();

} // namespace ptxasw::wrapper
