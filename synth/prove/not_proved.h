#pragma once

// How proofs fail: inside, by an exception; outside, by what it says.

#include "grammar/namespaces.h"

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
