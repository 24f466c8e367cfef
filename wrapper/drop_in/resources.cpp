// What `ptxas -v` says: registers, spills, stack, shared memory and barriers of every function.

#include "wrapper/drop_in/resources.h"

#include <algorithm>
#include <charconv>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

/// The number before `unit` in a list like "Used 18 registers, used 0 barriers, 256 bytes smem".
std::optional<unsigned> amount(std::string_view list, std::string_view unit) {
  const std::size_t at = list.find(unit);
  if (at == std::string_view::npos || at == 0)
    return std::nullopt;
  std::string_view before = list.substr(0, at - 1); // without the blank
  before.remove_prefix(before.find_last_not_of("0123456789") + 1);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(before.data(), before.data() + before.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

} // namespace

std::map<std::string, Resources, std::less<>> parse_resources(std::string_view messages) {
  std::map<std::string, Resources, std::less<>> functions;
  Resources *current = nullptr;
  while (!messages.empty()) {
    const std::size_t end = std::min(messages.find('\n'), messages.size());
    const std::string_view line = messages.substr(0, end);
    messages.remove_prefix(std::min(end + 1, messages.size()));
    constexpr std::string_view properties = "Function properties for ";
    if (const std::size_t at = line.find(properties); at != std::string_view::npos) {
      current = &functions[std::string(line.substr(at + properties.size()))];
    } else if (current && line.find("bytes stack frame") != std::string_view::npos) {
      current->stack = amount(line, "bytes stack frame").value_or(0);
      current->spill_stores = amount(line, "bytes spill stores").value_or(0);
      current->spill_loads = amount(line, "bytes spill loads").value_or(0);
    } else if (const auto registers = amount(line, "registers"); current && registers) {
      current->registers = registers;
      current->shared = amount(line, "bytes smem").value_or(0);
      current->barriers = amount(line, "barriers").value_or(0);
      current = nullptr;
    }
  }
  return functions;
}

tl::expected<void, std::string> measure_resources(const AskedTool &asked,
                                                  std::vector<InputModule> &modules) {
  const bool changed = std::any_of(modules.begin(), modules.end(),
                                   [](const InputModule &module) { return module.changed; });
  const auto before = assemble_for_messages(asked, modules, false);
  if (!before)
    return tl::unexpected(before.error());
  const auto after = changed ? assemble_for_messages(asked, modules, true) : before;
  if (!after)
    return tl::unexpected(after.error());
  const auto old_needs = parse_resources(*before), new_needs = parse_resources(*after);
  for (InputModule &module : modules)
    for (KernelReport &kernel : module.report.kernels) {
      const auto was = old_needs.find(kernel.name), is = new_needs.find(kernel.name);
      if (was != old_needs.end())
        kernel.before = was->second;
      if (is != new_needs.end())
        kernel.after = is->second;
    }
  return {};
}

} // namespace ptxasw::wrapper
