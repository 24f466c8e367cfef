// Variants differ in the size of the tile: a large one has fewer barriers, a small one leaves more
// blocks at a time, and more of the L1.

#include "synth/stage/stage.h"
#include "synth/same_launch.h"

namespace ptxasw::synth {
namespace {

const Sites<stage::Staging> &staging(const KernelContext &context, std::string_view variant) {
  return context.once(variant, [&] { return stage::staging_of(context, variant); });
}

std::optional<std::string> staged_text(const KernelContext &context, std::string_view variant) {
  const auto &sites = staging(context, variant).sites;
  return sites.empty() ? std::nullopt : stage::write_staged(context, sites[0]);
}

FamilyAnswer propose_stage(const KernelContext &context) {
  FamilyAnswer answer;
  for (const std::string_view variant : stage::stage_variants) {
    const auto &[sites, refusals] = staging(context, variant);
    for (const Refusal &refusal : refusals)
      add_refusal(answer.refusals, refusal);
    if (sites.empty())
      continue;
    Proposal proposal = same_launch_proposal(context.kernel, "stage", variant);
    proposal.sibling.needs.dynamic_shared = 0; // it lies behind the tile, which the launch does
                                               // not know of
    answer.proposals.push_back(std::move(proposal));
  }
  return answer;
}

proof::Proved prove_stage(const KernelContext &context, const Function &sibling,
                          const Proposal &proposal) {
  const auto launch = [&] {
    proof::show(proposal.sibling.needs.dynamic_shared == 0,
                "a launch may ask for shared memory of its own");
    check_same_launch(context, proposal);
  };
  return proof::proved(launch).and_then(
      [&] { return stage::prove_staged(context, context.module, sibling, proposal.variant); });
}

} // namespace

const Family stage_family = {
    .name = "stage",
    .option = "stage",
    .help = "add versions in which what all threads of a block read in a loop is brought to shared "
            "memory, in tiles of so many bytes",
    .same_launch = true,
    .variants = listed<stage::stage_variants>,
    .propose = propose_stage,
    .write = write_same_launch<staged_text>,
    .prove = prove_stage,
};

} // namespace ptxasw::synth
