#pragma once

#include "grammar/module.h"
#include "synth/siblings.h"
#include "wrapper/launch/profile.h"
#include "wrapper/settings/settings.h"

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

// The siblings that a build wants: the first few; those that settings name; or from a profile of
// `ptxasw tune` those that won, of code that is still the same.

namespace ptxasw::wrapper {

/// Reads a profile. Errors: the file cannot be read, or is no profile (file, line, column).
tl::expected<launch::Profile, std::string> read_profile(const std::string &path);

/// The siblings that won, of all kernels of a module, by name. A kernel that the profile knows with
/// other code has none, and `tell` is told so, as a sentence that names `path`.
std::vector<std::string> profiled_siblings(const launch::Profile &profile, const std::string &path,
                                           const Module &module,
                                           void (*tell)(const std::string &sentence));

/// True if the settings ask for siblings: a number of them, those of a profile, or some by their
/// names.
bool wants_siblings(const Settings &settings);

/// The module with the siblings that the settings ask for, those of kernels that they name; empty
/// if it stays as it is. `profile` is that of the settings, if they name one; `tell` as above.
std::optional<SiblingResult> with_siblings(const std::string &text, const std::string &name,
                                           const Settings &settings, const launch::Profile &profile,
                                           void (*tell)(const std::string &sentence));

} // namespace ptxasw::wrapper
