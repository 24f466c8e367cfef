#pragma once

// Which loads get which qualifiers, and why others do not.

#include "emulator/facts/kernel_facts.h"
#include "synth/family.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::inline synth::cache {

/// A variant, taken apart.
struct Wishes {
  bool nc = false;    ///< `.nc` where nothing that is written can be what is read
  bool apart = false; ///< that is promised of different parameters (arrays_apart)
  bool evict_last = false, no_allocate = false, l2_128 = false;
};

/// Nothing if there is no such variant.
std::optional<Wishes> wishes_of(std::string_view variant);

/// A load and what its opcode becomes.
struct Change {
  std::uint32_t instruction = 0;
  std::string opcode;
};

struct Changes {
  std::vector<Change> changes; ///< in the order of the text
  std::vector<Refusal> refusals;
};

/// In the function that the facts are of.
Changes changes_of(const facts::KernelFacts &facts, const Wishes &wishes);

} // namespace ptxasw::synth::cache
