// Where no thread waits, none needs another one to run at the same time or before it; so neither
// the order of threads nor how many blocks are resident matters to whether a launch ends.

#include "synth/waiting.h"

#include "emulator/facts/waiting.h"

namespace ptxasw::inline synth {

std::optional<Refusal> waiting_obstacle(const Module &module, const Function &kernel) {
  const auto read = facts::waits_at(module, kernel);
  if (!read)
    return std::nullopt;
  const std::uint32_t line =
      *read < kernel.instructions.size() ? kernel.instructions[*read].line : 0;
  return Refusal{"waits", "a loop may wait for what another thread or the host writes", line};
}

} // namespace ptxasw::synth
