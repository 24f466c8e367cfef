#pragma once

// The parts of a proof by name, so that reports can say which of them was not met.

#include "grammar/namespaces.h"

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

/// An obligation that is not met, and what is missing in particular.
struct Missing {
  Obligation obligation = Obligation::understood;
  std::string_view why;

  /// Returns true if nothing is missing.
  bool empty() const { return why.empty(); }
};

} // namespace ptxasw::synth
