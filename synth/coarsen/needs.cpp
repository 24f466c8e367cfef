// An index of a field is a sum of products, x + nx * (y + ny * z), in 32 bits; y is a thread's
// global index, or one that a row of copies has. As an expression that is a sum of products of
// symbols modulo 2^32. Take the same sum in whole numbers. Where all coefficients are positive, it
// is largest where each symbol is, and these are numbers that a launch has: arguments, and how many
// threads there are along each axis. If that is below 2^31, the sum in whole numbers is the one in
// 32 bits, since they are congruent. So is each sum that differs by a constant and lies between 0
// and the largest one: an extension of it, with a sign or without, is the extension of the first
// one plus the constant. The launch helper looks at the arguments before each launch.
//
// Symbols, and what they are at most, N being the launch's threads along an axis:
//
//   %ctaid * %ntid + %tid, both parts with the same factor     N - 1
//   %ctaid alone, %tid alone                                   N - 1
//   which row of blocks of one row, the first of the copies'   N - 1
//   W * which group of W points along x                        N - 1
//   an argument of 32 bits, as an unsigned number              itself
//   how often a loop over the grid went round                  0 in versions `once`
//
// That the sum is not negative follows where the constant is none; and where the first thread along
// x is not in lockstep, its group is at least the second one. A number with a sign may be negative.
//
// A plan needs aligned addresses, which depend on the launch's arguments: first all of them are
// taken for multiples of what the widest access has; those that the plan does not rely on are then
// left out one by one, the others weakened as far as it stays the same. What remains is what the
// table demands of the launch. Likewise for how large indices may be.

#include "synth/coarsen/wide.h"

#include "grammar/next.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace ptxasw::synth {
namespace {

constexpr std::uint64_t half = std::uint64_t{1} << 31;

/// A sum of products as it is read.
class Sum {
public:
  Sum(CopyViews &views, const KernelContext &context, const CoarsenForm &form)
      : views_(views), pool_(views.emulation().pool()), context_(context), form_(form) {}

  bool read(Expr number) {
    if (number->width != 32)
      return false;
    number = without_rounds()(number);
    for (std::uint32_t axis = 0; axis < 3; ++axis)
      number = joined(number, axis);
    const auto all = summands(number);
    return (number->kind != ExprKind::sum || number->value.low == 0) && !all.empty() &&
           std::all_of(all.begin(), all.end(), [&](const auto &one) { return add(one); });
  }

  IndexBound bound() const {
    IndexBound result;
    for (const auto &[factors, coefficient] : terms_)
      result.terms.push_back({static_cast<std::uint32_t>(coefficient), factors});
    return result;
  }

  /// What the group of points along x is multiplied by alone.
  std::uint64_t of_columns() const {
    const auto found = terms_.find({index_along(0)});
    return found == terms_.end() ? 0 : found->second;
  }

private:
  static LaunchNumber index_along(std::uint32_t axis) { return {true, axis, 0}; }

  /// Loops that have one round went round no time.
  Substitution without_rounds() const {
    Substitution none(pool_);
    const ControlFlowGraph &cfg = views_.emulation().cfg();
    std::map<std::uint32_t, std::uint32_t> instead; // of branches to another iteration
    if (form_.once)
      for (const GridIteration &round : rounds_over_grid(context_))
        instead.emplace(round.branch, round.instead);
    for (LoopId loop = 0; !instead.empty() && loop < cfg.loops().size(); ++loop)
      if (const Expr trips = views_.emulation().trip_count(loop);
          trips && context_.once(fmt::format("one round of {}", loop),
                                 [&] { return has_one_round(cfg, loop, instead); }))
        none.map(trips, pool_.constant(trips->width, 0));
    return none;
  }

  /// Returns true if no way inside a loop leads from its header back to it, as branches to another
  /// iteration lead elsewhere. Whether some branch of each latch does is not enough: what leads
  /// back may be the other way that it has.
  bool has_one_round(const ControlFlowGraph &cfg, LoopId loop,
                     const std::map<std::uint32_t, std::uint32_t> &instead) const {
    const std::uint32_t header = cfg.blocks()[cfg.loops()[loop].header].first;
    const auto count = static_cast<std::uint32_t>(context_.kernel.instructions.size());
    std::set<std::uint32_t> seen;
    std::vector<std::uint32_t> open{header};
    while (!open.empty()) {
      const std::uint32_t i = open.back();
      open.pop_back();
      const auto round = instead.find(i);
      for (const std::uint32_t next : round != instead.end()
                                          ? std::vector{round->second}
                                          : next_after(context_.module, context_.kernel, i)) {
        if (next == header)
          return false;
        if (next < count && cfg.contains(loop, cfg.block_of(next)) && seen.insert(next).second)
          open.push_back(next);
      }
    }
    return true;
  }

  Expr index(std::uint32_t axis) const {
    return pool_.uninterpreted("index", 32, std::array{pool_.constant(32, axis)});
  }

  /// The same with the place of a thread along an axis as one number, if that is all that it asks
  /// of blocks of many threads.
  Expr joined(Expr number, std::uint32_t axis) const {
    const char name = "xyz"[axis];
    const Expr block = views_.special("ctaid", name), thread = views_.special("tid", name),
               threads = views_.special("ntid", name);
    if (thread->kind != ExprKind::symbol || threads->kind != ExprKind::symbol)
      return number;
    Substitution join(pool_);
    join.map(thread, pool_.sub(index(axis), pool_.mul(block, threads)));
    const Expr result = join(number);
    bool is_asked = false;
    for_each_node(result, [&](Expr node) { is_asked = is_asked || node == threads; });
    return is_asked ? number : result;
  }

  bool add(std::pair<Expr, std::uint64_t> summand) {
    auto [product, coefficient] = summand;
    const bool is_product = product->kind == ExprKind::product;
    std::vector<LaunchNumber> factors;
    for (const Expr part : is_product ? product->operands() : std::span<const Expr>(&product, 1)) {
      const auto factor = factor_of(part, coefficient);
      if (!factor)
        return false;
      factors.push_back(*factor);
    }
    std::sort(factors.begin(), factors.end());
    std::uint64_t &sum = terms_[factors];
    sum += coefficient;
    return coefficient != 0 && coefficient < half && sum < half; // none with a minus
  }

  /// What a symbol is at most; `coefficient` is divided by what it has to be a multiple of.
  std::optional<LaunchNumber> factor_of(Expr symbol, std::uint64_t &coefficient) const {
    if (symbol == views_.thread()) {
      const bool is_multiple = coefficient % form_.along_x == 0;
      coefficient /= form_.along_x;
      return is_multiple ? std::optional(index_along(0)) : std::nullopt;
    }
    if (symbol == views_.first())
      return form_.kind == CoarsenForm::Kind::rows
                 ? std::optional(index_along(static_cast<std::uint32_t>(form_.axis)))
                 : std::nullopt;
    for (std::uint32_t axis = 0; axis < 3; ++axis)
      if (symbol == index(axis) || symbol == views_.special("ctaid", "xyz"[axis]) ||
          symbol == views_.special("tid", "xyz"[axis]))
        return index_along(axis);
    const auto argument = views_.argument(symbol);
    return argument && argument->bytes == 4
               ? std::optional(LaunchNumber{false, argument->parameter, argument->offset})
               : std::nullopt;
  }

  CopyViews &views_;
  ExprPool &pool_;
  const KernelContext &context_;
  const CoarsenForm &form_;
  std::map<std::vector<LaunchNumber>, std::uint64_t> terms_; ///< factors are sorted
};

} // namespace

std::optional<IndexBound> bound_of(CopyViews &views, const KernelContext &context,
                                   const CoarsenForm &form, Expr number, std::int64_t least,
                                   std::int64_t most, bool is_signed) {
  Sum sum(views, context, form);
  if (!sum.read(number))
    return std::nullopt;
  IndexBound bound = sum.bound();
  const std::uint64_t second = form.shift > 0 ? form.along_x * sum.of_columns() : 0;
  if (least < -static_cast<std::int64_t>(is_signed ? half : second) ||
      most >= static_cast<std::int64_t>(half))
    return std::nullopt;
  if (most > 0)
    bound.terms.push_back({static_cast<std::uint32_t>(most), {}});
  std::sort(bound.terms.begin(), bound.terms.end());
  const bool fits = std::all_of(bound.terms.begin(), bound.terms.end(),
                                [](const IndexTerm &term) { return term.coefficient < half; });
  return fits ? std::optional(std::move(bound)) : std::nullopt;
}

void add_bound(std::vector<IndexBound> &all, const IndexBound &bound) {
  const auto term_in = [](auto &of, const IndexTerm &term) {
    return std::find_if(of.terms.begin(), of.terms.end(),
                        [&](const IndexTerm &other) { return other.factors == term.factors; });
  };
  const auto has_products_of = [&](const IndexBound &a, const IndexBound &b) {
    return std::all_of(b.terms.begin(), b.terms.end(),
                       [&](const IndexTerm &term) { return term_in(a, term) != a.terms.end(); });
  };
  for (IndexBound &there : all) {
    if (!has_products_of(there, bound) && !has_products_of(bound, there))
      continue;
    for (const IndexTerm &term : bound.terms)
      if (const auto same = term_in(there, term); same == there.terms.end())
        there.terms.push_back(term);
      else
        same->coefficient = std::max(same->coefficient, term.coefficient);
    std::sort(there.terms.begin(), there.terms.end());
    return;
  }
  all.push_back(bound);
}

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
