#include "grammar/diagnostic.h"

#include <fmt/core.h>

namespace ptxasw {

std::string format(const Diagnostic &diagnostic) {
  // Tabs stay tabs under tabs, so that the caret lands where the eye expects it.
  std::string padding;
  for (std::size_t i = 0; i + 1 < diagnostic.column && i < diagnostic.source_line.size(); ++i)
    padding += diagnostic.source_line[i] == '\t' ? '\t' : ' ';
  return fmt::format("{}:{}:{}: error: {}\n  {}\n  {}^\n", diagnostic.file, diagnostic.line,
                     diagnostic.column, diagnostic.message, diagnostic.source_line, padding);
}

} // namespace ptxasw
