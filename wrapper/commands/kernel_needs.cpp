// Registers and shared memory are those that the real ptxas reports, parsed from its own words;
// nothing is estimated.

#include "wrapper/commands/kernel_needs.h"

#include "wrapper/drop_in/find_real.h"
#include "wrapper/drop_in/handover.h"
#include "wrapper/drop_in/resources.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

using ResourcesByName = std::map<std::string, Resources, std::less<>>;

/// What ptxas makes of the module's kernels for a target.
tl::expected<ResourcesByName, std::string> ask_ptxas(const Settings &settings, const Module &module,
                                                     const std::string &file,
                                                     const std::string &target) {
  const auto real = find_real(settings.real, invoked_path());
  if (!real)
    return tl::unexpected(real.error());
  const auto messages = assemble_for_messages(real->path, target, file, module.text());
  if (!messages)
    return tl::unexpected(messages.error());
  return parse_resources(*messages);
}

} // namespace

tl::expected<std::vector<KernelNeeds>, std::string>
needs_of_kernels(const Settings &settings, const Module &module, const std::string &input,
                 const std::vector<std::string> &kernels, const std::string &target,
                 std::optional<std::uint32_t> registers, std::uint64_t static_shared) {
  ResourcesByName resources;
  if (!registers) {
    auto found = ask_ptxas(settings, module, input, target);
    if (!found)
      return tl::unexpected(found.error());
    resources = std::move(*found);
  }
  std::vector<KernelNeeds> list;
  for (const Function &function : module.functions) {
    if (!function.is_entry || !function.has_body ||
        (!kernels.empty() &&
         std::find(kernels.begin(), kernels.end(), function.name) == kernels.end()))
      continue;
    KernelNeeds made{std::string(function.name), &function, {}, std::nullopt, 0, 0};
    BlockNeeds &needs = made.needs;
    if (registers) {
      needs.registers = *registers;
      needs.static_shared = static_shared;
    } else if (const auto found = resources.find(function.name); found != resources.end()) {
      needs.registers = found->second.registers.value_or(0);
      needs.static_shared = found->second.shared;
      needs.barriers = std::max(1u, found->second.barriers);
      made.spill_stores = found->second.spill_stores;
      made.spill_loads = found->second.spill_loads;
    } else {
      return tl::unexpected(fmt::format("ptxas says nothing of `{}`", function.name));
    }
    needs.most_threads = function.most_threads().value_or(0);
    const LaunchFacts launch = launch_facts(function);
    if (function.directive("reqntid") && launch.block)
      made.required = launch.block;
    list.push_back(std::move(made));
  }
  return list;
}

std::string reached_text(const Occupancy &found) {
  std::string text;
  for (const OccupancyLimit limit : found.reached())
    text += (text.empty() ? "" : ", ") + std::string(to_string(limit));
  return text;
}

} // namespace ptxasw::wrapper
