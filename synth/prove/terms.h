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
#include <vector>

namespace ptxasw::proof {

using Term = std::uint32_t;
/// Which kind of term it is and what it consists of: words, of which those with the highest bit set
/// are terms.
using TermKey = std::vector<std::uint64_t>;
inline constexpr std::uint64_t term_mark = std::uint64_t{1} << 63;

class Terms {
public:
  /// `add.s64` is as good as any other instruction: (a + 4) + 4 is not a + 8.
  bool sums_as_written = false;
  /// One that is equal to itself alone.
  Term fresh() { return made({0, next_++}); }
  Term number(std::int64_t value) { return made({1, static_cast<std::uint64_t>(value)}); }
  Term real(std::uint64_t bits, ScalarType type) {
    return made({2, bits, static_cast<std::uint64_t>(type)});
  }
  /// What an instruction makes of other terms; `key` says which and of what.
  Term computed(TermKey key) {
    key.insert(key.begin(), 3);
    return made(std::move(key));
  }
  /// The term of a key that key() gave.
  Term made(TermKey key);
  const TermKey &key(Term term) const { return keys_[term]; }
  /// base + offset, 64 bits.
  Term plus(Term base, std::int64_t offset);
  /// a + b, 64 bits.
  Term sum(Term a, Term b);
  /// What is chosen by a predicate.
  Term choice(Term predicate, Term when, Term otherwise);
  /// The same term where it is known if a predicate holds: without choices by it. `known` are the
  /// answers for that predicate so far.
  Term decided(Term term, Term predicate, bool holds, std::map<Term, Term> &known);
  /// The number that a term is, if it is one.
  std::optional<std::int64_t> number_of(Term term) const;
  /// Returns true if a term is a number, of either kind.
  bool is_constant(Term term) const { return keys_[term][0] == 1 || keys_[term][0] == 2; }
  /// A number for a text, the same for equal texts.
  std::uint64_t text(std::string_view text);

private:
  std::map<TermKey, Term> terms_;
  std::vector<TermKey> keys_;
  std::map<std::string, std::uint64_t, std::less<>> texts_;
  std::uint64_t next_ = 0;
};

/// What is known where two functions stand: the terms of their registers, and which predicates are
/// decided.
struct Knowledge {
  std::vector<Term> values; ///< of the first function's registers, then of the second's
  std::map<Term, bool> truth;
};

/// The same without terms: which registers are equal, which of them are constant or decided, and
/// what they were computed from, as far as that is still known.
class Classes {
public:
  Classes() = default;
  /// What is made from registers in more than `depth` steps counts as made from something else.
  Classes(const Knowledge &known, const Terms &terms, unsigned depth);
  /// Only what also holds here; returns true if that is less than before.
  bool meet(const Knowledge &known, const Terms &terms);
  /// Terms for the classes.
  Knowledge knowledge(Terms &terms) const;

private:
  using ClassId = std::uint32_t;
  struct Class {
    std::optional<Term> constant;
    std::optional<bool> truth;
    TermKey made_from; ///< with classes in place of terms; empty: not known
    bool operator==(const Class &) const = default;
  };
  class Builder;
  class Meeting;

  unsigned depth_ = 0;
  std::vector<ClassId> class_of_; ///< by register
  std::vector<Class> classes_;
};

} // namespace ptxasw::proof
