// A detour is the part of the kernel between a branch and where its ways meet, in the order of the
// text. All that follows one of its instructions is in it, or is the end.

#include "synth/coarsen/detour.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace ptxasw::inline synth {

void write_detour(CodeWriter &out, const Module &module, const Function &kernel,
                  const Detour &detour, unsigned copy, const Renaming &names,
                  const std::vector<bool> &first, WrittenLabel end) {
  std::map<std::uint32_t, WrittenLabel> labels;
  const auto name = [&](std::uint32_t i) {
    if (i != detour.end && !labels.contains(i))
      labels[i] = out.label(fmt::format("$retile_round_{}_{}_{}", detour.branch, copy, i));
  };
  const auto label_of = [&](std::uint32_t i) { return i == detour.end ? end : labels.at(i); };
  const auto begin =
      std::find(detour.inside.begin(), detour.inside.end(), true) - detour.inside.begin();
  if (begin != detour.branch)
    name(detour.branch);
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i)
    if (detour.inside[i])
      if (const auto target = branch_target(module, kernel, kernel.instructions[i]))
        name(*target);
  if (begin != detour.branch)
    out.write("bra", {label_of(detour.branch)});
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    if (!detour.inside[i])
      continue;
    if (labels.contains(i))
      out.place(labels[i]);
    const Instruction &instruction = kernel.instructions[i];
    const auto target = branch_target(module, kernel, instruction);
    if (target && instruction.guard == no_register) {
      out.write("bra", {label_of(*target)});
      continue;
    }
    if (target)
      out.write_if({names.registers[instruction.guard], ScalarType::pred},
                   instruction.guard_negated, "bra", {label_of(*target)});
    else if (!first[i])
      out.clone(module, instruction, names);
    if (i + 1 == detour.end &&
        std::find(detour.inside.begin() + i + 1, detour.inside.end(), true) != detour.inside.end())
      out.write("bra", {end});
  }
}

} // namespace ptxasw::synth
