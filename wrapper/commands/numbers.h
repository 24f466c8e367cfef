#pragma once

// Words of the command line: parts between separators, and numbers.

#include "grammar/namespaces.h"

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ptxasw::wrapper {

inline std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Reads the whole text as a number, integers also in hexadecimal with 0x; false if it is none.
template <class Number> bool to_number(const std::string &text, Number &number) {
  const char *end = text.data() + text.size();
  std::from_chars_result read{};
  if constexpr (std::is_integral_v<Number>) {
    const bool is_hexadecimal = text.starts_with("0x");
    read = std::from_chars(text.data() + (is_hexadecimal ? 2 : 0), end, number,
                           is_hexadecimal ? 16 : 10);
  } else {
    read = std::from_chars(text.data(), end, number);
  }
  return !text.empty() && read.ec == std::errc() && read.ptr == end;
}

} // namespace ptxasw::wrapper
