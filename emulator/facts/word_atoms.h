#pragma once

// What numbers of 64 bits are made of before it is known what their parts are: words, numbers of 32
// bits, and iterations of loops.

#include "emulator/facts/polynomial.h"

#include <set>

namespace ptxasw::facts {

/// What a polynomial of words is made of.
struct Atom {
  enum class Kind : std::uint8_t {
    word,   ///< 64 bits of which nothing is known
    narrow, ///< 32 bits, sign-extended
    rounds, ///< max(distance, 0) / step, rounded down; both signed
  };
  Kind kind = Kind::word;
  std::uint32_t leaf = 0; ///< what the bits are: a register or a term
  Polynomial distance;
  std::int64_t step = 1; ///< positive
  bool operator==(const Atom &) const = default;
};

/// Iterations of a loop that are looked at; where there may be more, nothing is known of their
/// number.
inline constexpr std::int64_t most_rounds = std::int64_t{1} << 28;

/// The atoms of some polynomials, each once.
class Atoms {
public:
  AtomId id(const Atom &atom);
  const Atom &operator[](AtomId id) const { return atoms_[id]; }

  Polynomial word(std::uint32_t leaf) {
    return Polynomial::of(id({Atom::Kind::word, leaf, {}, 1}));
  }
  Polynomial narrow(std::uint32_t leaf) {
    return Polynomial::of(id({Atom::Kind::narrow, leaf, {}, 1}));
  }
  Polynomial rounds(Polynomial distance, std::int64_t step);

  /// What the bits are of all words and numbers that a polynomial is made of, those of which it
  /// has iterations among them.
  std::set<std::uint32_t> leaves(const Polynomial &polynomial) const;

  /// A bound of the magnitude of the polynomial as an integer, factors taken as signed and
  /// iterations as at most most_rounds; infinite where a word is in it.
  double magnitude(const Polynomial &polynomial) const;

private:
  std::vector<Atom> atoms_;
};

} // namespace ptxasw::facts
