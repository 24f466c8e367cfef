#pragma once

// An error in a PTX file, and how people are told of it. parse() and the rewriter return one:
// `fmt::print(stderr, "{}", format(module.error()));`

#include "grammar/namespaces.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace ptxasw::ptx {

/// An error at a place in a text.
struct Diagnostic {
  std::string file;
  std::uint32_t line = 0;   ///< 1-based
  std::uint32_t column = 0; ///< 1-based, in bytes
  std::string message;
  std::string source_line; ///< the text of that line, without its end
};

/// `file:line:column: error: message`, then the line and a caret under the column. Non-text bytes
/// appear as `\x7f`; of a long line only the part around the column is shown.
std::string format(const Diagnostic &diagnostic);

} // namespace ptxasw::ptx
