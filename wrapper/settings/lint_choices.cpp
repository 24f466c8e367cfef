// Which warnings are on, by the last word that names them.

#include "wrapper/settings/lint_choices.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace ptxasw::inline wrapper {

std::array<bool, lint::code_count> LintChoices::by_default() {
  std::array<bool, lint::code_count> result{};
  for (const lint::CodeInfo &info : lint::codes())
    result[static_cast<std::size_t>(info.code)] = info.on;
  return result;
}

bool LintChoices::warn(std::string_view word) {
  if (word == "all" || word == "none") {
    on.fill(word == "all");
    silenced.clear();
    return true;
  }
  const bool off = word.starts_with("no-");
  if (off)
    word.remove_prefix(3);
  const std::size_t colon = std::min(word.find(':'), word.size());
  const auto code = lint::code_of(word.substr(0, colon));
  if (!code || (colon != word.size() && (!off || colon + 1 == word.size())))
    return false;
  if (colon == word.size())
    on[static_cast<std::size_t>(*code)] = !off;
  else
    silenced.push_back({*code, std::string(word.substr(colon + 1))});
  return true;
}

bool LintChoices::error_on(std::string_view word) {
  if (word == "all") {
    error.fill(true);
    return true;
  }
  const auto code = lint::code_of(word);
  if (code) // what is never looked for would never be an error
    error[static_cast<std::size_t>(*code)] = on[static_cast<std::size_t>(*code)] = true;
  return code.has_value();
}

bool LintChoices::assume(std::string_view word) {
  constexpr std::string_view name = "base-align=";
  if (!word.starts_with(name))
    return false;
  word.remove_prefix(name.size());
  unsigned bytes = 0;
  const auto [end, error_code] = std::from_chars(word.data(), word.data() + word.size(), bytes);
  if (error_code != std::errc() || end != word.data() + word.size() ||
      !std::has_single_bit(bytes) || bytes > 4096)
    return false;
  base_alignment = bytes;
  return true;
}

bool LintChoices::at(std::string_view word) {
  return !read_point({std::string(word)}, point) &&
         (!point.block || launch_shape_error({}, *point.block).empty());
}

bool LintChoices::is_gate() const {
  return !baseline.empty() || std::find(error.begin(), error.end(), true) != error.end();
}

bool LintChoices::is_silenced(lint::Code code, std::string_view kernel) const {
  return !on[static_cast<std::size_t>(code)] ||
         std::any_of(silenced.begin(), silenced.end(), [&](const Silence &silence) {
           return silence.code == code && silence.kernel == kernel;
         });
}

} // namespace ptxasw::wrapper
