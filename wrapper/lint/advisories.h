#pragma once

// Takes ptxas' own advice on speed out of its messages. `ptxasw lint` tells it beside its own
// warnings, and a baseline notices when there is more of it.

#include "grammar/namespaces.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::wrapper {

/// What ptxas itself says about a kernel's speed: `(C7510) Potential Performance Loss`.
struct Advisory {
  std::string code; ///< `C7510`
  std::string text;
};

/// By kernel; those that name none under "".
std::map<std::string, std::vector<Advisory>, std::less<>>
parse_advisories(std::string_view messages);

/// What a code means, in a sentence.
std::string_view explain_advisory(std::string_view code);

} // namespace ptxasw::wrapper
