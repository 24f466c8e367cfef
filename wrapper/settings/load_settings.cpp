// Where settings come from, later ones first: flags, environment, the project's file, the user's.

#include "wrapper/settings/load_settings.h"

#include "wrapper/settings/config_file.h"

#include <cstdlib>
#include <fmt/core.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

tl::expected<void, std::string> apply_flag(Settings &settings, const OwnOption &flag,
                                           std::string_view prefix) {
  const std::string spelling = std::string(prefix) + flag.name;
  if (flag.value)
    return apply_setting(settings, flag.name, *flag.value, Origin::flag, spelling);
  for (const SettingSpec &spec : setting_table())
    if (spec.name == flag.name && !spec.is_switch)
      return tl::unexpected(
          fmt::format("`{}` needs a value: `{}={}`", spelling, spelling, spec.values));
  return apply_setting(settings, flag.name, "true", Origin::flag, spelling);
}

} // namespace

tl::expected<Settings, std::string> load_settings(const std::vector<OwnOption> &flags,
                                                  std::string_view prefix) {
  Settings settings;
  if (const auto file = find_user_config(settings.ignored))
    if (const auto applied = apply_config_file(settings, *file, Origin::user_file); !applied)
      return tl::unexpected(applied.error());
  if (const auto file = find_project_config(settings.ignored);
      file && file->path != settings.user_file)
    if (const auto applied = apply_config_file(settings, *file, Origin::project_file); !applied)
      return tl::unexpected(applied.error());
  if (const auto applied = apply_environment(settings, environ); !applied)
    return tl::unexpected(applied.error());
  for (const OwnOption &flag : flags)
    if (const auto applied = apply_flag(settings, flag, prefix); !applied)
      return tl::unexpected(applied.error());
  return settings;
}

Settings load_what_is_right() {
  Settings settings;
  if (const auto file = find_user_config(settings.ignored))
    (void)apply_config_file(settings, *file, Origin::user_file);
  if (const auto file = find_project_config(settings.ignored);
      file && file->path != settings.user_file)
    (void)apply_config_file(settings, *file, Origin::project_file);
  for (const SettingSpec &spec : setting_table())
    if (const char *value = std::getenv(environment_name(spec).c_str()))
      (void)apply_setting(settings, spec.name, value, Origin::environment, spec.name);
  return settings;
}

} // namespace ptxasw::wrapper
