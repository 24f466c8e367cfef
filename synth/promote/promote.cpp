// Loops are promoted one after the other, the innermost first: what an inner loop's registers need
// is read anew in each activation, and stays in the first round of the outer one.

#include "synth/promote/promote.h"

#include "emulator/semantics/effects.h"
#include "grammar/edits.h"
#include "synth/promote/write.h"
#include "synth/same_launch.h"

#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace ptxasw::inline synth {
namespace {

namespace promote_refusal {
constexpr Refusal no_entry{"no-kernel", "no kernel with a body"};
constexpr Refusal debugged{"debug-module", "the module is compiled for debugging"};
constexpr Refusal unknown{"control-flow", "the kernel is too large, or not understood"};
constexpr Refusal lanes{"warp-collective", "it asks which lanes are together"};
constexpr Refusal no_loop{"no-loop", "there is no loop in it"};
constexpr Refusal narrow{"address-size", "addresses have 32 bits"};
} // namespace promote_refusal

constexpr std::size_t promoted_instructions_budget = 20'000;
constexpr unsigned promoted_loops_budget = 16; ///< of a kernel
constexpr promote::Wanted all_wanted[] = {promote::Wanted::repeated, promote::Wanted::carried};

std::optional<Refusal> promotion_obstacle(const Module &module, const Function &kernel) {
  if (!kernel.is_entry || !kernel.has_body)
    return promote_refusal::no_entry;
  if (module.debug)
    return promote_refusal::debugged;
  if (module.address_size != 64)
    return promote_refusal::narrow;
  if (kernel.instructions.size() > promoted_instructions_budget)
    return promote_refusal::unknown;
  for (const Instruction &instruction : kernel.instructions)
    if (asks_which_lanes(module.opcode(instruction))) {
      Refusal refusal = promote_refusal::lanes;
      refusal.line = instruction.line;
      return refusal;
    }
  return std::nullopt;
}

/// The module with each loop promoted in which something can be; null if there is none.
std::unique_ptr<Module> promote_all(const Module &module, const Function &kernel,
                                    promote::Wanted wanted) {
  std::unique_ptr<Module> result;
  for (unsigned i = 0; i < promoted_loops_budget; ++i) {
    const Module &now = result ? *result : module;
    const Function *function = result ? kernel_named(now, kernel.name) : &kernel;
    const PromotionSites sites =
        function ? promotion_sites(now, *function, wanted) : PromotionSites();
    if (sites.sites.empty())
      break;
    auto text = promote_loop(now, *function, sites.sites.back().header, wanted);
    if (!text)
      break;
    auto next = parse(std::move(*text), "promoted");
    if (!next)
      break;
    result = std::move(*next);
  }
  return result;
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

FamilyAnswer propose(const Module &module, const Function &kernel, promote::Wanted wanted) {
  FamilyAnswer answer;
  if (const auto obstacle = same_launch_obstacle(module, kernel)) {
    answer.refusals.push_back(*obstacle);
    return answer;
  }
  const PromotionSites sites = promotion_sites(module, kernel, wanted);
  answer.refusals = sites.refusals;
  if (!sites.sites.empty())
    answer.proposals.push_back(same_launch_proposal(kernel, promote::prefix_of(wanted), "all"));
  return answer;
}

std::string write(const Module &module, const Function &kernel, const Proposal &proposal,
                  promote::Wanted wanted) {
  const std::unique_ptr<Module> promoted = promote_all(module, kernel, wanted);
  return same_launch_version(module, kernel, proposal, promoted.get());
}

const std::vector<std::string> &whole_variants() {
  static const std::vector<std::string> variants{"all"};
  return variants;
}

} // namespace

PromotionSites promotion_sites(const Module &module, const Function &kernel,
                               promote::Wanted wanted) {
  PromotionSites result;
  if (const auto obstacle = promotion_obstacle(module, kernel)) {
    result.refusals.push_back(*obstacle);
    return result;
  }
  const ControlFlowGraph cfg(module, kernel);
  if (!cfg.well_formed()) {
    result.refusals.push_back(promote_refusal::unknown);
    return result;
  }
  for (LoopId loop = 0; loop < cfg.loops().size(); ++loop) {
    const std::uint32_t header = cfg.blocks()[cfg.loops()[loop].header].first;
    if (is_promoted(kernel, header))
      continue;
    promote::Atoms atoms;
    const auto promotion = promote::promotion_of(module, kernel, cfg, loop, atoms, wanted);
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
    result.refusals.push_back(promote_refusal::no_loop);
  return result;
}

std::optional<std::string> promote_loop(const Module &module, const Function &kernel,
                                        std::uint32_t header, promote::Wanted wanted) {
  const ControlFlowGraph cfg(module, kernel);
  for (LoopId loop = 0; loop < cfg.loops().size(); ++loop) {
    if (cfg.blocks()[cfg.loops()[loop].header].first != header)
      continue;
    promote::Atoms atoms;
    const auto promotion = promote::promotion_of(module, kernel, cfg, loop, atoms, wanted);
    return promotion ? promote::write_promoted(module, kernel, cfg, *promotion, atoms)
                     : std::nullopt;
  }
  return std::nullopt;
}

std::string where_apart(const Module &module) {
  Edits edits;
  for (const Function &function : module.functions)
    for (const Instruction &instruction : function.instructions) {
      if (module.opcode(instruction).op != Op::bra || instruction.guard == no_register)
        continue;
      const std::string_view name = function.registers[instruction.guard].name;
      if (name.starts_with(fmt::format("%{}", promote::prefix_of(promote::Wanted::repeated))) &&
          name.ends_with(promote::predicate_suffix))
        edits.replace({instruction.span.begin, instruction.opcode_span.begin}, "");
    }
  return edits.apply(module.text()).value_or(std::string(module.text()));
}

FamilyAnswer propose_promote(const Module &module, const Function &kernel) {
  return propose(module, kernel, promote::Wanted::repeated);
}

std::string write_promote(const Module &module, const Function &kernel, const Proposal &proposal) {
  return write(module, kernel, proposal, promote::Wanted::repeated);
}

std::string prove_promote(const Module &written, const Function &kernel, const Function &sibling,
                          const Proposal &proposal) {
  const std::string fault = same_launch_fault(written, kernel, proposal);
  return fault.empty() ? prove_promoted(written, kernel, written, sibling) : fault;
}

FamilyAnswer propose_carry(const Module &module, const Function &kernel) {
  return propose(module, kernel, promote::Wanted::carried);
}

std::string write_carry(const Module &module, const Function &kernel, const Proposal &proposal) {
  return write(module, kernel, proposal, promote::Wanted::carried);
}

extern const Family promote_family;
const Family promote_family = {
    .name = "promote",
    .option = "promote",
    .help = "add versions in which loads that loops repeat are registers, under a test that the "
            "loops' stores stay away from them",
    .variants = whole_variants,
    .propose = propose_promote,
    .write = write_promote,
    .prove = prove_promote,
};

extern const Family carry_family;
const Family carry_family = {
    .name = "carry",
    .option = "carry",
    .help = "add versions in which what the next round of a loop loads again stays in registers, "
            "under the same test",
    .variants = whole_variants,
    .propose = propose_carry,
    .write = write_carry,
    .prove = prove_promote,
};

} // namespace ptxasw::synth
