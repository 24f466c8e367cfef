// A ptxasw.toml: its keys are the names of settings, its values what the flag would take, so
// nothing here knows a setting by name.

#include "wrapper/settings/config_file.h"

#include "wrapper/launch/toml.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

/// A value as the flag would spell it: lists joined by commas. Nothing for tables and the like.
std::optional<std::string> spelling(const toml::node &node) {
  if (const auto *text = node.as_string())
    return text->get();
  if (const auto *number = node.as_integer())
    return std::to_string(number->get());
  if (const auto *yes = node.as_boolean())
    return std::string(yes->get() ? "true" : "false");
  const auto *list = node.as_array();
  if (!list)
    return std::nullopt;
  std::string joined;
  for (const toml::node &part : *list) {
    const auto *text = part.as_string();
    const auto *number = part.as_integer();
    if (!text && !number)
      return std::nullopt;
    joined += (joined.empty() ? "" : ",") + (text ? text->get() : std::to_string(number->get()));
  }
  return joined;
}

} // namespace

tl::expected<void, std::string> apply_config_file(Settings &settings, const ConfigFile &file,
                                                  Origin origin) {
  const std::string &path = file.path;
  const toml::parse_result parsed = toml::parse(file.text, path);
  if (!parsed)
    return tl::unexpected(fmt::format("{}:{}: {}", path, parsed.error().source().begin.line,
                                      parsed.error().description()));
  (origin == Origin::user_file ? settings.user_file : settings.project_file) = path;
  for (const auto &[name, node] : parsed.table()) {
    const std::string_view key = name.str();
    const auto line = node.source().begin.line;
    const auto value = spelling(node);
    if (!value)
      return tl::unexpected(fmt::format(
          "{}:{}: `{}` must be text, a number, true, false or a list of these", path, line, key));
    const auto spec = std::find_if(setting_table().begin(), setting_table().end(),
                                   [&](const SettingSpec &s) { return s.name == key; });
    if (origin == Origin::project_file && spec != setting_table().end() && !spec->in_project) {
      settings.ignored.push_back(
          fmt::format("{}:{}: `{}` is ignored: a project's file may not name programs or files; "
                      "your own (~/.config/ptxasw/ptxasw.toml), the environment and flags may",
                      path, line, key));
      continue;
    }
    const auto applied = apply_setting(settings, key, *value, origin, key);
    if (!applied)
      return tl::unexpected(fmt::format("{}:{}: {}", path, line, applied.error()));
  }
  return {};
}

} // namespace ptxasw::wrapper
