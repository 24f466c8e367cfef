// A kernel is melded branch by branch, the one with the largest gain first, and read anew after
// each: arms may hold further branches, and what stays apart is a branch again. Facts tell at which
// branches the lanes of a warp may part; there alone is anything to gain.

#include "synth/meld/meld.h"

#include "emulator/facts/kernel_facts.h"
#include "emulator/semantics/effects.h"
#include "synth/meld/sites.h"
#include "synth/prove/walk.h"
#include "synth/same_launch.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::synth {
namespace {

namespace meld_refusal {
constexpr Refusal lanes{"warp-collective",
                        "it asks which lanes are together, or demands that they agree"};
constexpr Refusal uniform{"uniform", "lanes of a warp never part"};
constexpr Refusal too_little{"too-little", "the arms have too little in common"};
} // namespace meld_refusal

constexpr unsigned branches_budget = 16; ///< of a kernel

/// Steps that a stretch apart costs: two jumps, a divergence, and what one waits for them.
unsigned cost_apart(MeldCutoff cutoff) { return cutoff == MeldCutoff::all ? 4 : 24; }

/// What a branch must gain at least to be worth the moves around it.
int least_gain(MeldCutoff cutoff) { return cutoff == MeldCutoff::all ? 2 : 12; }

std::optional<Refusal> kernel_obstacle(const Module &module, const Function &kernel) {
  if (kernel.instructions.size() > changed_instructions_budget)
    return refusals::control_flow;
  if (!kernel.target_lists.empty()) // labels that it names must stay
    return refusals::branch_table;
  for (const Instruction &instruction : kernel.instructions)
    if (const Opcode &opcode = module.opcode(instruction);
        asks_which_lanes(opcode) || (instruction.guard != no_register && wants_agreement(opcode)))
      return meld_refusal::lanes.at(instruction.line);
  return std::nullopt;
}

MeldCutoff cutoff_of(std::string_view variant) {
  return variant.ends_with("all") ? MeldCutoff::all : MeldCutoff::costly;
}

const Sites<MeldSite> &sites_of(const KernelContext &context, MeldCutoff cutoff) {
  return context.once(cutoff == MeldCutoff::all ? "all" : "costly",
                      [&] { return meld_sites(context, cutoff); });
}

/// With every branch of a kernel melded that gains something; of `54:all` the one in that line.
std::optional<std::string> melded_text(const KernelContext &context, std::string_view variant) {
  const MeldCutoff cutoff = cutoff_of(variant);
  const unsigned line = number_in(variant);
  return after_steps(
      context, line ? 1 : branches_budget,
      [&](const KernelContext &now) -> std::optional<std::string> {
        std::vector<MeldSite> sites = sites_of(now, cutoff).sites;
        std::erase_if(sites, [&](const MeldSite &site) { return line && site.line != line; });
        const auto best =
            std::max_element(sites.begin(), sites.end(),
                             [](const MeldSite &a, const MeldSite &b) { return a.gain < b.gain; });
        return best == sites.end() ? std::nullopt : meld_branch(now, best->instruction, cutoff);
      });
}

constexpr std::string_view meld_variants[] = {"all", "costly"};

FamilyAnswer propose_meld(const KernelContext &context) {
  FamilyAnswer answer;
  for (const std::string_view variant : meld_variants) {
    const Sites<MeldSite> &sites = sites_of(context, cutoff_of(variant));
    if (variant == "all")
      answer.refusals = sites.refusals;
    if (sites.sites.empty())
      continue;
    answer.proposals.push_back(same_launch_proposal(context.kernel, "meld", variant));
  }
  return answer;
}

std::vector<std::string> meld_parts(const KernelContext &context) {
  std::vector<std::string> parts;
  for (const std::string_view variant : meld_variants)
    for (const MeldSite &site : sites_of(context, cutoff_of(variant)).sites)
      parts.push_back(fmt::format("{}:{}", site.line, variant));
  return parts;
}

} // namespace

Sites<MeldSite> meld_sites(const KernelContext &context, MeldCutoff cutoff) {
  const Module &module = context.module;
  const Function &kernel = context.kernel;
  Sites<MeldSite> result;
  if (const auto obstacle = kernel_obstacle(module, kernel))
    return {{}, {*obstacle}};
  const facts::KernelFacts &facts = context.facts();
  if (!facts.complete() || !facts.cfg().well_formed())
    return {{}, {refusals::control_flow}};
  bool parts = false;
  for (const facts::Branch &branch : facts.branches()) {
    if (branch.parting == facts::Parting::never)
      continue;
    parts = true;
    try {
      const meld::Site site = meld::site_at(context, branch.block);
      const meld::Alignment found = meld::align(context, site, cost_apart(cutoff));
      const std::uint32_t line = kernel.instructions[site.branch].line;
      if (found.gain >= least_gain(cutoff))
        result.sites.push_back({site.branch, line, found.saved, found.gain});
      else
        result.refusals.push_back(meld_refusal::too_little.at(line));
    } catch (const Refusal &stop) {
      result.refusals.push_back(stop);
    }
  }
  if (!parts)
    result.refusals.push_back(meld_refusal::uniform);
  return result;
}

std::optional<std::string> meld_branch(const KernelContext &context, std::uint32_t branch,
                                       MeldCutoff cutoff) {
  try {
    const meld::Site site = meld::site_at(context, context.cfg().block_of(branch));
    return meld::write_melded(context, site, meld::align(context, site, cost_apart(cutoff)));
  } catch (const Refusal &) {
    return std::nullopt;
  }
}

proof::Proved prove_melded(const Module &before, const Function &kernel, const Module &after,
                           const Function &melded) {
  return proof::prove_same(before, kernel, after, melded);
}

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
