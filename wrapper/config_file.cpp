#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include "wrapper/config_file.h"

#include "wrapper/files.h"

#include <fmt/core.h>
#include <toml++/toml.h>

namespace ptxasw {
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

tl::expected<void, std::string> apply_config_file(Settings &settings, const std::string &path) {
  const auto text = read_regular_file(path);
  if (!text)
    return tl::unexpected(fmt::format("cannot read `{}`", path));
  const toml::parse_result parsed = toml::parse(*text, path);
  if (!parsed)
    return tl::unexpected(fmt::format("{}:{}: {}", path, parsed.error().source().begin.line,
                                      parsed.error().description()));
  settings.config_file = path;
  for (const auto &[key, node] : parsed.table()) {
    const auto line = node.source().begin.line;
    const auto value = spelling(node);
    if (!value)
      return tl::unexpected(
          fmt::format("{}:{}: `{}` must be text, a number, true, false or a list of these", path,
                      line, key.str()));
    const auto applied = apply_setting(settings, key.str(), *value, Origin::file, key.str());
    if (!applied)
      return tl::unexpected(fmt::format("{}:{}: {}", path, line, applied.error()));
  }
  return {};
}

} // namespace ptxasw
