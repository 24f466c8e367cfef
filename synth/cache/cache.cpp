// Bodies are copied with their opcodes changed, so that nothing else can be.

#include "synth/cache/cache.h"

#include "grammar/edits.h"
#include "synth/cache/sites.h"
#include "synth/same_launch.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::inline synth {
namespace {

constexpr Refusal no_kernel{"no-kernel", "no kernel with a body"};
constexpr Refusal compiled_for_debugging{"debug-module", "the module is compiled for debugging"};
constexpr Refusal too_many{"control-flow", "the kernel is too large, or not understood"};

constexpr std::size_t requalified_instructions_budget = 20'000;

std::optional<Refusal> requalification_obstacle(const Module &module, const Function &kernel) {
  if (!kernel.is_entry || !kernel.has_body)
    return no_kernel;
  if (module.debug)
    return compiled_for_debugging;
  if (kernel.instructions.size() > requalified_instructions_budget)
    return too_many;
  return std::nullopt;
}

/// What a variant changes; nothing if there is no such variant, or it is not for this kernel.
std::vector<cache::Change> changes_for(const Module &module, const Function &kernel,
                                       std::string_view variant) {
  const auto wishes = cache::wishes_of(variant);
  if (!wishes || requalification_obstacle(module, kernel))
    return {};
  return cache::changes_of(facts::KernelFacts(module, kernel), *wishes).changes;
}

Edits edits_of(const Function &kernel, const std::vector<cache::Change> &changes) {
  Edits edits;
  for (const cache::Change &change : changes)
    edits.replace(kernel.instructions[change.instruction].opcode_span, change.opcode);
  return edits;
}

} // namespace

const std::vector<std::string> &cache_variants() {
  static const std::vector<std::string> variants{"nc",          "nc-apart", "evict-last",
                                                 "no-allocate", "l2-128",   "hints"};
  return variants;
}

std::optional<std::string> requalify_loads(const Module &module, const Function &kernel,
                                           std::string_view variant) {
  const std::vector<cache::Change> changes = changes_for(module, kernel, variant);
  if (changes.empty() || cache::wishes_of(variant)->apart)
    return std::nullopt;
  return edits_of(kernel, changes).apply(module.text());
}

FamilyAnswer propose_cache(const Module &module, const Function &kernel) {
  FamilyAnswer answer;
  if (const auto obstacle = same_launch_obstacle(module, kernel)) {
    answer.refusals.push_back(*obstacle);
    return answer;
  }
  if (const auto obstacle = requalification_obstacle(module, kernel)) {
    answer.refusals.push_back(*obstacle);
    return answer;
  }
  const facts::KernelFacts facts(module, kernel);
  for (const std::string &variant : cache_variants()) {
    const cache::Wishes wishes = *cache::wishes_of(variant);
    const cache::Changes found = cache::changes_of(facts, wishes);
    for (const Refusal &refusal : found.refusals)
      add_refusal(answer.refusals, refusal);
    if (found.changes.empty())
      continue;
    Proposal proposal = same_launch_proposal(kernel, "cache", variant);
    if (wishes.apart)
      proposal.promise = arrays_apart;
    for (char &c : proposal.sibling.name)
      c = c == '-' ? '_' : c;
    answer.proposals.push_back(std::move(proposal));
  }
  return answer;
}

std::string write_cache(const Module &module, const Function &kernel, const Proposal &proposal) {
  const Edits edits = edits_of(kernel, changes_for(module, kernel, proposal.variant));
  const auto changed = parse(edits.apply(module.text()).value_or(""), "requalified");
  return same_launch_version(module, kernel, proposal, changed ? changed->get() : nullptr);
}

} // namespace ptxasw::synth
