#pragma once

// Where code was inlined from, by its `.loc` lines. Warnings are told at the user's own line with
// it (wrapper/lint/places.h).

#include "grammar/module.h"

#include <vector>

namespace ptxasw::ptx {

/// The calls through which the code at a position was inlined, as `.loc ... inlined_at` has them
/// (PTX ISA 11.5.2). Read from the text once per module, and only on request: the emulators have no
/// use for it.
class Inlining {
public:
  explicit Inlining(const Module &module);

  /// Where the calls stand, the innermost first; empty if it was not inlined, or for `no_index`.
  /// `location` is an index in Module::locations.
  std::vector<Location> chain(std::uint32_t location) const;

private:
  const Module &module_;
  std::vector<std::uint32_t> call_; ///< by location: the one of the call; no_index: none
  std::vector<Location> calls_;     ///< call sites that are not a location of their own
};

} // namespace ptxasw::ptx
