#pragma once

// The parts of a proof by name, so that reports can say which of them was not met.

#include "synth/prove/not_proved.h"

#include <cstdint>
#include <string_view>

namespace ptxasw::synth {

/// A part of the proof of one replaced load; what they are and mean is in obligations.def.
enum class Obligation : std::uint8_t {
#define PTXASW_OBLIGATION(enumerator, name, meaning) enumerator,
#include "synth/proof/obligations.def"
#undef PTXASW_OBLIGATION
};

/// The stable spelling of an obligation ("equal-address", ...).
std::string_view to_string(Obligation obligation);

/// That an obligation is not met, and what is missing in particular.
inline proof::NotProved unmet(Obligation obligation, std::string_view why) {
  return {std::string(why), to_string(obligation)};
}

/// Throws that unless something holds.
inline void demand(bool holds, Obligation obligation, std::string_view otherwise) {
  if (!holds)
    throw unmet(obligation, otherwise);
}

} // namespace ptxasw::synth
