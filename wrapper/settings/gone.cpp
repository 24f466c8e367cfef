// One line for each; docs/internals/tried.md has what was measured.

#include "wrapper/settings/gone.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

struct Gone {
  std::string_view name;
  std::string_view value; ///< empty: the setting itself is gone
};

constexpr Gone all_gone[] = {
    {"halo", ""},        {"shared", ""},    {"cache", "evict-last"}, {"cache", "no-allocate"},
    {"cache", "l2-128"}, {"cache", "hints"}};

std::string told(std::string_view word) {
  return fmt::format("`{}` is gone: it did not pay (docs/internals/tried.md)", word);
}

bool is_comma(char c) { return c == ',' || c == '+'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What is written in the place of extents with commas; empty if there are none.
std::string with_x(std::string_view text) {
  std::string now(text);
  std::replace_if(now.begin(), now.end(), is_comma, 'x');
  return now == text ? "" : fmt::format("`{}` is written `{}` now", text, now);
}

} // namespace

std::string gone_setting(std::string_view name, std::string_view spelling) {
  for (const Gone &gone : all_gone)
    if (gone.name == name && gone.value.empty())
      return told(spelling);
  return "";
}

std::string former_extents(std::string_view words) {
  for (const std::string_view name : {"block=", "grid="}) {
    const std::size_t begin = words.find(name);
    if (begin == std::string_view::npos)
      continue;
    std::size_t end = begin + name.size(); // behind numbers and what parts them
    while (end < words.size() &&
           (is_digit(words[end]) ||
            (is_comma(words[end]) && end + 1 < words.size() && is_digit(words[end + 1]))))
      ++end;
    const bool is_name = end < words.size() && !is_comma(words[end]); // `3d=1`
    if (std::string text = with_x(words.substr(begin, end - begin)); !text.empty() && !is_name)
      return text;
  }
  return "";
}

std::string gone_value(std::string_view name, std::string_view value) {
  if (name == "lint-at")
    return former_extents(value);
  if (name == "assume-block")
    return with_x(value);
  while (!value.empty()) {
    const std::size_t end = std::min(value.find_first_of(",+"), value.size());
    for (const Gone &gone : all_gone)
      if (gone.name == name && gone.value == value.substr(0, end))
        return told(gone.value);
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return "";
}

} // namespace ptxasw::wrapper
