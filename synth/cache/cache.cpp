// Bodies are copied with `.nc` put into opcodes, so that nothing else can be.

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
constexpr std::string_view before_nc = "ld.global";

std::optional<Refusal> requalification_obstacle(const Module &module, const Function &kernel) {
  if (!kernel.is_entry || !kernel.has_body)
    return no_kernel;
  if (module.debug)
    return compiled_for_debugging;
  if (kernel.instructions.size() > requalified_instructions_budget)
    return too_many;
  return std::nullopt;
}

bool needs_promise(std::string_view variant) { return variant == "nc-apart"; }

/// The loads of a kernel that a variant makes `.nc`; none if it is not for this kernel.
Edits edits_for(const Module &module, const Function &kernel, std::string_view variant) {
  Edits edits;
  if (requalification_obstacle(module, kernel))
    return edits;
  const facts::KernelFacts facts(module, kernel);
  for (const std::uint32_t load : cache::read_only_loads(facts, needs_promise(variant)).loads)
    edits.insert(kernel.instructions[load].opcode_span.begin + before_nc.size(), ".nc");
  return edits;
}

const std::vector<std::string> &cache_variants() {
  static const std::vector<std::string> variants{"nc", "nc-apart"};
  return variants;
}

} // namespace

std::optional<std::string> requalify_loads(const Module &module, const Function &kernel) {
  const Edits edits = edits_for(module, kernel, "nc");
  return edits.empty() ? std::nullopt : edits.apply(module.text());
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
    const cache::ReadOnlyLoads found = cache::read_only_loads(facts, needs_promise(variant));
    for (const Refusal &refusal : found.refusals)
      add_refusal(answer.refusals, refusal);
    if (found.loads.empty())
      continue;
    Proposal proposal = same_launch_proposal(kernel, "cache", variant);
    if (needs_promise(variant))
      proposal.promise = arrays_apart;
    for (char &c : proposal.sibling.name)
      c = c == '-' ? '_' : c;
    answer.proposals.push_back(std::move(proposal));
  }
  return answer;
}

std::string write_cache(const Module &module, const Function &kernel, const Proposal &proposal) {
  const Edits edits = edits_for(module, kernel, proposal.variant);
  const auto changed = parse(edits.apply(module.text()).value_or(""), "requalified");
  return same_launch_version(module, kernel, proposal, changed ? changed->get() : nullptr);
}

extern const Family cache_family;
const Family cache_family = {
    .name = "cache",
    .option = "cache",
    .help =
        "add versions in which loads of what the kernel does not write are read-only ones (.nc); "
        "nc-apart promises that no two pointer parameters lead into one array",
    .variants = cache_variants,
    .propose = propose_cache,
    .write = write_cache,
    .prove = prove_cache,
};

} // namespace ptxasw::synth
