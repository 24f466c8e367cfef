// Loops are promoted one after the other, the innermost first: what an inner loop's registers need
// is read anew in each activation, and stays in the first round of the outer one.

#include "synth/promote/promote.h"

#include "grammar/edits.h"
#include "synth/same_launch.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::synth {
namespace {

constexpr unsigned promoted_loops_budget = 16; ///< of a kernel
constexpr promote::Wanted all_wanted[] = {promote::Wanted::repeated, promote::Wanted::carried};

std::optional<Refusal> promotion_obstacle(const Module &module, const Function &kernel) {
  if (module.address_size != 64)
    return refusals::address_size;
  if (kernel.instructions.size() > changed_instructions_budget)
    return refusals::control_flow;
  return lanes_obstacle(module, kernel);
}

template <promote::Wanted wanted>
const Sites<PromotionSite> &sites_for(const KernelContext &context) {
  return context.once(promote::prefix_of(wanted), [&] { return promotion_sites(context, wanted); });
}

/// With each loop promoted in which something can be; of `54` the one that begins in that line.
template <promote::Wanted wanted>
std::optional<std::string> promoted_text(const KernelContext &context, std::string_view variant) {
  const unsigned line = number_in(variant);
  return after_steps(
      context, line ? 1 : promoted_loops_budget,
      [&](const KernelContext &now) -> std::optional<std::string> {
        std::vector<PromotionSite> sites = sites_for<wanted>(now).sites;
        std::erase_if(sites, [&](const PromotionSite &site) { return line && site.line != line; });
        return sites.empty() ? std::nullopt : promote_loop(now, sites.back().header, wanted);
      });
}

/// Returns true if a loop is what became of another one: it goes back to where its first round is
/// told from the others.
bool is_promoted(const Function &kernel, std::uint32_t header) {
  return std::any_of(kernel.labels.begin(), kernel.labels.end(), [&](const Label &label) {
    return label.position == header &&
           std::any_of(std::begin(all_wanted), std::end(all_wanted), [&](promote::Wanted wanted) {
             return label.name.starts_with(fmt::format("${}", promote::prefix_of(wanted)));
           });
  });
}

template <promote::Wanted wanted> FamilyAnswer propose_loops(const KernelContext &context) {
  const Sites<PromotionSite> &sites = sites_for<wanted>(context);
  FamilyAnswer answer{{}, sites.refusals};
  if (!sites.sites.empty())
    answer.proposals.push_back(
        same_launch_proposal(context.kernel, promote::prefix_of(wanted), "all"));
  return answer;
}

template <promote::Wanted wanted> std::vector<std::string> loops_of(const KernelContext &context) {
  std::vector<std::string> parts;
  for (const PromotionSite &site : sites_for<wanted>(context).sites)
    parts.push_back(std::to_string(site.line));
  return parts;
}

constexpr std::string_view whole_variants[] = {"all"};

} // namespace

Sites<PromotionSite> promotion_sites(const KernelContext &context, promote::Wanted wanted) {
  const Module &module = context.module;
  const Function &kernel = context.kernel;
  Sites<PromotionSite> result;
  if (const auto obstacle = promotion_obstacle(module, kernel))
    return {{}, {*obstacle}};
  const ControlFlowGraph &cfg = context.cfg();
  if (!cfg.well_formed())
    return {{}, {refusals::control_flow}};
  for (LoopId loop = 0; loop < cfg.loops().size(); ++loop) {
    const std::uint32_t header = cfg.blocks()[cfg.loops()[loop].header].first;
    if (is_promoted(kernel, header))
      continue;
    promote::Atoms atoms;
    const auto promotion = promote::promotion_of(context, loop, atoms, wanted);
    if (!promotion) {
      result.refusals.push_back(promotion.error());
      continue;
    }
    PromotionSite site{header, kernel.instructions[header].line, {}, 0};
    for (const promote::RepeatedLoad &load : promotion->loads)
      site.loads.push_back(load.instruction);
    site.conditions = static_cast<unsigned>(promotion->conditions.size());
    result.sites.push_back(std::move(site));
  }
  std::sort(result.sites.begin(), result.sites.end(),
            [](const PromotionSite &a, const PromotionSite &b) { return a.header < b.header; });
  if (result.sites.empty() && result.refusals.empty())
    result.refusals.push_back(refusals::no_loop);
  return result;
}

std::optional<std::string> promote_loop(const KernelContext &context, std::uint32_t header,
                                        promote::Wanted wanted) {
  const ControlFlowGraph &cfg = context.cfg();
  promote::Atoms atoms;
  const auto promotion =
      promote::promotion_of(context, cfg.loop_of(cfg.block_of(header)), atoms, wanted);
  return promotion ? promote::write_promoted(context, *promotion, atoms) : std::nullopt;
}

std::string where_apart(const Module &module) {
  Edits edits;
  for (const Function &function : module.functions)
    for (const Instruction &instruction : function.instructions) {
      if (module.opcode(instruction).op != Op::bra || instruction.guard == no_register)
        continue;
      const std::string_view name = function.registers[instruction.guard].name;
      const bool tests =
          std::any_of(std::begin(all_wanted), std::end(all_wanted), [&](promote::Wanted wanted) {
            return name.find(promote::prefix_of(wanted)) != std::string_view::npos;
          });
      if (tests && name.ends_with(promote::predicate_suffix))
        edits.replace({instruction.span.begin, instruction.opcode_span.begin}, "");
    }
  return edits.apply(module.text()).value_or(std::string(module.text()));
}

namespace {

template <promote::Wanted wanted>
constexpr Family family_of(std::string_view name, std::string_view help) {
  return {
      .name = name,
      .option = name,
      .help = help,
      .same_launch = true,
      .variants = listed<whole_variants>,
      .propose = propose_loops<wanted>,
      .write = write_same_launch<promoted_text<wanted>>,
      .prove = prove_same_launch<prove_promoted>,
      .in_place = promoted_text<wanted>,
      .prove_in_place = prove_promoted,
      .parts = loops_of<wanted>,
      .without_tests = where_apart,
  };
}

} // namespace

const Family promote_family = family_of<promote::Wanted::repeated>(
    "promote", "add versions in which loads that loops repeat are registers, under a test that the "
               "loops' stores stay away from them");
const Family carry_family = family_of<promote::Wanted::carried>(
    "carry", "add versions in which what the next round of a loop loads again stays in registers, "
             "under the same test");

} // namespace ptxasw::synth
