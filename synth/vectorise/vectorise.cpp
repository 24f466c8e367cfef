// What is proposed is what has a plan. A plan needs aligned addresses, which depend on the launch's
// arguments: first all of them are taken for multiples of what the widest access has; those that
// the plan does not rely on are then left out one by one, the others weakened as far as it stays
// the same. What remains is what the table demands of the launch.

#include "synth/vectorise/vectorise.h"

#include "emulator/facts/global_index.h"
#include "emulator/semantics/one_value.h"
#include "synth/spread.h"
#include "synth/vectorise/wide.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace ptxasw::inline synth {
namespace {

constexpr std::uint32_t strongest_alignment = 16, strongest_divisor = 4;
/// Instructions that one sibling may have.
constexpr std::size_t wide_size_budget = 30'000;
constexpr Refusal nothing{"nothing-adjacent",
                          "no accesses of a thread, or of neighbouring ones, lie side by side"};
constexpr Refusal wide_too_large{"budget", "the sibling would be too large"};
constexpr Refusal not_global{
    "local-index", "along x more matters than the global index and the number of threads"};

using FormKind = RetileForm::Kind;

Sibling sibling_for(const Function &kernel, const WideShape &shape) {
  const RetileForm &form = shape.form;
  const auto along = static_cast<std::size_t>(form.axis);
  Sibling sibling;
  sibling.family = "vectorise";
  sibling.kind = "wide";
  if (form.copies > 1)
    sibling.kind += fmt::format("-{}", name_of(form.kind));
  std::string word = wide_variant(shape);
  std::replace(word.begin(), word.end(), '-', '_');
  sibling.name = fmt::format("{}__ptxasw_{}", kernel.name, word);
  sibling.block[0] = form.along_x;
  if (form.along_x > 1)
    sibling.needs.max_extent[0] = max_points;
  if (form.within_block())
    sibling.block[along] = form.copies;
  if (form.divides_grid()) {
    sibling.grid[along] = form.copies;
    sibling.appended = {"xyz"[form.axis]};
    if (form.kind == FormKind::rows)
      sibling.needs.blocks = row_blocks(form.axis);
  }
  return sibling;
}

SiblingNeeds everything(const WidePlanner &planner) {
  SiblingNeeds needs;
  for (const SiblingParameterField &one : planner.arguments())
    if (one.bytes == 8)
      needs.aligned.push_back({one.parameter, one.offset, strongest_alignment});
    else
      needs.divisible.push_back({one.parameter, one.offset, one.bytes, strongest_divisor});
  return needs;
}

/// Halves each number as long as the plan stays the same; 1 is not a need.
template <class Need>
void weaken(WidePlanner &planner, const WidePlan &plan, SiblingNeeds &needs,
            std::vector<Need> SiblingNeeds::*list, std::uint32_t Need::*number) {
  for (std::size_t i = 0; i < (needs.*list).size(); ++i)
    while ((needs.*list)[i].*number > 1) {
      SiblingNeeds weaker = needs;
      (weaker.*list)[i].*number /= 2;
      if (planner.plan(weaker) != plan)
        break;
      needs = std::move(weaker);
    }
  std::erase_if(needs.*list, [&](const Need &need) { return need.*number == 1; });
}

/// What the best plan needs of the arguments, and the plan.
std::pair<SiblingNeeds, WidePlan> best_plan(WidePlanner &planner) {
  SiblingNeeds needs = everything(planner);
  WidePlan plan = planner.plan(needs);
  weaken(planner, plan, needs, &SiblingNeeds::divisible, &ArgumentDivisor::divisor);
  weaken(planner, plan, needs, &SiblingNeeds::aligned, &ArgumentAlignment::alignment);
  return {std::move(needs), std::move(plan)};
}

/// Returns true if a plan has an access over several points along x, or of one thread.
bool is_worth_it(const WidePlan &plan) {
  const bool loads = std::any_of(plan.loads.begin(), plan.loads.end(),
                                 [](const WideLoad &load) { return load.elements > 1; });
  return loads || !plan.stores.empty();
}

} // namespace

unsigned wide_shift(const Module &module, const Function &kernel, unsigned along_x) {
  unsigned best = 0, most = 0;
  for (unsigned shift = 0; along_x > 1 && shift < along_x; ++shift) {
    WidePlanner planner(module, kernel, {FormKind::apart, 0, 1, along_x, shift, true});
    const WidePlan plan = planner.plan(everything(planner));
    // Several stores to one place cost more than several loads.
    unsigned saved = plan.saved();
    for (const WideStore &store : plan.stores)
      saved += 2 * (store.elements - 1);
    if (saved > most) {
      best = shift;
      most = saved;
    }
  }
  return best;
}

FamilyAnswer propose_vectorise(const KernelContext &context) {
  const Module &module = context.module;
  const Function &kernel = context.kernel;
  FamilyAnswer answer;
  if (const auto obstacle = spread_obstacle(module, kernel)) {
    answer.refusals.push_back(*obstacle);
    return answer;
  }
  const bool spread = may_be_spread(module, kernel);
  const auto shows = facts::block_shape_shows(module, kernel);
  std::map<unsigned, unsigned> shifts;
  bool large = false;
  for (const WideShape &shape : wide_shapes()) {
    RetileForm form = shape.form;
    if ((form.along_x > 1 && (!spread || shows || !mentions_special(module, kernel, "%tid.x"))) ||
        (form.within_block() && !spread) ||
        (form.copies > 1 && !mentions_special(module, kernel, form.index())))
      continue;
    if (retiled_size(kernel, form.total()) > wide_size_budget) {
      large = true;
      continue;
    }
    const auto [shift, is_new] = shifts.try_emplace(form.along_x);
    if (is_new)
      shift->second = wide_shift(module, kernel, form.along_x);
    form.shift = shift->second;
    WidePlanner planner(module, kernel, form);
    auto [needs, plan] = best_plan(planner);
    if (!is_worth_it(plan))
      continue;
    Proposal proposal;
    proposal.family = "vectorise";
    proposal.variant = wide_variant(shape);
    proposal.axis = form.axis;
    proposal.factor = form.copies;
    proposal.registers = shape.registers;
    proposal.sibling = sibling_for(kernel, shape);
    proposal.sibling.needs.aligned = std::move(needs.aligned);
    proposal.sibling.needs.divisible = std::move(needs.divisible);
    answer.proposals.push_back(std::move(proposal));
  }
  if (answer.proposals.empty()) {
    answer.refusals.push_back(large ? wide_too_large : spread && shows ? not_global : nothing);
    if (!large && spread && shows)
      answer.refusals.back().line = *shows;
  }
  return answer;
}

extern const Family vectorise_family;
const Family vectorise_family = {
    .name = "vectorise",
    .option = "retile",
    .help = {},
    .by_default = true,
    .variants = vectorise_variants,
    .propose = propose_vectorise,
    .write = write_retile,
    .prove = prove_retile,
};

} // namespace ptxasw::synth
