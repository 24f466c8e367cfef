#pragma once

// SARIF 2.1.0, which code-scanning services read: what all that write it have in common.

#include "wrapper/lint/places.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ptxasw::wrapper {

/// A `location` object. What lies under the current folder is named from there: a checkout
/// elsewhere is the same.
nlohmann::ordered_json sarif_location(const Place &place);

/// A whole file with one run, from its `rules` and `results`.
std::string sarif_text(const nlohmann::ordered_json &rules, const nlohmann::ordered_json &results);

} // namespace ptxasw::wrapper
