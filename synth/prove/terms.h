#pragma once

// Values as terms: two registers with one term hold the same bits. Nothing is known of what an
// instruction computes except that equal operands give equal results; sums of an address and a
// number are kept so that an offset may stand in the instruction or be added before.

#include "grammar/module.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxasw::proof {

using Term = std::uint32_t;
/// Which kind of term it is and what it consists of: words, of which those with the highest bit set
/// are terms.
using TermKey = std::vector<std::uint64_t>;
inline constexpr std::uint64_t term_mark = std::uint64_t{1} << 63;

/// In the key of what is computed: the kind of an operand that is one value.
inline constexpr std::uint64_t of_value = 100;

/// What the first word of a key says.
enum class TermKind : std::uint8_t { fresh, number, real, computed, offset, sum, choice };

/// What is known where two functions stand: the terms of their registers, and which predicates are
/// decided.
struct Knowledge {
  /// Of the first function's registers, then of the second's, then of what else is kept (walk.h).
  std::vector<Term> values;
  std::map<Term, bool> truth;
  /// Loads of the second function, by index, that the first has not come to yet, in the order in
  /// which they were done. The last values are of each its address and what it read.
  std::vector<std::uint32_t> early;
};

class Terms {
public:
  /// `add.s64` is as good as any other instruction: (a + 4) + 4 is not a + 8.
  bool sums_as_written = false;
  /// One that is equal to itself alone.
  Term fresh() { return made(TermKind::fresh, {next_++}); }
  Term number(std::int64_t value) {
    return made(TermKind::number, {static_cast<std::uint64_t>(value)});
  }
  Term real(std::uint64_t bits, ScalarType type) {
    return made(TermKind::real, {bits, static_cast<std::uint64_t>(type)});
  }
  /// What an instruction makes of other terms; `key` says which and of what.
  Term computed(TermKey key) { return made(TermKind::computed, std::move(key)); }
  /// What an instruction with a register of `bits` for its result makes of values, which are
  /// registers or numbers: as Side::read() and Side::compute() have it.
  Term made_of(std::string_view opcode, const std::vector<Term> &values, unsigned bits);
  /// The values that such an instruction made a term of, if it did.
  std::optional<std::vector<Term>> made_by(std::string_view opcode, Term term);
  /// base + offset, 64 bits.
  Term plus(Term base, std::int64_t offset);
  /// a + b, 64 bits.
  Term sum(Term a, Term b);
  /// What is chosen by a predicate.
  Term choice(Term predicate, Term when, Term otherwise);
  /// The same term where it is known if a predicate holds: without choices by it. `known` are the
  /// answers for that predicate so far.
  Term decided(Term term, Term predicate, bool holds, std::map<Term, Term> &known);

  const TermKey &key(Term term) const { return keys_[term]; }
  TermKind kind(Term term) const { return static_cast<TermKind>(keys_[term][0]); }
  /// The term that a word of a key is.
  static Term part(std::uint64_t word) { return static_cast<Term>(word & ~term_mark); }
  /// The number that a term is, if it is one.
  std::optional<std::int64_t> number_of(Term term) const;
  /// A term as another one, that is no sum with a number, plus a number.
  std::pair<Term, std::int64_t> with_number(Term term) const;
  /// A number for a text, the same for equal texts.
  std::uint64_t text(std::string_view text);

  /// What holds on either of two ways that meet: which registers are equal, which of them are
  /// constant or decided, and what they were computed from. What is made from registers in more
  /// than `depth` steps counts as made from something else.
  struct Met {
    Knowledge known;
    bool is_less = false; ///< than `a`
  };
  Met meet(const Knowledge &a, const Knowledge &b, unsigned depth);

private:
  class Meeting;

  Term made(TermKind kind, TermKey rest);
  Term made(TermKey key);
  /// The term of a key, some terms in which became others.
  Term made_anew(TermKey key);

  std::map<TermKey, Term> terms_;
  std::vector<TermKey> keys_;
  std::map<std::string, std::uint64_t, std::less<>> texts_;
  std::uint64_t next_ = 0;
};

} // namespace ptxasw::proof
