// Polynomials are sorted sums of sorted products, so equal ones are equal as values. What does not
// fit, by degree, size or a coefficient that may overflow, becomes an atom or is not clean: then
// nothing is claimed.

#include "analysis/shape_algebra.h"

#include <algorithm>

namespace ptxasw::analysis::shape_algebra {
namespace {

constexpr std::size_t terms_budget = 24, degree_budget = 4;

std::int64_t wrapping(std::uint64_t n) { return static_cast<std::int64_t>(n); }

/// nctaid * ntid is the number of threads.
void contract(Monomial &product) {
  for (;;) {
    const auto extent = std::find(product.begin(), product.end(), block_extent);
    if (extent == product.end() ||
        std::find(product.begin(), product.end(), grid_extent) == product.end())
      return;
    product.erase(extent);
    product.erase(std::find(product.begin(), product.end(), grid_extent));
    product.insert(std::lower_bound(product.begin(), product.end(), thread_count), thread_count);
  }
}

} // namespace

Algebra::Algebra() {
  taints_.push_back({0, "the block's extents do not cancel", true});
  atoms_ = {{}, {}, {false, true, 0}, {false, true, 0}, {false, true, 0}};
}

AtomId Algebra::new_atom(bool clean, bool stable, std::int32_t taint) {
  atoms_.push_back({clean, stable, taint});
  return static_cast<AtomId>(atoms_.size() - 1);
}

std::int32_t Algebra::new_taint(Taint taint) {
  taints_.push_back(std::move(taint));
  return static_cast<std::int32_t>(taints_.size() - 1);
}

void Algebra::forget(std::size_t kept) {
  atoms_.resize(first_free);
  taints_.resize(1 + kept);
}

Polynomial Algebra::thread_index() {
  Polynomial p = of(global_index);
  p[{block_index, block_extent}] = -1;
  return p;
}

Polynomial Algebra::tainted(std::uint32_t line, std::string reason, bool certain) {
  return of(new_atom(false, false, new_taint({line, std::move(reason), certain})));
}

bool Algebra::is_clean(const Polynomial &p) const {
  for (const auto &[monomial, coefficient] : p)
    for (const AtomId atom : monomial)
      if (!atoms_[atom].clean)
        return false;
  return true;
}

bool Algebra::is_stable(const Polynomial &p) const {
  for (const auto &[monomial, coefficient] : p)
    for (const AtomId atom : monomial)
      if (!atoms_[atom].stable)
        return false;
  return true;
}

const Taint &Algebra::stain_of(const Polynomial &p) const {
  const Taint *found = nullptr;
  for (const auto &[monomial, coefficient] : p)
    for (const AtomId atom : monomial)
      if (!atoms_[atom].clean) {
        const Taint &taint = taints_[static_cast<std::size_t>(atoms_[atom].taint)];
        if (!found || (found->line == 0 && taint.line != 0) || (!found->certain && taint.certain))
          found = &taint;
      }
  return *found;
}

bool Algebra::may_change_unclean(const Monomial &monomial) const {
  return std::any_of(monomial.begin(), monomial.end(),
                     [&](AtomId atom) { return !atoms_[atom].clean && !atoms_[atom].stable; });
}

Polynomial Algebra::bounded(Polynomial p) {
  if (p.size() <= terms_budget)
    return p;
  Polynomial unclean;
  bool stable = true;
  for (const auto &[monomial, coefficient] : p) {
    const Polynomial term{{monomial, coefficient}};
    if (is_clean(term))
      stable &= is_stable(term);
    else
      unclean.emplace(monomial, coefficient);
  }
  if (unclean.size() >= terms_budget) {
    const Taint why = stain_of(unclean);
    return tainted(why.line, why.reason, why.certain);
  }
  return add(std::move(unclean), of(new_atom(true, stable, -1)));
}

Polynomial Algebra::add(Polynomial a, const Polynomial &b, std::int64_t factor) const {
  for (const auto &[monomial, coefficient] : b) {
    const bool met = a.contains(monomial);
    std::int64_t &sum = a[monomial];
    sum = wrapping(static_cast<std::uint64_t>(sum) +
                   static_cast<std::uint64_t>(coefficient) * static_cast<std::uint64_t>(factor));
    if (sum != 0)
      continue;
    // Something unclean that changes may stand for two times: it must not vanish.
    if (met && may_change_unclean(monomial))
      sum = 1;
    else
      a.erase(monomial);
  }
  return a;
}

std::optional<Polynomial> Algebra::mul(const Polynomial &a, const Polynomial &b) const {
  if ((!is_clean(a) && !is_stable(b)) || (!is_clean(b) && !is_stable(a)))
    return std::nullopt;
  Polynomial result;
  for (const auto &[m, c] : a)
    for (const auto &[n, d] : b) {
      Monomial product = m;
      product.insert(product.end(), n.begin(), n.end());
      std::sort(product.begin(), product.end());
      contract(product);
      if (product.size() > degree_budget)
        return std::nullopt;
      result =
          add(std::move(result),
              {{product, wrapping(static_cast<std::uint64_t>(c) * static_cast<std::uint64_t>(d))}});
    }
  if (result.size() > terms_budget)
    return std::nullopt;
  return result;
}

} // namespace ptxasw::analysis::shape_algebra
