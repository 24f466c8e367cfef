#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw {

/// For every line of `rewritten`, the line of `original` it comes from (both 1-based; entry 0 is
/// unused). Inserted lines count as the line they stand in front of.
std::vector<std::uint32_t> map_lines(std::string_view original, std::string_view rewritten);

/// One module whose text was replaced for the real ptxas.
struct ReplacedModule {
  std::string shown_as; ///< how ptxas names it in its messages
  std::string known_as; ///< how the caller knows it
  std::string_view original;
  std::string_view rewritten;
};

/// Translates what ptxas said about the replaced modules into the caller's terms: file names,
/// and the number in `NAME, line 12`.
std::string translate_messages(std::string_view messages,
                               const std::vector<ReplacedModule> &modules);

} // namespace ptxasw
