// Parsed from what ptxas prints; a line in another form is left out, as its wording may change.

#include "wrapper/lint/advisories.h"

#include <algorithm>

namespace ptxasw::wrapper {

std::map<std::string, std::vector<Advisory>, std::less<>>
parse_advisories(std::string_view messages) {
  std::map<std::string, std::vector<Advisory>, std::less<>> result;
  while (!messages.empty()) {
    const std::size_t end = std::min(messages.find('\n'), messages.size());
    const std::string_view line = messages.substr(0, end);
    messages.remove_prefix(std::min(end + 1, messages.size()));
    const std::size_t open = line.find("(C");
    const std::size_t close = line.find(')', std::min(open, line.size()));
    if (open == std::string_view::npos || close == std::string_view::npos || close < open + 3 ||
        line.substr(open + 2, close - open - 2).find_first_not_of("0123456789") !=
            std::string_view::npos)
      continue;
    Advisory advisory{std::string(line.substr(open + 1, close - open - 1)),
                      std::string(line.substr(std::min(close + 2, line.size())))};
    constexpr std::string_view function = "function '";
    std::string kernel;
    if (const std::size_t at = line.find(function); at != std::string_view::npos) {
      const std::string_view rest = line.substr(at + function.size());
      kernel = rest.substr(0, rest.find('\''));
    }
    result[kernel].push_back(std::move(advisory));
  }
  return result;
}

std::string_view explain_advisory(std::string_view code) {
  // All that ptxas 13.0 has of this kind concern matrix instructions of warp groups: they run one
  // after the other instead of at the same time.
  if (code.starts_with("C75"))
    return "matrix instructions of the warp group (wgmma) are serialised: what they accumulate "
           "into "
           "is touched, passed to a function, or does not fit registers while they are under way";
  return "see what ptxas says";
}

} // namespace ptxasw::wrapper
