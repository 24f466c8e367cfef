#pragma once

// How a proof of this folder stops inside; outside that is an answer.

#include "grammar/namespaces.h"

#include <cstdint>
#include <string>

namespace ptxasw::analysis {

/// Thrown where something is not followed or becomes too large; caught where the question was asked
/// that it leaves open.
struct NotFollowed {
  std::string reason;
  std::uint32_t line = 0; ///< of the kernel's text; 0: of none
};

} // namespace ptxasw::analysis
