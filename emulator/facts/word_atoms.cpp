// Atoms are told apart by what they are, so that equal ones have one number.

#include "emulator/facts/word_atoms.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ptxasw::facts {

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

std::set<std::uint32_t> Atoms::leaves(const Polynomial &polynomial) const {
  std::set<std::uint32_t> result;
  for (const auto &[product, factor] : polynomial.terms())
    for (const AtomId one : product)
      if (atoms_[one].kind == Atom::Kind::rounds)
        result.merge(leaves(atoms_[one].distance));
      else
        result.insert(atoms_[one].leaf);
  return result;
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

} // namespace ptxasw::facts
