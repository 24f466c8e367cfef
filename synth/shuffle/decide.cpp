// Which targets benefit from shuffles.

#include "synth/shuffle/decide.h"

#include <fmt/core.h>

namespace ptxasw::synth {

// Below sm_70 the paper's measurements decide, of its own tool: shuffles gain on average on Maxwell
// and Pascal, where an L1 hit takes 82 cycles against 33 for a shuffle, and lose on Kepler and
// Volta, where it takes 35 against 24 and 28 against 22 (table 1, section 7). That they lose on
// sm_90 was measured (docs/internals/when-shuffles-pay.md). With the distance more lanes load for
// themselves; the kernel of the suite with the largest mean distance that gains has 2.5 (section
// 7), and what lies further away was not measured.
Decision decide(ShuffleMode mode, unsigned sm) {
  if (mode == ShuffleMode::always)
    return {true, {}, "asked for"};
  if (mode == ShuffleMode::never)
    return {false, {}, "switched off"};
  // A vector load is one instruction, and would become a shuffle for each of its words.
  const Widths scalars{.vector = false};
  constexpr unsigned maxwell = 50, volta = 70;
  if (sm < maxwell)
    return {false, scalars, fmt::format("sm_{}: shuffles do not gain on average before sm_50", sm)};
  if (sm < volta)
    return {true, scalars,
            fmt::format("sm_{}: an L1 hit costs more than a shuffle before sm_70", sm), 2.5};
  return {false, scalars,
          fmt::format("sm_{}: an L1 hit is as cheap as a shuffle from sm_70 on", sm)};
}

} // namespace ptxasw::synth
