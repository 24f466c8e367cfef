// A term that is made by no instruction of the list is a word of its own, which is always right.

#include "synth/test_reader.h"

#include <algorithm>

namespace ptxasw::synth {
namespace {

using facts::Atom, facts::Atoms, facts::Condition, facts::Polynomial;
using proof::Term, proof::TermKind, proof::Terms;

constexpr double exact_limit = 9e18;    ///< less than 2^63
constexpr std::size_t longest_sum = 64; ///< of what is taken apart

} // namespace

Polynomial TermReader::wide(Term term) {
  if (const auto found = known_.find(term); found != known_.end())
    return found->second;
  Polynomial result = taken_apart(term);
  if (result.terms().size() > longest_sum)
    result = atoms.word(term);
  known_.emplace(term, result);
  return result;
}

Polynomial TermReader::narrow(Term term) {
  const auto number = terms.number_of(term);
  return number ? Polynomial(static_cast<std::int32_t>(*number)) : atoms.narrow(term);
}

Polynomial TermReader::in_terms(const Polynomial &value, const Atoms &of, const Held &held) {
  return value.worth<Polynomial>([&](facts::AtomId one) {
    const Atom &atom = of[one];
    if (atom.kind == Atom::Kind::rounds)
      return atoms.rounds(in_terms(atom.distance, of, held), atom.step);
    return atom.kind == Atom::Kind::word ? wide(held(atom.leaf)) : narrow(held(atom.leaf));
  });
}

Condition TermReader::in_terms(Condition condition, const Atoms &of, const Held &held) {
  condition.value = in_terms(condition.value, of, held);
  condition.way = in_terms(condition.way, of, held);
  return condition;
}

// x of max(x, 0).
std::optional<Term> TermReader::at_least_zero(Term term) const {
  const auto from = terms.made_by("max.s64", term);
  return from && from->size() == 2 && terms.number_of((*from)[1]) == 0 ? std::optional((*from)[0])
                                                                       : std::nullopt;
}

Polynomial TermReader::taken_apart(Term term) {
  if (const auto number = terms.number_of(term))
    return Polynomial(*number);
  if (const auto [base, offset] = terms.with_number(term); offset != 0)
    return wide(base) + Polynomial(offset);
  if (terms.kind(term) == TermKind::sum) {
    const proof::TermKey key = terms.key(term);
    return wide(Terms::part(key[1])) + wide(Terms::part(key[2]));
  }
  if (const auto from = terms.made_by("sub.s64", term))
    return wide((*from)[0]) - wide((*from)[1]);
  if (const auto from = terms.made_by("mul.lo.s64", term))
    return wide((*from)[0]) * wide((*from)[1]);
  if (const auto from = terms.made_by("cvt.s64.s32", term))
    return narrow((*from)[0]);
  if (const auto distance = at_least_zero(term))
    return atoms.rounds(wide(*distance), 1);
  if (const auto from = terms.made_by("div.s64", term)) {
    const auto distance = at_least_zero((*from)[0]);
    const auto step = terms.number_of((*from)[1]);
    if (distance && step && *step > 0)
      return atoms.rounds(wide(*distance), *step);
  }
  return atoms.word(term);
}

// Of an order what is smaller is a number. What says that rounds are few is their number alone,
// negated, and at most with a number added that is not negative: as there are less than 2^63 of
// them, that is right however many there are. All other magnitudes rest on it, which every
// condition on iterations comes with. So what may wrap around is a negative number less the
// iterations of a loop.
void Tested::add(Term predicate) {
  if (!seen_.insert(predicate).second)
    return;
  if (const auto both = reader_.terms.made_by("and.pred", predicate)) {
    add((*both)[0]);
    add((*both)[1]);
  } else if (const auto either = reader_.terms.made_by("or.pred", predicate)) {
    either_.emplace_back((*either)[0], (*either)[1]);
    either_.emplace_back((*either)[1], (*either)[0]);
  } else if (const auto ge = reader_.terms.made_by("setp.ge.s64", predicate)) {
    const Polynomial a = reader_.wide((*ge)[0]), b = reader_.wide((*ge)[1]);
    const auto rest = (Polynomial(a.constant()) - a).atom();
    const bool may_wrap_around =
        a.constant() < 0 && rest && reader_.atoms[*rest].kind == Atom::Kind::rounds;
    if (b.number() && !may_wrap_around &&
        reader_.atoms.magnitude(a) + reader_.atoms.magnitude(b) < exact_limit)
      not_negative_.push_back(a - b);
  } else if (const auto eq = reader_.terms.made_by("setp.eq.s64", predicate)) {
    if (reader_.terms.number_of((*eq)[1]) != 0)
      return;
    zeros_.push_back(reader_.wide((*eq)[0]));
    const auto rest = reader_.terms.made_by("and.b64", (*eq)[0]);
    if (const auto mask = rest ? reader_.terms.number_of((*rest)[1]) : std::nullopt)
      multiples_.emplace_back(reader_.wide((*rest)[0]), *mask + 1);
  }
}

bool Tested::holds(const Condition &condition) const {
  const auto number = condition.value.number();
  switch (condition.kind) {
  case Condition::Kind::multiple:
    if (number)
      return *number % condition.of == 0;
    return std::any_of(multiples_.begin(), multiples_.end(), [&](const auto &known) {
      return known.first == condition.value && known.second == condition.of;
    });
  case Condition::Kind::zero:
    return condition.value.is_zero() ||
           std::find(zeros_.begin(), zeros_.end(), condition.value) != zeros_.end();
  case Condition::Kind::apart:
    return is_apart(condition);
  case Condition::Kind::not_negative:
    break;
  }
  if (number)
    return *number >= 0;
  return std::any_of(not_negative_.begin(), not_negative_.end(), [&](const Polynomial &known) {
    const auto more = (condition.value - known).number();
    return more && *more >= 0;
  });
}

// One of both: the distance is at least max(way, 0) + the bytes stored, or at most min(way, 0) -
// the bytes loaded. Where there is no way, the limits may be the bytes alone.
bool Tested::is_apart(const Condition &condition) const {
  Terms &terms = reader_.terms;
  const auto is = [&](Term predicate, std::string_view test, std::string_view opcode,
                      std::int64_t bytes) {
    const auto from = terms.made_by(test, predicate);
    if (!from || reader_.wide((*from)[0]) != condition.value)
      return false;
    if (const auto number = terms.number_of((*from)[1]))
      return condition.way.is_zero() && *number == bytes;
    const auto [base, added] = terms.with_number((*from)[1]);
    const auto way = terms.made_by(opcode, base);
    return added == bytes && way && way->size() == 2 && terms.number_of((*way)[1]) == 0 &&
           reader_.wide((*way)[0]) == condition.way;
  };
  return std::any_of(either_.begin(), either_.end(), [&](const auto &one) {
    return is(one.first, "setp.ge.s64", "max.s64", condition.stored) &&
           is(one.second, "setp.le.s64", "min.s64", -std::int64_t{condition.loaded});
  });
}

} // namespace ptxasw::synth
