// Read and written line by line, and compared fact by fact.

#include "wrapper/lint/baseline.h"

#include "analysis/occupancy.h"
#include "wrapper/lint/names.h"

#include <algorithm>
#include <charconv>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

constexpr std::string_view heading =
    "# What `ptxasw lint --update-baseline` found. A finding: target, kernel, code, cost, file.\n";

/// The next word of a line; empty at its end.
std::string_view take_word(std::string_view &line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

/// The resources by name, each as a number that is better when it is smaller.
template <class Visit> void each_resource(const Resources &r, Visit visit) {
  visit("registers", r.registers.value_or(0));
  visit("spill-stores", r.spill_stores);
  visit("spill-loads", r.spill_loads);
  visit("stack", r.stack);
  visit("shared", r.shared);
}

bool parse_needs(std::string_view rest, KernelState &state) {
  Resources resources;
  while (!rest.empty()) {
    const std::string_view word = take_word(rest);
    const std::size_t equals = word.find('=');
    const auto value =
        equals == std::string_view::npos ? std::nullopt : number(word.substr(equals + 1));
    if (!value || *value > ~0U)
      return false;
    const auto amount = static_cast<std::uint32_t>(*value);
    const std::string_view name = word.substr(0, equals);
    if (name == "registers")
      resources.registers = amount;
    else if (name == "spill-stores")
      resources.spill_stores = amount;
    else if (name == "spill-loads")
      resources.spill_loads = amount;
    else if (name == "stack")
      resources.stack = amount;
    else if (name == "shared")
      resources.shared = amount;
    else if (name == "warps")
      state.warps = amount;
    else
      return false;
  }
  state.resources = resources;
  return true;
}

bool parse_line(std::string_view line, Baseline &baseline) {
  const std::string_view kind = take_word(line);
  const std::string target(take_word(line)), kernel(take_word(line));
  if (kernel.empty())
    return false;
  KernelState &state = baseline[target][kernel];
  state.name = kernel;
  if (kind == "needs")
    return parse_needs(line, state);
  const std::string code(take_word(line));
  if (kind == "advisory") {
    state.advisories.insert(code);
    return !code.empty();
  }
  const auto cost = number(take_word(line));
  if (kind != "finding" || !lint::code_of(code) || !cost)
    return false;
  state.findings[{code, std::string(line)}].push_back(*cost);
  return true;
}

void sort_costs(KernelState &state) {
  for (auto &[where, costs] : state.findings)
    std::sort(costs.rbegin(), costs.rend());
}

/// Findings of one code in one file, in order of cost.
void compare_costs(const std::string &what, const std::vector<std::uint64_t> &before,
                   const std::vector<std::uint64_t> &now, BaselineChanges &changes) {
  bool worse = now.size() > before.size(), better = now.size() < before.size();
  for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i) {
    worse = worse || now[i] > before[i];
    better = better || now[i] < before[i];
  }
  const auto list = [](const std::vector<std::uint64_t> &costs) {
    std::string text;
    for (const std::uint64_t cost : costs)
      text += (text.empty() ? "" : ", ") + std::to_string(cost);
    return text.empty() ? std::string("none") : text;
  };
  if (worse || better)
    (worse ? changes.worse : changes.better)
        .push_back(fmt::format("{}: {} before, {} now", what, list(before), list(now)));
}

void compare_kernel(const KernelState &before, const KernelState &now, bool resources,
                    BaselineChanges &changes) {
  const std::string name = demangled(now.name);
  std::map<std::pair<std::string, std::string>, int> keys;
  for (const auto *findings : {&before.findings, &now.findings})
    for (const auto &[where, costs] : *findings)
      keys[where] = 0;
  const auto costs_at = [](const KernelState &state, const auto &where) {
    const auto found = state.findings.find(where);
    return found == state.findings.end() ? std::vector<std::uint64_t>() : found->second;
  };
  for (const auto &[where, unused] : keys)
    compare_costs(fmt::format("{}: -W{} in {}", name, where.first,
                              where.second.empty() ? "the PTX" : where.second),
                  costs_at(before, where), costs_at(now, where), changes);
  for (const std::string &code : now.advisories)
    if (!before.advisories.contains(code))
      changes.worse.push_back(
          fmt::format("{}: ptxas advises {}: {}", name, code, explain_advisory(code)));
  if (before.resources && now.resources)
    each_resource(*now.resources, [&](std::string_view resource, unsigned value) {
      if (!resources && (resource == "registers" || resource == "shared"))
        return;
      unsigned old = 0;
      each_resource(*before.resources, [&](std::string_view other, unsigned was) {
        old = other == resource ? was : old;
      });
      if (value != old)
        (value > old ? changes.worse : changes.better)
            .push_back(fmt::format("{}: {}: {} before, {} now", name, resource, old, value));
    });
  if (before.warps && now.warps && *before.warps != *now.warps)
    (*now.warps < *before.warps ? changes.worse : changes.better)
        .push_back(fmt::format("{}: theoretical active warps: {} before, {} now", name,
                               *before.warps, *now.warps));
}

/// Without the folders: a checkout elsewhere is the same program.
std::string file_of(const Told &told) {
  return told.source ? told.source->file.substr(told.source->file.rfind('/') + 1) : std::string();
}

std::optional<std::uint32_t> warps_of(const facts::KernelFacts &facts, const Resources &resources,
                                      const std::string &target) {
  const Architecture *architecture = find_architecture(target);
  const auto &block = facts.launch().block;
  if (!architecture || !block)
    return std::nullopt;
  BlockNeeds needs;
  needs.threads = block->count();
  needs.registers = resources.registers.value_or(0);
  needs.static_shared = resources.shared;
  needs.barriers = std::max(1U, resources.barriers);
  return occupancy(*architecture, needs).warps;
}

} // namespace

tl::expected<Baseline, std::string> parse_baseline(std::string_view text) {
  Baseline baseline;
  for (unsigned line_number = 1; !text.empty(); ++line_number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (line.empty() || line.starts_with('#'))
      continue;
    if (!parse_line(line, baseline))
      return tl::unexpected(fmt::format("line {}: `{}` is not understood", line_number, line));
  }
  for (auto &[target, kernels] : baseline)
    for (auto &[name, state] : kernels)
      sort_costs(state);
  return baseline;
}

std::string baseline_text(const Baseline &baseline) {
  std::string text(heading);
  for (const auto &[target, kernels] : baseline)
    for (const auto &[name, state] : kernels) {
      for (const auto &[where, costs] : state.findings)
        for (const std::uint64_t cost : costs)
          text += fmt::format("finding {} {} {} {} {}\n", target, name, where.first, cost,
                              where.second);
      for (const std::string &code : state.advisories)
        text += fmt::format("advisory {} {} {}\n", target, name, code);
      if (!state.resources)
        continue;
      text += fmt::format("needs {} {}", target, name);
      each_resource(*state.resources, [&](std::string_view resource, unsigned value) {
        text += fmt::format(" {}={}", resource, value);
      });
      text += state.warps ? fmt::format(" warps={}\n", *state.warps) : std::string("\n");
    }
  return text;
}

BaselineChanges compare(const Baseline &baseline, const std::string &target,
                        const std::vector<KernelState> &now, bool resources) {
  BaselineChanges changes;
  const auto of_target = baseline.find(target);
  for (const KernelState &state : now) {
    KernelState before;
    if (of_target != baseline.end())
      if (const auto found = of_target->second.find(state.name); found != of_target->second.end())
        before = found->second;
    compare_kernel(before, state, resources, changes);
  }
  return changes;
}

std::vector<KernelState> states_of(const std::vector<KernelLint> &kernels,
                                   const std::string &target, const AssemblerFacts &assembled) {
  const auto &[resources, advisories] = assembled;
  std::vector<KernelState> states;
  for (const KernelLint &kernel : kernels) {
    KernelState state;
    state.name = kernel.name;
    for (const Told &told : kernel.warnings)
      state.findings[{std::string(lint::info(told.code).name), file_of(told)}].push_back(told.cost);
    sort_costs(state);
    if (const auto found = resources.find(kernel.name); found != resources.end()) {
      state.resources = found->second;
      state.warps = warps_of(*kernel.facts, found->second, target);
    }
    if (const auto found = advisories.find(kernel.name); found != advisories.end())
      for (const Advisory &advisory : found->second)
        state.advisories.insert(advisory.code);
    states.push_back(std::move(state));
  }
  return states;
}

} // namespace ptxasw::wrapper
