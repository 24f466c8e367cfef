// A condition that is known is the number 1 wherever it stands in an expression, and its negation
// is 0. The expression that results is equal to the first one only under the conditions, so it is
// never used without them.

#include "analysis/prove/known_conditions.h"

#include <algorithm>

namespace ptxasw::analysis {

void Rewriting::map(Expr from, Expr to) {
  if (from->kind == ExprKind::constant)
    return;
  rules_.try_emplace(from, to);
  memo_.clear();
}

// By hand rather than by recursion: expressions may be deep.
Expr Rewriting::operator()(Expr root) {
  if (rules_.empty())
    return root;
  const auto ruled = [&](Expr node) {
    const auto found = rules_.find(node);
    return found == rules_.end() ? node : found->second;
  };
  std::vector<Expr> work{root}, children;
  while (!work.empty()) {
    const Expr node = work.back();
    if (memo_.contains(node)) {
      work.pop_back();
      continue;
    }
    if (const Expr to = ruled(node); to != node || node->child_count == 0) {
      memo_.emplace(node, to);
      continue;
    }
    children.clear();
    bool changed = false;
    const std::size_t before = work.size();
    for (const Expr child : node->operands()) {
      const auto found = memo_.find(child);
      if (found == memo_.end()) {
        work.push_back(child);
        continue;
      }
      children.push_back(found->second);
      changed |= found->second != child;
    }
    if (work.size() == before)
      memo_.emplace(node, changed ? ruled(terms_->rebuild(node, children)) : node);
  }
  return memo_.at(root);
}

// What is learnt of a conjunction is learnt of its parts: they may stand elsewhere.
void KnownConditions::assume(Expr condition, Expr from, Expr to) {
  if (!from)
    condition = rewriting_(condition);
  if (condition->kind == ExprKind::constant) {
    contradict_ |= condition->value.is_zero();
    return;
  }
  if (!from && condition->kind == ExprKind::bit_and) {
    for (const Expr part : condition->operands())
      assume(part);
    return;
  }
  list_.push_back({condition, from, to});
  const Expr no = terms_->constant(1, 0);
  if (from) {
    rewriting_.map(from, to);
    return;
  }
  rewriting_.map(condition, terms_->constant(1, 1));
  rewriting_.map(terms_->bit_not(condition), no);
  if (condition->kind == ExprKind::eq0) { // a number that is known
    const Expr zero = condition->children[0];
    const bool is_sum =
        zero->kind == ExprKind::sum && zero->child_count == 1 && zero->coefficients[0] == 1;
    if (const Expr number = is_sum ? zero->children[0] : zero; number->kind == ExprKind::symbol)
      rewriting_.map(number, is_sum ? terms_->neg(terms_->constant(zero->width, zero->value))
                                    : terms_->constant(zero->width, 0));
  }
  if (condition->kind == ExprKind::slt || condition->kind == ExprKind::ult) {
    const Expr a = condition->children[0], b = condition->children[1];
    rewriting_.map(condition->kind == ExprKind::slt ? terms_->slt(b, a) : terms_->ult(b, a), no);
    rewriting_.map(terms_->eq(a, b), no);
  }
}

Expr KnownConditions::all_from(std::size_t begin) const {
  Expr all = terms_->constant(1, 1);
  for (std::size_t i = begin; i < list_.size(); ++i)
    all = terms_->bit_and(all, list_[i].condition);
  return all;
}

std::optional<std::pair<KnownConditions, Expr>> KnownConditions::either(const KnownConditions &a,
                                                                        const KnownConditions &b) {
  std::size_t same = 0;
  while (same < a.list_.size() && same < b.list_.size() && a.list_[same] == b.list_[same])
    ++same;
  if (same == a.list_.size() || same == b.list_.size())
    return std::nullopt;
  FloatTerms &terms = *a.terms_;
  const Expr parted = a.list_[same].condition;
  if (a.list_[same].from || b.list_[same].condition != terms.bit_not(parted))
    return std::nullopt;
  KnownConditions result(terms);
  for (std::size_t i = 0; i < same; ++i)
    result.assume(a.list_[i].condition, a.list_[i].from, a.list_[i].to);
  const Expr both = terms.ite(parted, a.all_from(same + 1), b.all_from(same + 1));
  result.assume(both);
  return std::pair(std::move(result), parted);
}

} // namespace ptxasw::analysis
