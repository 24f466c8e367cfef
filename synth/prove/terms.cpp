// Terms are numbered in the order in which they are made, one for each key. Where two flows meet,
// two registers stay equal if they are in both, and what they were computed from stays known if it
// is the same in both; so what is known only ever becomes less, and every search over it ends.

#include "synth/prove/terms.h"

#include <algorithm>
#include <set>

namespace ptxasw::proof {

Term Terms::made(TermKey key) {
  const auto [found, added] = terms_.try_emplace(std::move(key), static_cast<Term>(keys_.size()));
  if (added)
    keys_.push_back(found->first);
  return found->second;
}

Term Terms::made(TermKind kind, TermKey rest) {
  rest.insert(rest.begin(), static_cast<std::uint64_t>(kind));
  return made(std::move(rest));
}

Term Terms::made_anew(TermKey key) {
  switch (static_cast<TermKind>(key[0])) {
  case TermKind::offset:
    return plus(part(key[1]), static_cast<std::int64_t>(key[2] << 32 | key[3]));
  case TermKind::sum:
    return sum(part(key[1]), part(key[2]));
  case TermKind::choice:
    return choice(part(key[1]), part(key[2]), part(key[3]));
  default:
    return made(std::move(key));
  }
}

Term Terms::made_of(std::string_view opcode, const std::vector<Term> &values, unsigned bits) {
  constexpr auto reg = static_cast<std::uint64_t>(Operand::Kind::reg);
  TermKey key{text(opcode), values.size() + 1, reg, 0, 0, 0, bits, 1};
  for (const Term value : values)
    key.insert(key.end(), {0, 0, of_value, term_mark | value});
  key.insert(key.end(), {0, bits});
  return computed(std::move(key));
}

std::optional<std::vector<Term>> Terms::made_by(std::string_view opcode, Term term) {
  if (kind(term) != TermKind::computed || keys_[term][1] != text(opcode))
    return std::nullopt;
  const TermKey key = keys_[term];
  std::vector<Term> values;
  for (const std::uint64_t word : key)
    if ((word & term_mark) != 0)
      values.push_back(part(word));
  return made_of(opcode, values, static_cast<unsigned>(key.back())) == term
             ? std::optional(std::move(values))
             : std::nullopt;
}

Term Terms::plus(Term base, std::int64_t offset) {
  constexpr std::uint64_t low = 0xffffffff; // in two words, so that no bit looks like a mark
  const auto [first, number] = with_number(base);
  const std::uint64_t sum = static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(number);
  return sum == 0 ? first : made(TermKind::offset, {term_mark | first, sum >> 32, sum & low});
}

Term Terms::sum(Term a, Term b) {
  if (const auto number = number_of(b))
    return plus(a, *number);
  if (const auto number = number_of(a))
    return plus(b, *number);
  return made(TermKind::sum, {term_mark | a, term_mark | b});
}

Term Terms::choice(Term predicate, Term when, Term otherwise) {
  if (const auto number = number_of(predicate))
    return *number != 0 ? when : otherwise;
  return when == otherwise ? when
                           : made(TermKind::choice,
                                  {term_mark | predicate, term_mark | when, term_mark | otherwise});
}

Term Terms::decided(Term term, Term predicate, bool holds, std::map<Term, Term> &known) {
  if (const auto found = known.find(term); found != known.end())
    return found->second;
  TermKey key = keys_[term];
  Term result = term;
  if (kind(term) == TermKind::choice && part(key[1]) == predicate) {
    result = decided(part(key[holds ? 2 : 3]), predicate, holds, known);
  } else if (kind(term) > TermKind::real) { // of terms
    for (std::uint64_t &word : key)
      if ((word & term_mark) != 0)
        word = term_mark | decided(part(word), predicate, holds, known);
    result = made_anew(std::move(key));
  }
  known.emplace(term, result);
  return result;
}

std::optional<std::int64_t> Terms::number_of(Term term) const {
  return kind(term) == TermKind::number ? std::optional(static_cast<std::int64_t>(keys_[term][1]))
                                        : std::nullopt;
}

std::pair<Term, std::int64_t> Terms::with_number(Term term) const {
  const TermKey &key = keys_[term];
  return kind(term) == TermKind::offset
             ? std::pair(part(key[1]), static_cast<std::int64_t>(key[2] << 32 | key[3]))
             : std::pair(term, std::int64_t{0});
}

std::uint64_t Terms::text(std::string_view text) {
  if (const auto found = texts_.find(text); found != texts_.end())
    return found->second;
  return texts_.try_emplace(std::string(text), texts_.size()).first->second;
}

/// Walks what two know of the registers side by side: each pair of terms that stand in the same
/// place becomes one term.
class Terms::Meeting {
public:
  Meeting(const Knowledge &a, const Knowledge &b, Terms &terms, unsigned depth)
      : a_(a), b_(b), terms_(terms), depth_(depth) {
    for (std::size_t i = 0; i < a.values.size(); ++i)
      held_.insert({a.values[i], b.values[i]});
  }

  Met run() {
    for (std::size_t i = 0; i < a_.values.size(); ++i)
      result_.known.values.push_back(meet({a_.values[i], b_.values[i]}, 0));
    const auto twice =
        std::adjacent_find(met_.begin(), met_.end(), [](const auto &x, const auto &y) {
          return x.first.first == y.first.first;
        });
    result_.is_less = result_.is_less || twice != met_.end();
    return std::move(result_);
  }

private:
  using Pair = std::pair<Term, Term>;

  bool is_made(Term term) const { return terms_.kind(term) > TermKind::real; }

  /// Returns true if both are made in the same way, of whatever.
  bool is_alike(const Pair &both) const {
    if (!is_made(both.first) || !is_made(both.second))
      return both.first == both.second; // a number may have the mark of a term
    const TermKey &left = terms_.key(both.first), &right = terms_.key(both.second);
    return std::equal(
        left.begin(), left.end(), right.begin(), right.end(),
        [](std::uint64_t x, std::uint64_t y) { return x == y || ((x & y) & term_mark) != 0; });
  }

  Term keep(const Pair &both, Term term) {
    met_.emplace(both, term);
    if (const auto left = a_.truth.find(both.first); left != a_.truth.end()) {
      const auto right = b_.truth.find(both.second);
      if (right != b_.truth.end() && right->second == left->second)
        result_.known.truth.emplace(term, left->second);
      else
        result_.is_less = true;
    }
    return term;
  }

  Term meet(const Pair &both, unsigned depth) {
    if (const auto found = met_.find(both); found != met_.end())
      return found->second;
    if (held_.contains(both))
      depth = 0;
    if (is_alike(both) && !is_made(both.first))
      return keep(both, both.first);
    if (!is_alike(both) || depth > depth_) {
      result_.is_less = result_.is_less || terms_.kind(both.first) != TermKind::fresh;
      return keep(both, terms_.fresh());
    }
    TermKey key = terms_.key(both.first);
    const TermKey other = terms_.key(both.second);
    for (std::size_t i = 0; i < key.size(); ++i)
      if ((key[i] & term_mark) != 0)
        key[i] = term_mark | meet({part(key[i]), part(other[i])}, depth + 1);
    return keep(both, terms_.made_anew(std::move(key)));
  }

  const Knowledge &a_, &b_;
  Terms &terms_;
  const unsigned depth_;
  std::set<Pair> held_; ///< by registers
  std::map<Pair, Term> met_;
  Met result_;
};

Terms::Met Terms::meet(const Knowledge &a, const Knowledge &b, unsigned depth) {
  return Meeting(a, b, *this, depth).run();
}

} // namespace ptxasw::proof
