// Each load is asked about by itself: what another one reads is no matter to it.

#include "synth/cache/unwritten.h"

#include <fmt/core.h>

namespace ptxasw::inline synth::cache {

std::set<facts::Origin> Unwritten::address(const Instruction &access, std::size_t operand) const {
  const auto operands = module_.operands(access);
  return operand < operands.size() ? origins_->of_address(operands[operand])
                                   : std::set<facts::Origin>();
}

std::string Unwritten::fault(const Instruction &load) {
  if (writers_.unknown)
    return fmt::format("{} (line {})", writers_.unknown->meaning, writers_.unknown->line);
  if (writers_.stores.empty())
    return "";
  if (!apart_)
    return "the kernel may write what it reads";
  if (!origins_)
    origins_.emplace(module_, kernel_);
  for (const std::uint32_t i : writers_.stores) {
    const Instruction &store = kernel_.instructions[i];
    if (!facts::Origins::are_apart(address(load, 1), address(store, 0)))
      return fmt::format("line {} may write what it reads", store.line);
  }
  return "";
}

} // namespace ptxasw::synth::cache
