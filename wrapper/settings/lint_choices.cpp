// Which warnings are on, by the last word that names them.

#include "wrapper/settings/lint_choices.h"

#include "wrapper/settings/suggest.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <fmt/core.h>

namespace ptxasw::wrapper {

std::array<bool, lint::code_count> LintChoices::by_default() {
  std::array<bool, lint::code_count> result{};
  for (const lint::CodeInfo &info : lint::codes())
    result[static_cast<std::size_t>(info.code)] = info.on;
  return result;
}

bool LintChoices::warn(std::string_view word) {
  if (word == "all" || word == "none") {
    for (const lint::CodeInfo &info : lint::codes()) {
      on[static_cast<std::size_t>(info.code)] = word == "all" && !info.by_name;
      named[static_cast<std::size_t>(info.code)] = true;
    }
    toolkit = word == "all";
    silenced.clear();
    return true;
  }
  if (word == "error")
    return error_on("all");
  if (word.starts_with("error="))
    return error_on(word.substr(std::string_view("error=").size()));
  const bool off = word.starts_with("no-");
  if (off)
    word.remove_prefix(3);
  if (word == "pedantic") {
    toolkit = !off;
    for (const lint::CodeInfo &info : lint::codes())
      if (const auto i = static_cast<std::size_t>(info.code); !info.on && !info.by_name) {
        on[i] = !off;
        named[i] = true;
      }
    return true;
  }
  const std::size_t colon = std::min(word.find(':'), word.size());
  const auto code = lint::code_of(word.substr(0, colon));
  if (!code || (colon != word.size() && (!off || colon + 1 == word.size())))
    return false;
  named[static_cast<std::size_t>(*code)] = true;
  if (colon == word.size())
    on[static_cast<std::size_t>(*code)] = !off;
  else
    silenced.push_back({*code, std::string(word.substr(colon + 1))});
  return true;
}

bool LintChoices::error_on(std::string_view word) {
  if (word == "all") { // those that are on
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

bool LintChoices::allow(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos || colon + 1 == word.size() ||
      !lint::code_of(word.substr(0, colon)))
    return false;
  allowed_files.push_back(
      {std::string(word.substr(0, colon)), std::string(word.substr(colon + 1))});
  return true;
}

bool LintChoices::at(std::string_view word) {
  return !read_point({std::string(word)}, point) &&
         (!point.block || check_launch_shape({}, *point.block).has_value());
}

bool LintChoices::is_gate() const {
  return !baseline.empty() || std::find(error.begin(), error.end(), true) != error.end();
}

bool LintChoices::is_silenced(lint::Code code, std::string_view kernel,
                              bool (*is_called)(std::string_view, std::string_view)) const {
  return !on[static_cast<std::size_t>(code)] ||
         std::any_of(silenced.begin(), silenced.end(), [&](const Silence &silence) {
           return silence.code == code && is_called(kernel, silence.kernel);
         });
}

bool LintChoices::is_hidden(lint::Code code) const {
  return !lint::info(code).on && !named[static_cast<std::size_t>(code)];
}

std::string no_such_warning(std::string_view word) {
  std::string prefix;
  for (const std::string_view start : {"no-", "error="})
    if (word.starts_with(start)) {
      prefix = start;
      word.remove_prefix(start.size());
      break;
    }
  word = word.substr(0, word.find(':'));
  std::vector<std::string_view> names{"pedantic", "all", "none", "error"};
  for (const lint::CodeInfo &info : lint::codes())
    names.push_back(info.name);
  const std::string_view near = nearest(word, names);
  return fmt::format("there is no warning `{}`{} `ptxasw lint --list-codes` lists them", word,
                     near.empty() ? ";" : fmt::format("; did you mean `{}{}`?", prefix, near));
}

} // namespace ptxasw::wrapper
