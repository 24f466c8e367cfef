#pragma once

// How proofs fail, and whoever else takes nothing for granted: inside, by an exception; outside, by
// what it says.

#include "grammar/namespaces.h"

#include <cstdint>
#include <fmt/core.h>
#include <string>
#include <string_view>

namespace ptxasw::proof {

/// Thrown where a proof stops; caught where it was begun.
struct NotProved {
  std::string why;
};

inline void show(bool holds, std::string_view why) {
  if (!holds)
    throw NotProved{std::string(why)};
}

/// The same of a line of the text that is proved.
inline void show_at(std::uint32_t line, bool holds, std::string_view why) {
  if (!holds)
    throw NotProved{fmt::format("line {}: {}", line, why)};
}

/// What stops a proof; empty: nothing does.
template <class Proof> std::string fault_of(Proof proof) {
  try {
    proof();
    return "";
  } catch (const NotProved &stop) {
    return stop.why;
  }
}

} // namespace ptxasw::proof
