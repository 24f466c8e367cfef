// A plan needs aligned addresses, which depend on the launch's arguments: first all of them are
// taken for multiples of what the widest access has; those that the plan does not rely on are then
// left out one by one, the others weakened as far as it stays the same. What remains is what the
// table demands of the launch. Likewise for how large indices may be (bounds.cpp).

#include "synth/coarsen/wide.h"

#include <fmt/core.h>
#include <tuple>
#include <utility>

namespace ptxasw::synth {
namespace {

constexpr std::uint32_t strongest_alignment = 16, strongest_divisor = 4;

SiblingNeeds everything(const WidePlanner &planner) {
  SiblingNeeds needs;
  for (const ArgumentDivisor &one : planner.arguments())
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

BestPlan find_best_plan(const KernelContext &context, const CoarsenForm &form) {
  WidePlanner planner(context, form);
  SiblingNeeds needs = everything(planner);
  WidePlan plan = planner.plan(needs);
  while (planner.bounds() != needs.bounded) { // without a test other accesses may be wide
    std::vector<IndexBound> more = needs.bounded;
    for (const IndexBound &bound : planner.bounds())
      add_bound(more, bound);
    if (more == needs.bounded)
      break;
    needs.bounded = std::move(more);
    plan = planner.plan(needs);
  }
  weaken(planner, plan, needs, &SiblingNeeds::divisible, &ArgumentDivisor::divisor);
  weaken(planner, plan, needs, &SiblingNeeds::aligned, &ArgumentAlignment::alignment);
  for (std::size_t i = needs.bounded.size(); i-- > 0;) {
    SiblingNeeds weaker = needs;
    weaker.bounded.erase(weaker.bounded.begin() + static_cast<std::ptrdiff_t>(i));
    if (planner.plan(weaker) == plan)
      needs = std::move(weaker);
  }
  return {std::move(needs), std::move(plan)};
}

} // namespace

const BestPlan &best_plan(const KernelContext &context, const CoarsenForm &form) {
  return context.once(form.key(), [&] { return find_best_plan(context, form); });
}

unsigned wide_shift(const KernelContext &context, unsigned along_x) {
  return context.once(fmt::format("shift x{}", along_x), [&] {
    unsigned best = 0;
    std::size_t most = 0;
    for (unsigned shift = 0; along_x > 1 && shift < along_x; ++shift) {
      WidePlanner planner(context, {CoarsenForm::Kind::apart, 0, 1, along_x, shift, true});
      const WidePlan plan = planner.plan(everything(planner));
      std::size_t saved = 0; // accesses; several stores to one place cost more than several loads
      for (const WideLoad &load : plan.loads)
        saved += load.parts.size() - 1;
      for (const WideStore &store : plan.stores)
        saved += std::size_t{3} * (store.elements - 1);
      if (saved > most)
        std::tie(best, most) = std::pair(shift, saved);
    }
    return best;
  });
}

} // namespace ptxasw::synth
