#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw {

/// Something that ptxas says of a kernel's speed by itself: `(C7510) Potential Performance Loss`.
struct Advisory {
  std::string code; ///< `C7510`
  std::string text;
};

/// By kernel; those that name none under "".
std::map<std::string, std::vector<Advisory>, std::less<>>
parse_advisories(std::string_view messages);

/// What is behind a code, in a sentence.
std::string_view explain_advisory(std::string_view code);

} // namespace ptxasw
