#pragma once

// What there is to read about a warning's code. `ptxasw lint --explain` prints it, and SARIF files
// have it as help: `code_page(*code)`.

#include "analysis/lint/codes.h"

#include <string>

namespace ptxasw::wrapper {

/// What `ptxasw lint --explain CODE` prints, a page of docs/lint-codes: why it is slow, code
/// before and after, and what that gained where it was measured; and how to switch it on or off.
std::string code_page(lint::Code code);

/// Where that page can be read, as a URI.
std::string code_url(lint::Code code);

/// One line for each code: its name, whether it is on, what it means.
std::string code_list();

} // namespace ptxasw::wrapper
