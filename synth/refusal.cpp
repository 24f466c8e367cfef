// What several families refuse.

#include "synth/kernel_context.h"

#include "emulator/facts/waiting.h"
#include "emulator/semantics/effects.h"

#include <algorithm>

namespace ptxasw::synth {

void add_refusal(std::vector<Refusal> &all, const Refusal &more) {
  if (std::none_of(all.begin(), all.end(), [&](const Refusal &known) {
        return known.reason == more.reason && known.line == more.line;
      }))
    all.push_back(more);
}

void add_kind(std::vector<Refusal> &all, const Refusal &more) {
  if (std::none_of(all.begin(), all.end(),
                   [&](const Refusal &known) { return known.meaning == more.meaning; }))
    all.push_back(more);
}

std::optional<Refusal> module_obstacle(const Module &module, const Function &kernel) {
  if (!kernel.is_entry || !kernel.has_body)
    return refusals::no_kernel;
  return module.debug ? std::optional(refusals::debug_module) : std::nullopt;
}

bool limits_registers(const Function &kernel) {
  return kernel.directive("maxnreg") || kernel.directive("minnctapersm") ||
         kernel.directive("maxnctapersm");
}

std::optional<Refusal> lanes_obstacle(const Module &module, const Function &kernel) {
  for (const Instruction &instruction : kernel.instructions)
    if (asks_which_lanes(module.opcode(instruction)))
      return refusals::warp_collective.at(instruction.line);
  return std::nullopt;
}

const std::optional<Refusal> &waiting_obstacle(const KernelContext &context) {
  return context.once("waits", [&]() -> std::optional<Refusal> {
    const auto read = facts::waits_at(context);
    if (!read)
      return std::nullopt;
    constexpr Refusal waits{"waits", "a loop may wait for what another thread or the host writes"};
    const auto &all = context.kernel.instructions;
    return waits.at(*read < all.size() ? all[*read].line : 0);
  });
}

} // namespace ptxasw::synth
