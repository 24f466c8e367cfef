// Variants differ in the size of the tile: a large one has fewer barriers, a small one leaves more
// blocks at a time, and more of the L1.

#include "synth/same_launch.h"
#include "synth/stage/write.h"

#include <algorithm>

namespace ptxasw::synth {
namespace {

constexpr Refusal text_between{"control-flow", "its text declares something between instructions"};

/// Bytes of a tile.
constexpr std::string_view stage_variants[] = {"4k", "16k"};

struct Staged {
  std::optional<std::string> text; ///< the module's, with the kernel staged
  std::vector<Refusal> refusals;   ///< why not
};

const Staged &staged(const KernelContext &context, std::string_view variant) {
  return context.once(variant, [&] {
    facts::Atoms atoms;
    Sites<stage::Staging> answer = stage::staging_of(context, stage::tile_of(variant), atoms);
    Staged result{{}, std::move(answer.refusals)};
    if (answer.sites.empty())
      return result;
    result.text = stage::write_staged(context, answer.sites[0], atoms);
    if (!result.text)
      result.refusals.push_back(text_between);
    return result;
  });
}

std::optional<std::string> staged_text(const KernelContext &context, std::string_view variant) {
  return staged(context, variant).text;
}

FamilyAnswer propose_stage(const KernelContext &context) {
  FamilyAnswer answer;
  for (const std::string_view variant : stage_variants) {
    const Staged &made = staged(context, variant);
    for (const Refusal &refusal : made.refusals)
      add_refusal(answer.refusals, refusal);
    if (!made.text)
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
  return proof::proved(launch).and_then([&] {
    return prove_staged(context.module, context.kernel, context.module, sibling, proposal.variant);
  });
}

} // namespace

std::uint32_t stage::tile_of(std::string_view variant) {
  const bool is_one = std::find(std::begin(stage_variants), std::end(stage_variants), variant) !=
                      std::end(stage_variants);
  return is_one ? number_in(variant) * 1024 : 0;
}

const Family stage_family = {
    .name = "stage",
    .option = "stage",
    .help = "add versions in which what all threads of a block read in a loop is brought to shared "
            "memory, in tiles of so many bytes",
    .same_launch = true,
    .variants = listed<stage_variants>,
    .propose = propose_stage,
    .write = write_same_launch<staged_text>,
    .prove = prove_stage,
};

} // namespace ptxasw::synth
