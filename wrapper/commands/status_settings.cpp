// Every setting from the one table, so that this list cannot miss one.

#include "wrapper/commands/status_parts.h"

#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

std::string origin_of(const Settings &settings, std::size_t index) {
  switch (settings.origin(index)) {
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

void print_settings(const Settings &settings) {
  for (std::size_t i = 0; i < setting_table().size(); ++i) {
    const SettingSpec &spec = setting_table()[i];
    const std::string value = spec.get(settings);
    fmt::print("{:<13} {:<24} {}\n", spec.name, value.empty() ? "-" : value,
               origin_of(settings, i));
  }
}

} // namespace ptxasw::wrapper
