#pragma once

// How proofs fail, and whoever else takes nothing for granted: inside, by an exception; outside, by
// a value that has it.
//   show(own.guard == other.guard, "it has another guard");

#include "grammar/namespaces.h"

#include <cstdint>
#include <fmt/core.h>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace ptxasw::proof {

/// What is not proved. Thrown where a proof stops; caught where it was begun, and handed out.
struct NotProved {
  std::string why;            ///< for people
  std::string_view part = {}; ///< of the proof, by a stable name, if it has such parts
};

/// That all is proved, or what is not.
using Proved = tl::expected<void, NotProved>;

/// As the error of an expected value.
inline tl::unexpected<NotProved> not_proved(std::string_view why) {
  return tl::unexpected(NotProved{std::string(why)});
}

inline void show(bool holds, std::string_view why) {
  if (!holds)
    throw NotProved{std::string(why)};
}

/// The same of a line of the text that is proved.
inline void show_at(std::uint32_t line, bool holds, std::string_view why) {
  if (!holds)
    throw NotProved{fmt::format("line {}: {}", line, why)};
}

/// Runs a proof to its end, or to where it stops.
template <class Proof> Proved proved(Proof proof) {
  try {
    proof();
    return {};
  } catch (NotProved &stop) {
    return tl::unexpected(std::move(stop));
  }
}

} // namespace ptxasw::proof
