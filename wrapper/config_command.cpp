#include "wrapper/commands.h"

#include <fmt/core.h>

namespace ptxasw {
namespace {

std::string origin_of(const Settings &settings, std::size_t index) {
  switch (settings.origins[index]) {
  case Origin::user_file:
    return settings.user_file;
  case Origin::project_file:
    return settings.project_file;
  case Origin::environment:
    return "environment " + environment_name(setting_table()[index]);
  case Origin::flag:
    return "flag";
  case Origin::built_in:
    break;
  }
  return "built in";
}

} // namespace

int config_command(const Settings &settings, bool markdown) {
  if (markdown) {
    const Settings defaults;
    fmt::print("| flag | environment | key in ptxasw.toml | values | default | what it does |\n"
               "|---|---|---|---|---|---|\n");
    for (const SettingSpec &spec : setting_table()) {
      std::string values(spec.values);
      for (std::size_t at = 0; (at = values.find('|', at)) != std::string::npos; at += 2)
        values.insert(at, 1, '\\'); // or it would end the column
      const std::string value = spec.get(defaults);
      fmt::print("| `--ptxasw-{}` | `{}` | `{}` | `{}` | {} | {} |\n", spec.name,
                 environment_name(spec), spec.name, values,
                 value.empty() ? "" : fmt::format("`{}`", value), spec.meaning);
    }
    return 0;
  }
  for (std::size_t i = 0; i < setting_count; ++i) {
    const SettingSpec &spec = setting_table()[i];
    const std::string value = spec.get(settings);
    fmt::print("{:<13} {:<24} {}\n", spec.name, value.empty() ? "-" : value,
               origin_of(settings, i));
  }
  return 0;
}

} // namespace ptxasw
