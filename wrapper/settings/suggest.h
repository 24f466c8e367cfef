#pragma once

// "Did you mean", for settings, keys of launch files and commands that there are not:
// `nearest("max-dleta", names)`.

#include "grammar/namespaces.h"

#include <span>
#include <string_view>

namespace ptxasw::wrapper {

/// The candidate that a misspelled word most likely stands for: fewest edits, at most a third of
/// the word (but always one). Empty if none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

} // namespace ptxasw::wrapper
