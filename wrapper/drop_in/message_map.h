#pragma once

// Puts the user's names and line numbers into what ptxas says about rewritten text.

#include "grammar/namespaces.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::wrapper {

/// One module whose text was replaced for the real ptxas.
struct ReplacedModule {
  std::string shown_as; ///< how ptxas names it in its messages
  std::string known_as; ///< how the caller knows it
  /// For every line that ptxas saw, the line it was in the caller's text (Edits::lines).
  std::span<const std::uint32_t> lines;
};

/// Translates what ptxas said about the replaced modules into the caller's terms: file names,
/// and the number in `NAME, line 12`.
std::string translate_messages(std::string_view messages,
                               const std::vector<ReplacedModule> &modules);

} // namespace ptxasw::wrapper
