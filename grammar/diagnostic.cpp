// An error as people read it: file, line, column, the line itself and a caret. What a file holds is
// data: bytes that a terminal would obey are escaped, long lines are cut around the caret.

#include "grammar/diagnostic.h"

#include <algorithm>
#include <fmt/core.h>
#include <string_view>

namespace ptxasw::ptx {
namespace {

/// Of a long line, the part around the column is shown; this many bytes before and after it.
constexpr std::size_t before_column = 90, behind_column = 60;

/// True if a byte can go to a terminal: not a control character, and UTF-8 only as a whole (which
/// `is_utf8` says of the line).
bool is_printable(char c, bool is_utf8) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80 ? byte >= 0x20 && byte != 0x7f : is_utf8;
}

/// Also without the control characters above 0x7f.
bool is_valid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80                    ? 1
                               : lead >= 0xc2 && lead < 0xe0  ? 2
                               : lead >= 0xe0 && lead < 0xf0  ? 3
                               : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                              : 0;
    if (length == 0 || i + length > text.size())
      return false;
    if (lead == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0)
      return false; // control characters, too
    for (std::size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80)
        return false;
    i += length;
  }
  return true;
}

} // namespace

std::string format(const Diagnostic &diagnostic) {
  const std::string &line = diagnostic.source_line;
  const bool is_utf8 = is_valid_utf8(line);
  const std::size_t column =
      std::min<std::size_t>(diagnostic.column > 0 ? diagnostic.column - 1 : 0, line.size());
  const bool cut_front = column > before_column, cut_back = line.size() - column > behind_column;
  const std::size_t first = cut_front ? column - before_column : 0,
                    last = cut_back ? column + behind_column : line.size();
  std::string shown = cut_front ? "..." : "", padding = cut_front ? "   " : "";
  const bool whole_characters = is_utf8 && !cut_front && !cut_back;
  for (std::size_t i = first; i < last; ++i) {
    // Tabs stay tabs under tabs, so that the caret lands where the eye expects it.
    const bool as_is = line[i] == '\t' || is_printable(line[i], whole_characters);
    const std::string text = as_is ? std::string(1, line[i])
                                   : fmt::format("\\x{:02x}", static_cast<unsigned char>(line[i]));
    shown += text;
    const bool continues = as_is && (static_cast<unsigned char>(line[i]) & 0xc0) == 0x80;
    if (i < column && !continues)
      padding += line[i] == '\t' ? "\t" : std::string(text.size(), ' ');
  }
  return fmt::format("{}:{}:{}: error: {}\n  {}{}\n  {}^\n", diagnostic.file, diagnostic.line,
                     diagnostic.column, diagnostic.message, shown, cut_back ? "..." : "", padding);
}

} // namespace ptxasw::ptx
