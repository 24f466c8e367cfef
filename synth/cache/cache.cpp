// Bodies are copied with `.nc` put into opcodes, so that nothing else can be.

#include "synth/cache/cache.h"

#include "grammar/edits.h"
#include "synth/cache/sites.h"
#include "synth/same_launch.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::inline synth {
namespace {

constexpr std::string_view before_nc = "ld.global";

bool needs_promise(std::string_view variant) { return variant == "nc-apart"; }

/// The loads of a kernel that a variant makes `.nc`; none if it is not for this kernel.
Edits edits_for(const KernelContext &context, std::string_view variant) {
  const Function &kernel = context.kernel;
  Edits edits;
  if (kernel.instructions.size() > changed_instructions_budget)
    return edits;
  for (const std::uint32_t load :
       cache::read_only_loads(context.facts(), needs_promise(variant)).loads)
    edits.insert(kernel.instructions[load].opcode_span.begin + before_nc.size(), ".nc");
  return edits;
}

const std::vector<std::string> &cache_variants() {
  static const std::vector<std::string> variants{"nc", "nc-apart"};
  return variants;
}

} // namespace

std::optional<std::string> requalify_loads(const KernelContext &context) {
  const Edits edits = edits_for(context, "nc");
  return edits.empty() ? std::nullopt : edits.apply(context.module.text());
}

FamilyAnswer propose_cache(const KernelContext &context) {
  FamilyAnswer answer;
  if (context.kernel.instructions.size() > changed_instructions_budget) {
    answer.refusals.push_back(refusals::control_flow);
    return answer;
  }
  for (const std::string &variant : cache_variants()) {
    const cache::ReadOnlyLoads found =
        cache::read_only_loads(context.facts(), needs_promise(variant));
    for (const Refusal &refusal : found.refusals)
      add_refusal(answer.refusals, refusal);
    if (found.loads.empty())
      continue;
    Proposal proposal = same_launch_proposal(context.kernel, "cache", variant);
    if (needs_promise(variant))
      proposal.promise = arrays_apart;
    for (char &c : proposal.sibling.name)
      c = c == '-' ? '_' : c;
    answer.proposals.push_back(std::move(proposal));
  }
  return answer;
}

std::string write_cache(const KernelContext &context, const Proposal &proposal) {
  const Edits edits = edits_for(context, proposal.variant);
  const auto changed = parse(edits.apply(context.module.text()).value_or(""), "requalified");
  return same_launch_version(context, proposal, changed ? changed->get() : nullptr);
}

extern const Family cache_family;
const Family cache_family = {
    .name = "cache",
    .option = "cache",
    .help =
        "add versions in which loads of what the kernel does not write are read-only ones (.nc); "
        "nc-apart promises that no two pointer parameters lead into one array",
    .same_launch = true,
    .variants = cache_variants,
    .propose = propose_cache,
    .write = write_cache,
    .prove = prove_cache,
};

} // namespace ptxasw::synth
