// `ptxasw config`: every setting from the one table, so that neither this list nor the page made
// from it can miss one.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/cache_key.h"

#include <fmt/core.h>

namespace ptxasw::inline wrapper {
namespace {

/// What `ptxasw config` was asked.
struct ConfigRequest {
  bool markdown = false;  ///< the table of the documentation
  bool cache_key = false; ///< only the key
};

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

int run(const ConfigRequest &request, const Invocation &invocation) {
  const auto settings = invocation.settings();
  if (!settings)
    return complain(settings.error(), usage_error);
  if (request.cache_key) {
    const auto key = cache_key({});
    if (!key)
      return complain(key.error(), usage_error);
    fmt::print("{}\n", *key);
    return 0;
  }
  if (request.markdown) {
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
  for (std::size_t i = 0; i < setting_table().size(); ++i) {
    const SettingSpec &spec = setting_table()[i];
    const std::string value = spec.get(*settings);
    fmt::print("{:<13} {:<24} {}\n", spec.name, value.empty() ? "-" : value,
               origin_of(*settings, i));
  }
  return 0;
}

void declare(Words &words, ConfigRequest &request) {
  words.flag("--markdown", request.markdown, "the table of all settings, for the documentation");
  words.flag("--cache-key", request.cache_key,
             "only what must be part of the key of a cache of objects");
}

} // namespace

const Command config_command = {"config", "every setting, its value and its origin",
                                bind<ConfigRequest, declare, run>};

} // namespace ptxasw::wrapper
