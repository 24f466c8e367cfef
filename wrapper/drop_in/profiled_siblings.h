#pragma once

#include "grammar/module.h"
#include "wrapper/launch/profile.h"

#include <string>
#include <tl/expected.hpp>
#include <vector>

// What a build takes from a profile of `ptxasw tune`: the versions that won, of code that is still
// the same.

namespace ptxasw {

/// Reads a profile. Errors: the file cannot be read, or is no profile (file, line, column).
tl::expected<launch::Profile, std::string> read_profile(const std::string &path);

/// The siblings that won, of all kernels of a module, by name. A kernel that the profile knows with
/// other code has none, and `tell` is told so, as a sentence that names `path`.
std::vector<std::string> profiled_siblings(const launch::Profile &profile, const std::string &path,
                                           const Module &module,
                                           void (*tell)(const std::string &sentence));

} // namespace ptxasw
