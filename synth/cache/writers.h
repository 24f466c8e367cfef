#pragma once

// What could make memory that a kernel loads from change while it runs.

#include "synth/family.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptxasw::inline synth::cache {

struct Writers {
  /// Instructions that write global memory, or may: their first operand is the address.
  std::vector<std::uint32_t> stores;
  /// What might let a thread see what another kernel or the host has written meanwhile, or writes
  /// where nobody knows.
  std::optional<Refusal> unknown;
};

Writers writers_of(const Module &module, const Function &kernel);

} // namespace ptxasw::synth::cache
