// Bodies are copied with `.nc` put into opcodes, so that nothing else can be.

#include "synth/cache/cache.h"

#include "grammar/edits.h"
#include "synth/cache/sites.h"
#include "synth/same_launch.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::synth {
namespace {

bool needs_promise(std::string_view variant) { return variant == "nc-apart"; }

/// The loads of a kernel that a variant makes `.nc`; none if it is not for this kernel.
const Sites<std::uint32_t> &loads_for(const KernelContext &context, std::string_view variant) {
  return context.once(variant, [&]() -> Sites<std::uint32_t> {
    if (context.kernel.instructions.size() > changed_instructions_budget)
      return {{}, {refusals::control_flow}};
    return cache::read_only_loads(context.facts(), needs_promise(variant));
  });
}

std::optional<std::string> requalified(const KernelContext &context, std::string_view variant) {
  const std::vector<std::uint32_t> &loads = loads_for(context, variant).sites;
  if (loads.empty())
    return std::nullopt;
  Edits edits;
  for (const std::uint32_t load : loads)
    edits.insert(context.kernel.instructions[load].opcode_span.begin + cache::before_nc.size(),
                 ".nc");
  return edits.apply(context.module.text());
}

const std::vector<std::string> &cache_variants() {
  static const std::vector<std::string> variants{"nc", "nc-apart"};
  return variants;
}

FamilyAnswer propose_cache(const KernelContext &context) {
  FamilyAnswer answer;
  for (const std::string &variant : cache_variants()) {
    const Sites<std::uint32_t> &found = loads_for(context, variant);
    for (const Refusal &refusal : found.refusals)
      add_refusal(answer.refusals, refusal);
    if (found.sites.empty())
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

} // namespace

std::optional<std::string> requalify_loads(const KernelContext &context) {
  return requalified(context, "nc");
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
    .write = write_same_launch<requalified>,
    .prove = prove_cache,
};

} // namespace ptxasw::synth
