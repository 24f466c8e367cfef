// Bodies are copied with `.nc` put into opcodes, so that nothing else can be.
//
// What may write what a load reads is told by the text alone (emulator/facts/writers.h), as to the
// proof. Besides, a load on which the end of a loop depends stays: the program may wait there.

#include "synth/cache/cache.h"

#include "emulator/facts/waiting.h"
#include "emulator/facts/writers.h"
#include "emulator/semantics/global_load.h"
#include "grammar/edits.h"
#include "synth/same_launch.h"

#include <optional>

namespace ptxasw::synth {
namespace {

using facts::Access;
using facts::AccessKind;
using facts::KernelFacts;

namespace cache_refusal {
constexpr Refusal nothing{"no-global-load", "no load of global memory without qualifiers"};
constexpr Refusal address{"unknown-address", "which array it reads or writes is not known"};
constexpr Refusal ordered{"synchronises",
                          "it may see what others write while it runs, or writes anywhere"};
} // namespace cache_refusal

/// Why a load must not become `.nc`; `apart`: arrays that different parameters lead to do not
/// overlap (arrays_apart).
std::optional<Refusal> nc_obstacle(const KernelFacts &facts, facts::Writers &writers,
                                   const Access &access, bool apart) {
  const Module &module = facts.module();
  const auto &all = facts.function().instructions;
  const std::uint32_t load = access.site.instruction;
  if (const auto unknown = writers.unknown())
    return (module.opcode(all[*unknown]).op == Op::call ? refusals::call : cache_refusal::ordered)
        .at(all[*unknown].line);
  if (const auto conflict = writers.conflict(load, apart))
    return conflict->unknown == no_index ? refusals::may_be_written.at(all[conflict->store].line)
                                         : cache_refusal::address.at(all[conflict->unknown].line);
  const ControlFlowGraph &cfg = facts.cfg();
  LoopId outermost = access.loop;
  while (outermost != no_index && cfg.loops()[outermost].parent != no_index)
    outermost = cfg.loops()[outermost].parent;
  if (cfg.irreducible(cfg.block_of(load)) || // it may go round without a loop that is known
      (outermost != no_index && facts::decides_end(module, facts.function(), cfg, outermost, load)))
    return refusals::decides_the_end.at(all[load].line);
  return has_nc(module) ? std::nullopt : std::optional(nc_too_new);
}

bool needs_promise(std::string_view variant) { return variant == "nc-apart"; }

/// The loads of a kernel that a variant makes `.nc`; none if it is not for this kernel.
const Sites<std::uint32_t> &loads_for(const KernelContext &context, std::string_view variant) {
  return context.once(variant, [&]() -> Sites<std::uint32_t> {
    const auto &all = context.kernel.instructions;
    if (all.size() > changed_instructions_budget || !context.facts().complete() ||
        !context.facts().cfg().well_formed())
      return {{}, {refusals::control_flow}};
    Sites<std::uint32_t> result;
    facts::Writers writers(context.module, context.kernel);
    bool any = false;
    for (const Access &access : context.facts().accesses()) {
      const std::uint32_t i = access.site.instruction;
      const auto load = qualified_load(context.module.opcode(all[i]));
      if (access.site.kind != AccessKind::load || !load || load->hinted || !all[i].well_formed)
        continue;
      any = true;
      if (load->nc)
        continue;
      if (const auto obstacle =
              nc_obstacle(context.facts(), writers, access, needs_promise(variant)))
        add_refusal(result.refusals, *obstacle);
      else
        result.sites.push_back(i);
    }
    if (!any)
      add_refusal(result.refusals, cache_refusal::nothing);
    return result;
  });
}

std::optional<std::string> requalified(const KernelContext &context, std::string_view variant) {
  const std::vector<std::uint32_t> &loads = loads_for(context, variant).sites;
  return loads.empty() ? std::nullopt : with_nc(context.module, context.kernel, loads);
}

constexpr std::string_view cache_variants[] = {"nc", "nc-apart"};

FamilyAnswer propose_cache(const KernelContext &context) {
  FamilyAnswer answer;
  for (const std::string_view variant : cache_variants) {
    const Sites<std::uint32_t> &found = loads_for(context, variant);
    for (const Refusal &refusal : found.refusals)
      add_refusal(answer.refusals, refusal);
    if (found.sites.empty())
      continue;
    Proposal proposal = same_launch_proposal(context.kernel, "cache", variant);
    if (needs_promise(variant))
      proposal.promise = arrays_apart;
    answer.proposals.push_back(std::move(proposal));
  }
  return answer;
}

} // namespace

bool has_nc(const Module &module) {
  return 100 * module.version_major + module.version_minor >= 301 && module.sm >= 32;
}

std::optional<std::string> with_nc(const Module &module, const Function &kernel,
                                   const std::vector<std::uint32_t> &loads) {
  constexpr std::string_view before = "ld.global";
  Edits edits;
  for (const std::uint32_t load : loads) {
    const Span opcode = kernel.instructions[load].opcode_span;
    if (!module.text(opcode).starts_with(before))
      return std::nullopt;
    edits.insert(opcode.begin + before.size(), ".nc");
  }
  return edits.apply(module.text());
}

const Family cache_family = {
    .name = "cache",
    .option = "cache",
    .help =
        "add versions in which loads of what the kernel does not write are read-only ones (.nc); "
        "nc-apart promises that no two pointer parameters lead into one array",
    .same_launch = true,
    .variants = listed<cache_variants>,
    .propose = propose_cache,
    .write = write_same_launch<requalified>,
    .prove = prove_cache,
    .in_place = requalified,
    .prove_in_place = prove_requalified,
    .changes_no_bound = true,
};

} // namespace ptxasw::synth
