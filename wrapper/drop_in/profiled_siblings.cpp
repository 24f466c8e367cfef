// Kernels are recognized by the hash of their text, which is also what their tables carry: a
// profile names siblings of exactly this code, or none.

#include "wrapper/drop_in/profiled_siblings.h"

#include "synth/rewrite.h"
#include "wrapper/lint/names.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::wrapper {

tl::expected<launch::Profile, std::string> read_profile(const std::string &path) {
  const auto text = read_regular_file(path);
  if (!text)
    return tl::unexpected(fmt::format("cannot read the profile `{}`", path));
  return launch::parse_profile(*text, path);
}

std::vector<std::string> profiled_siblings(const launch::Profile &profile, const std::string &path,
                                           const Module &module,
                                           void (*tell)(const std::string &sentence)) {
  std::vector<std::string> names;
  for (const Function &function : module.functions) {
    if (!function.is_entry || !function.has_body)
      continue;
    const std::string hash = module_number(module.text(function.body));
    for (std::string &name : profile.winners(hash))
      names.push_back(std::move(name));
    if (profile.outdated(function.name, hash))
      tell(fmt::format("the profile {} is of other code of {}; its entries are ignored", path,
                       function.name));
  }
  return names;
}

/// Returns true if settings name versions without saying how many.
static bool only_names_versions(const Settings &settings) {
  return !settings.siblings_given && !settings.siblings.wanted.empty();
}

bool wants_siblings(const Settings &settings) {
  return settings.siblings.most > 0 || !settings.profile.empty() || only_names_versions(settings);
}

std::optional<SiblingResult> with_siblings(const std::string &text, const std::string &name,
                                           const Settings &settings, const launch::Profile &profile,
                                           void (*tell)(const std::string &sentence)) {
  const auto parsed = parse(text, name);
  if (!parsed)
    return std::nullopt;
  SiblingOptions options = settings.siblings;
  options.kernels = names_called(**parsed, settings.rewrite.kernels);
  if (!settings.profile.empty() || only_names_versions(settings))
    options.budget = 0; // what is named is wanted
  if (!settings.profile.empty()) {
    options.names = profiled_siblings(profile, settings.profile, **parsed, tell);
    if (options.most == 0)
      options.most = ~0u;
  } else if (only_names_versions(settings)) {
    options.most = ~0u;
    options.defaults = false;
  }
  SiblingResult result = add_siblings(**parsed, options);
  if (!result.changed)
    return std::nullopt;
  return result;
}

} // namespace ptxasw::wrapper
