// What commands have in common.

#include "wrapper/commands/command.h"

#include "wrapper/os/files.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>

namespace ptxasw::wrapper {

int exit_code::worse(int a, int b) { return a == fine || b == fine ? a + b : std::min(a, b); }

int complain(std::string_view message, int code) {
  tell_user(fmt::format("ptxasw: error: {}\n", message));
  return code;
}

std::optional<int> export_settings(const Invocation &invocation, std::string_view command) {
  const auto settings = invocation.settings();
  if (!settings)
    return complain(settings.error());
  if (invocation.foreign.empty())
    return complain(
        fmt::format("nothing to run; write the command after `--`: ptxasw {} -- make", command));
  for (const SettingSpec &spec : setting_table())
    if (std::any_of(invocation.given.begin(), invocation.given.end(),
                    [&](const OwnOption &option) { return option.name == spec.name; }))
      ::setenv(environment_name(spec).c_str(), spec.get(*settings).c_str(), 1);
  return std::nullopt;
}

} // namespace ptxasw::wrapper
