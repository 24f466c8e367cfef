// One line for each; docs/internals/tried.md has what was measured.

#include "wrapper/settings/gone.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::inline wrapper {
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

} // namespace

std::string gone_setting(std::string_view name, std::string_view spelling) {
  for (const Gone &gone : all_gone)
    if (gone.name == name && gone.value.empty())
      return told(spelling);
  return "";
}

std::string gone_value(std::string_view name, std::string_view value) {
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
