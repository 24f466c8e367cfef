// Coefficients are kept modulo 2^64, so that equal functions of 64 bits that are sums of products
// of the same atoms are equal here, whatever order they were computed in.

#include "synth/promote/polynomial.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ptxasw::inline synth::promote {

Polynomial::Polynomial(std::int64_t number) {
  if (number != 0)
    terms_.emplace(std::vector<AtomId>(), static_cast<std::uint64_t>(number));
}

Polynomial Polynomial::of(AtomId atom) {
  Polynomial result;
  result.terms_.emplace(std::vector<AtomId>{atom}, 1);
  return result;
}

Polynomial Polynomial::operator+(const Polynomial &other) const {
  Polynomial result = *this;
  for (const auto &[product, factor] : other.terms_)
    if ((result.terms_[product] += factor) == 0)
      result.terms_.erase(product);
  return result;
}

Polynomial Polynomial::operator-(const Polynomial &other) const {
  return *this + other * Polynomial(-1);
}

Polynomial Polynomial::operator*(const Polynomial &other) const {
  Polynomial result;
  for (const auto &[left, a] : terms_)
    for (const auto &[right, b] : other.terms_) {
      std::vector<AtomId> product = left;
      product.insert(product.end(), right.begin(), right.end());
      std::sort(product.begin(), product.end());
      if ((result.terms_[product] += a * b) == 0)
        result.terms_.erase(product);
    }
  return result;
}

std::optional<std::int64_t> Polynomial::number() const {
  if (terms_.empty())
    return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty())
    return static_cast<std::int64_t>(terms_.begin()->second);
  return std::nullopt;
}

std::optional<AtomId> Polynomial::atom() const {
  if (terms_.size() == 1 && terms_.begin()->first.size() == 1 && terms_.begin()->second == 1)
    return terms_.begin()->first[0];
  return std::nullopt;
}

Polynomial Polynomial::narrow() const {
  Polynomial result;
  for (const auto &[product, factor] : terms_)
    if (const auto low = static_cast<std::int32_t>(static_cast<std::uint32_t>(factor)); low != 0)
      result.terms_.emplace(product, static_cast<std::uint64_t>(std::int64_t{low}));
  return result;
}

AtomId Atoms::id(const Atom &atom) {
  const auto index =
      static_cast<AtomId>(std::find(atoms_.begin(), atoms_.end(), atom) - atoms_.begin());
  if (index == atoms_.size())
    atoms_.push_back(atom);
  return index;
}

Polynomial Atoms::rounds(Polynomial distance, std::int64_t step) {
  if (const auto number = distance.number())
    return Polynomial(std::max<std::int64_t>(*number, 0) / step);
  return Polynomial::of(id({Atom::Kind::rounds, 0, std::move(distance), step}));
}

double Atoms::magnitude(const Polynomial &polynomial) const {
  double sum = 0;
  for (const auto &[product, factor] : polynomial.terms()) {
    double size = std::abs(static_cast<double>(static_cast<std::int64_t>(factor)));
    for (const AtomId one : product)
      size *= atoms_[one].kind == Atom::Kind::word     ? std::numeric_limits<double>::infinity()
              : atoms_[one].kind == Atom::Kind::narrow ? 2147483648.0
                                                       : static_cast<double>(most_rounds);
    sum += size;
  }
  return sum;
}

} // namespace ptxasw::synth::promote
