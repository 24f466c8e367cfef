#pragma once

// Numbers of 64 bits as sums of products: what an address is made of, before it is known what its
// parts are. Sums, differences and products are right modulo 2^64.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ptxasw::inline synth::promote {

/// Index in Atoms.
using AtomId = std::uint32_t;

/// A sum of products of atoms, each with its factor modulo 2^64; none is 0.
class Polynomial {
public:
  Polynomial() = default;
  explicit Polynomial(std::int64_t number);
  static Polynomial of(AtomId atom);

  Polynomial operator+(const Polynomial &other) const;
  Polynomial operator-(const Polynomial &other) const;
  Polynomial operator*(const Polynomial &other) const;
  bool operator==(const Polynomial &) const = default;
  bool operator<(const Polynomial &other) const { return terms_ < other.terms_; }

  bool is_zero() const { return terms_.empty(); }
  /// The number that it is, if it is one.
  std::optional<std::int64_t> number() const;
  /// The atom that it is, if it is one alone.
  std::optional<AtomId> atom() const;
  /// The same modulo 2^32, with factors of least magnitude.
  Polynomial narrow() const;

  /// Products of atoms in ascending order and their factors.
  const std::map<std::vector<AtomId>, std::uint64_t> &terms() const { return terms_; }

private:
  std::map<std::vector<AtomId>, std::uint64_t> terms_;
};

/// What a polynomial is made of.
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

/// Rounds of a loop that are looked at; where there may be more, nothing is promoted.
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

  /// A bound of the magnitude of the polynomial as an integer, factors taken as signed and rounds
  /// as at most most_rounds; infinite where a word is in it.
  double magnitude(const Polynomial &polynomial) const;

private:
  std::vector<Atom> atoms_;
};

} // namespace ptxasw::synth::promote
