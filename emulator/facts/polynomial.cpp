// A product of two coefficients may be 0 modulo 2^64, and a sum of two may be 0: no term keeps it.

#include "emulator/facts/polynomial.h"

#include <algorithm>
#include <iterator>

namespace ptxasw::facts {

template <class Coefficient>
void PolynomialOver<Coefficient>::add(const Monomial &monomial, const Coefficient &coefficient) {
  if (coefficient == 0)
    return;
  const auto [entry, is_new] = terms_.try_emplace(monomial, coefficient);
  if (is_new)
    return;
  entry->second += coefficient;
  if (entry->second == 0)
    terms_.erase(entry);
}

template <class Coefficient>
PolynomialOver<Coefficient> &PolynomialOver<Coefficient>::operator+=(const PolynomialOver &other) {
  if (&other == this)
    return *this = times(PolynomialOver(Number(2)));
  for (const auto &[monomial, coefficient] : other.terms_)
    add(monomial, coefficient);
  return *this;
}

template <class Coefficient>
PolynomialOver<Coefficient> &PolynomialOver<Coefficient>::operator-=(const PolynomialOver &other) {
  return *this += other.times(PolynomialOver(Number(-1)));
}

template <class Coefficient>
PolynomialOver<Coefficient> PolynomialOver<Coefficient>::times(const PolynomialOver &other) const {
  PolynomialOver result;
  for (const auto &[m, c] : terms_)
    for (const auto &[n, d] : other.terms_) {
      Monomial product;
      product.reserve(m.size() + n.size());
      std::merge(m.begin(), m.end(), n.begin(), n.end(), std::back_inserter(product));
      result.add(product, c * d);
    }
  return result;
}

template <class Coefficient>
auto PolynomialOver<Coefficient>::number() const -> std::optional<Number> {
  if (terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty()))
    return constant();
  return std::nullopt;
}

template <class Coefficient> auto PolynomialOver<Coefficient>::constant() const -> Number {
  const auto found = terms_.find({});
  return found == terms_.end() ? Number(0) : static_cast<Number>(found->second);
}

template <class Coefficient> std::optional<AtomId> PolynomialOver<Coefficient>::atom() const {
  if (terms_.size() == 1 && terms_.begin()->first.size() == 1 && terms_.begin()->second == 1)
    return terms_.begin()->first[0];
  return std::nullopt;
}

template class PolynomialOver<Rational>;
template class PolynomialOver<std::uint64_t>;

Polynomial low_bits_of(const Polynomial &polynomial, unsigned bits) {
  return polynomial.with_coefficients(
      [&](std::uint64_t c) { return c & ((std::uint64_t{1} << bits) - 1); });
}

Polynomial narrow(const Polynomial &polynomial) {
  return polynomial.with_coefficients([](std::uint64_t c) {
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(c)});
  });
}

bool is_whole(const Amount &amount) {
  return std::all_of(amount.terms().begin(), amount.terms().end(),
                     [](const auto &term) { return term.second.is_whole(); });
}

} // namespace ptxasw::facts
