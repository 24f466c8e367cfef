// A kernel is melded branch by branch, the one with the largest gain first, and read anew after
// each: arms may hold further branches, and what stays apart is a branch again. Facts tell at which
// branches the lanes of a warp may part; there alone is anything to gain.

#include "emulator/facts/kernel_facts.h"
#include "emulator/semantics/effects.h"
#include "synth/meld/sites.h"
#include "synth/prove/walk.h"
#include "synth/same_launch.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::synth {
namespace meld {
namespace {

namespace refusal {
constexpr Refusal lanes{"warp-collective",
                        "it asks which lanes are together, or demands that they agree"};
constexpr Refusal uniform{"uniform", "lanes of a warp never part"};
constexpr Refusal too_little{"too-little", "the arms have too little in common"};
} // namespace refusal

/// Steps that a stretch apart costs: two jumps, a divergence, and what one waits for them.
unsigned cost_apart(Cutoff cutoff) { return cutoff == Cutoff::all ? 4 : 24; }

/// What a branch must gain at least to be worth the moves around it.
int least_gain(Cutoff cutoff) { return cutoff == Cutoff::all ? 2 : 12; }

std::optional<Refusal> kernel_obstacle(const Module &module, const Function &kernel) {
  if (kernel.instructions.size() > changed_instructions_budget)
    return refusals::control_flow;
  if (!kernel.target_lists.empty()) // labels that it names must stay
    return refusals::branch_table;
  for (const Instruction &instruction : kernel.instructions)
    if (const Opcode &opcode = module.opcode(instruction);
        asks_which_lanes(opcode) || (instruction.guard != no_register && wants_agreement(opcode)))
      return refusal::lanes.at(instruction.line);
  return std::nullopt;
}

} // namespace

Sites<Site> meld_sites(const KernelContext &context, Cutoff cutoff) {
  if (const auto obstacle = kernel_obstacle(context.module, context.kernel))
    return {{}, {*obstacle}};
  const facts::KernelFacts &facts = context.facts();
  if (!facts.complete() || !facts.cfg().well_formed())
    return {{}, {refusals::control_flow}};
  Sites<Site> result;
  for (const facts::Branch &branch : facts.branches()) {
    if (branch.parting == facts::Parting::never)
      continue;
    try {
      Site site = site_at(context, branch.block);
      align(context, site, cost_apart(cutoff));
      if (site.gain < least_gain(cutoff))
        throw refusal::too_little.at(site.line);
      result.sites.push_back(std::move(site));
    } catch (const Refusal &stop) {
      result.refusals.push_back(stop);
    }
  }
  if (result.sites.empty() && result.refusals.empty())
    result.refusals.push_back(refusal::uniform);
  return result;
}

} // namespace meld

namespace {

constexpr unsigned branches_budget = 16; ///< of a kernel

const Sites<meld::Site> &sites_of(const KernelContext &context, std::string_view variant) {
  const bool all = variant.ends_with("all");
  return context.once(all ? "all" : "costly", [&] {
    return meld_sites(context, all ? meld::Cutoff::all : meld::Cutoff::costly);
  });
}

/// With every branch of a kernel melded that gains something; of `54:all` the one in that line.
std::optional<std::string> melded_text(const KernelContext &context, std::string_view variant) {
  const unsigned line = number_in(variant);
  const auto step = [&](const KernelContext &now) -> std::optional<std::string> {
    const meld::Site *best = nullptr;
    for (const meld::Site &site : sites_of(now, variant).sites)
      if ((line == 0 || site.line == line) && (!best || site.gain > best->gain))
        best = &site;
    return best ? meld::write_melded(now, *best) : std::nullopt;
  };
  return after_steps(context, line ? 1 : branches_budget, step);
}

constexpr std::string_view meld_variants[] = {"all", "costly"};

FamilyAnswer propose_meld(const KernelContext &context) {
  FamilyAnswer answer{{}, sites_of(context, "all").refusals};
  for (const std::string_view variant : meld_variants)
    if (!sites_of(context, variant).sites.empty())
      answer.proposals.push_back(same_launch_proposal(context.kernel, "meld", variant));
  return answer;
}

std::vector<std::string> meld_parts(const KernelContext &context) {
  std::vector<std::string> parts;
  for (const std::string_view variant : meld_variants)
    for (const meld::Site &site : sites_of(context, variant).sites)
      parts.push_back(fmt::format("{}:{}", site.line, variant));
  return parts;
}

proof::Proved prove_melded(const Module &before, const Function &kernel, const Module &after,
                           const Function &melded) {
  return proof::prove_same(before, kernel, after, melded);
}

} // namespace

const Family meld_family = {
    .name = "meld",
    .option = "meld",
    .help = "add versions in which what both arms of branches do runs once, wherever that "
            "gains or where it gains much",
    .same_launch = true,
    .variants = listed<meld_variants>,
    .propose = propose_meld,
    .write = write_same_launch<melded_text>,
    .prove = prove_same_launch<prove_melded>,
    .in_place = melded_text,
    .prove_in_place = prove_melded,
    .parts = meld_parts,
};

} // namespace ptxasw::synth
