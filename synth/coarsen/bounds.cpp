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
//   K * which group of K threads of a block                    %tid, its first thread's
//   W * which group of W points along x                        N - 1
//   an argument of 32 bits, as an unsigned number              itself
//   how often a loop over the grid went round                  0 in versions `once`
//
// That the sum is not negative follows where the constant is none; and where the first thread along
// x is not in lockstep, its group is at least the second one. A number with a sign may be negative.

#include "synth/coarsen/bounds.h"

#include "grammar/next.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>
#include <vector>

namespace ptxasw::synth {
namespace {

constexpr std::uint64_t half = std::uint64_t{1} << 31;

/// A sum of products as it is read, before places in blocks are put together.
class Sum {
public:
  Sum(CopyViews &views, const KernelContext &context, const CoarsenForm &form)
      : views_(views), context_(context), form_(form) {
    for (const char axis : {'x', 'y', 'z'})
      for (const char *what : {"ctaid", "tid", "ntid"})
        if (const Expr symbol = views.special(what, axis); symbol->kind == ExprKind::symbol)
          places_.emplace(symbol, fmt::format("{}.{}", what, axis));
    find_rounds();
  }

  bool read(Expr number) {
    if (number->width != 32)
      return false;
    if (number->kind != ExprKind::sum)
      return add(1, number);
    if (number->value.low != 0)
      return false;
    for (std::uint32_t i = 0; i < number->child_count; ++i)
      if (!add(number->coefficients[i], number->children[i]))
        return false;
    return true;
  }

  /// Nothing where something else than global indices is left.
  std::optional<IndexBound> bound() {
    IndexBound result;
    for (std::size_t axis = 0; axis < 3; ++axis)
      join(axis);
    for (const auto &[factors, coefficient] : terms_) {
      if (coefficient >= half) // each part was less, but their sum need not be
        return std::nullopt;
      IndexTerm &term = result.terms.emplace_back();
      term.coefficient = static_cast<std::uint32_t>(coefficient);
      for (const Factor &factor : factors)
        if (factor.word.empty())
          term.factors.push_back(factor.number);
        else
          return std::nullopt;
    }
    return result;
  }

  /// What the group of points along x is multiplied by alone.
  std::uint64_t of_columns() const {
    const auto found = terms_.find({thread_along(0)});
    return found == terms_.end() ? 0 : found->second;
  }

private:
  /// A number of the launch, or a part of a thread's place: "ctaid.y".
  struct Factor {
    std::string word;
    LaunchNumber number;
    auto operator<=>(const Factor &) const = default; // NOLINT(modernize-use-nullptr)
  };
  using Factors = std::vector<Factor>; ///< sorted

  static Factor thread_along(std::uint32_t axis) { return {"", {true, axis, 0}}; }

  /// How often loops go round that have one round.
  void find_rounds() {
    if (!form_.once)
      return;
    const ControlFlowGraph &cfg = views_.emulation().cfg();
    for (const GridRound &round : rounds_over_grid(context_))
      instead_.emplace(round.branch, round.instead);
    for (LoopId loop = 0; loop < cfg.loops().size(); ++loop)
      if (const Expr trips = views_.emulation().trip_count(loop); trips && has_one_round(cfg, loop))
        none_.insert(trips);
  }

  /// Returns true if no way inside a loop leads from its header back to it, as branches to another
  /// round lead elsewhere. Whether some branch of each latch does is not enough: what leads back
  /// may be the other way that it has.
  bool has_one_round(const ControlFlowGraph &cfg, LoopId loop) const {
    const std::uint32_t header = cfg.blocks()[cfg.loops()[loop].header].first;
    const auto count = static_cast<std::uint32_t>(context_.kernel.instructions.size());
    std::set<std::uint32_t> seen;
    std::vector<std::uint32_t> open{header};
    while (!open.empty()) {
      const std::uint32_t i = open.back();
      open.pop_back();
      const auto round = instead_.find(i);
      for (const std::uint32_t next : round != instead_.end()
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

  bool goes_round(Expr factor) const {
    return none_.contains(factor) || (factor->kind == ExprKind::extract && factor->index == 0 &&
                                      none_.contains(factor->children[0]));
  }

  bool add(std::uint64_t coefficient, Expr product) {
    if (coefficient >= half) // one with a minus
      return false;
    const bool is_product = product->kind == ExprKind::product;
    const auto parts = is_product ? product->operands() : std::span<const Expr>(&product, 1);
    if (std::any_of(parts.begin(), parts.end(), [&](Expr one) { return goes_round(one); }))
      return true;
    Factors factors;
    for (const Expr part : parts) {
      const auto factor = factor_of(part, coefficient);
      if (!factor)
        return false;
      factors.push_back(*factor);
    }
    std::sort(factors.begin(), factors.end());
    std::uint64_t &sum = terms_[factors];
    sum += coefficient;
    return coefficient != 0 && sum < half;
  }

  /// What a symbol is a part of; `coefficient` is divided by what it has to be a multiple of.
  std::optional<Factor> factor_of(Expr symbol, std::uint64_t &coefficient) const {
    const auto of_group = [&](std::uint64_t size, Factor factor) -> std::optional<Factor> {
      if (coefficient % size != 0)
        return std::nullopt;
      coefficient /= size;
      return factor;
    };
    const auto axis = static_cast<std::uint32_t>(form_.axis);
    if (symbol == views_.thread())
      return of_group(form_.along_x, thread_along(0));
    if (symbol == views_.first())
      return form_.within_block()
                 ? of_group(form_.copies, {fmt::format("tid.{}", "xyz"[form_.axis]), {}})
             : form_.kind == CoarsenForm::Kind::rows ? std::optional(thread_along(axis))
                                                     : std::nullopt;
    if (const auto place = places_.find(symbol); place != places_.end())
      return Factor{place->second, {}};
    const auto field = symbol->kind == ExprKind::symbol ? views_.emulation().parameter_field(symbol)
                                                        : std::nullopt;
    const auto &parameters = context_.kernel.parameters;
    for (std::uint32_t i = 0; field && i < parameters.size(); ++i)
      if (parameters[i].name == field->parameter && field->offset >= 0 && field->width == 32)
        return Factor{"", {false, i, static_cast<std::uint32_t>(field->offset)}};
    return std::nullopt;
  }

  /// Puts blocks and threads along an axis together.
  void join(std::size_t axis) {
    const char name = "xyz"[axis];
    const Factor block{fmt::format("ctaid.{}", name), {}}, thread{fmt::format("tid.{}", name), {}},
        threads{fmt::format("ntid.{}", name), {}},
        index = thread_along(static_cast<std::uint32_t>(axis));
    const auto without = [](Factors factors, const Factor &one) -> std::optional<Factors> {
      const auto found = std::find(factors.begin(), factors.end(), one);
      if (found == factors.end())
        return std::nullopt;
      factors.erase(found);
      return factors;
    };
    const auto move = [&](const Factors &from, Factors others) {
      others.push_back(index);
      std::sort(others.begin(), others.end());
      terms_[others] += terms_.at(from);
      terms_.erase(from);
    };
    const auto all = terms_;
    for (const auto &[factors, coefficient] : all) {
      const auto rest = without(factors, block);
      const auto others = rest ? without(*rest, threads) : std::nullopt;
      if (!others || !terms_.contains(factors)) // it may have been another one's part
        continue;
      Factors beside = *others;
      beside.push_back(thread);
      std::sort(beside.begin(), beside.end());
      if (const auto found = terms_.find(beside);
          found != terms_.end() && found->second == coefficient) {
        terms_.erase(found);
        move(factors, *others);
      }
    }
    const auto left = terms_;
    for (const auto &[factors, coefficient] : left)
      for (const Factor &alone : {block, thread})
        if (const auto others = without(factors, alone); others && terms_.contains(factors))
          move(factors, *others);
  }

  CopyViews &views_;
  const KernelContext &context_;
  const CoarsenForm &form_;
  std::map<std::uint32_t, std::uint32_t> instead_; ///< of branches to another round
  std::map<Expr, std::string> places_;
  std::set<Expr> none_;
  std::map<Factors, std::uint64_t> terms_;
};

} // namespace

std::optional<IndexBound> bound_of(CopyViews &views, const KernelContext &context,
                                   const CoarsenForm &form, Expr number, std::int64_t least,
                                   std::int64_t most, bool is_signed) {
  Sum sum(views, context, form);
  if (!sum.read(number))
    return std::nullopt;
  auto bound = sum.bound();
  if (!bound)
    return std::nullopt;
  const std::uint64_t second = form.shift > 0 ? form.along_x * sum.of_columns() : 0;
  if (least < -static_cast<std::int64_t>(is_signed ? half : second) ||
      most >= static_cast<std::int64_t>(half))
    return std::nullopt;
  if (most > 0)
    bound->terms.push_back({static_cast<std::uint32_t>(most), {}});
  std::sort(bound->terms.begin(), bound->terms.end());
  const bool fits = std::all_of(bound->terms.begin(), bound->terms.end(),
                                [](const IndexTerm &term) { return term.coefficient < half; });
  return fits ? bound : std::nullopt;
}

bool follows(const IndexBound &bound, const IndexBound &from) {
  return std::all_of(bound.terms.begin(), bound.terms.end(), [&](const IndexTerm &term) {
    return std::any_of(from.terms.begin(), from.terms.end(), [&](const IndexTerm &other) {
      return other.factors == term.factors && other.coefficient >= term.coefficient;
    });
  });
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

} // namespace ptxasw::synth
