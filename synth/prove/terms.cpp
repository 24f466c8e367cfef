// Terms are numbered in the order in which they are made, one for each key. Where two flows meet,
// two registers stay equal if they are in both, and what they were computed from stays known if it
// is the same in both; so what is known only ever becomes less, and every search over it ends.
// Pointers that a loop moves by the same amount are computed from something else in each round: of
// those the distances stay known, from the first one of which nothing else is.

#include "synth/prove/terms.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace ptxasw::proof {
namespace {

constexpr std::uint64_t sum_mark = 4; ///< begins the key of a sum with a number

} // namespace

Term Terms::made(TermKey key) {
  const auto [found, added] = terms_.try_emplace(std::move(key), static_cast<Term>(keys_.size()));
  if (added)
    keys_.push_back(found->first);
  return found->second;
}

Term Terms::plus(Term base, std::int64_t offset) {
  constexpr std::uint64_t low = 0xffffffff; // in two words, so that no bit looks like a mark
  auto sum = static_cast<std::uint64_t>(offset);
  if (const TermKey &key = keys_[base]; key[0] == 4) {
    sum += key[2] << 32 | key[3];
    base = static_cast<Term>(key[1] & ~term_mark);
  }
  return sum == 0 ? base : made({4, term_mark | base, sum >> 32, sum & low});
}

Term Terms::sum(Term a, Term b) {
  if (const auto number = number_of(b))
    return plus(a, *number);
  if (const auto number = number_of(a))
    return plus(b, *number);
  return made({5, term_mark | a, term_mark | b});
}

Term Terms::choice(Term predicate, Term when, Term otherwise) {
  if (const auto number = number_of(predicate))
    return *number != 0 ? when : otherwise;
  return when == otherwise
             ? when
             : made({6, term_mark | predicate, term_mark | when, term_mark | otherwise});
}

Term Terms::decided(Term term, Term predicate, bool holds, std::map<Term, Term> &known) {
  if (const auto found = known.find(term); found != known.end())
    return found->second;
  TermKey key = keys_[term];
  Term result = term;
  if (key[0] == 6 && (key[1] & ~term_mark) == predicate) {
    result = decided(static_cast<Term>(key[holds ? 2 : 3] & ~term_mark), predicate, holds, known);
  } else if (key[0] > 2) {
    std::vector<Term> parts;
    for (std::uint64_t &word : key)
      if ((word & term_mark) != 0) {
        parts.push_back(decided(static_cast<Term>(word & ~term_mark), predicate, holds, known));
        word = term_mark | parts.back();
      }
    if (key[0] == 4)
      result = plus(parts[0], static_cast<std::int64_t>(key[2] << 32 | key[3]));
    else if (key[0] == 5)
      result = sum(parts[0], parts[1]);
    else if (key[0] == 6)
      result = choice(parts[0], parts[1], parts[2]);
    else
      result = made(std::move(key));
  }
  known.emplace(term, result);
  return result;
}

std::optional<std::int64_t> Terms::number_of(Term term) const {
  return keys_[term][0] == 1 ? std::optional(static_cast<std::int64_t>(keys_[term][1]))
                             : std::nullopt;
}

std::uint64_t Terms::text(std::string_view text) {
  if (const auto found = texts_.find(text); found != texts_.end())
    return found->second;
  return texts_.try_emplace(std::string(text), texts_.size()).first->second;
}

/// Gives terms classes; those that are in no register only as long as they are near one.
class Classes::Builder {
public:
  Builder(Classes &to, const Knowledge &known, const Terms &terms)
      : to_(to), known_(known), terms_(terms) {}

  void run() {
    for (const Term term : known_.values)
      to_.class_of_.push_back(add(term));
    const std::vector<Term> held = all_;
    for (const Term term : held)
      define(term, 0);
  }

private:
  ClassId add(Term term) {
    const auto [found, added] =
        classes_.try_emplace(term, static_cast<ClassId>(to_.classes_.size()));
    if (added) {
      all_.push_back(term);
      const auto truth = known_.truth.find(term);
      to_.classes_.push_back(
          {terms_.is_constant(term) ? std::optional(term) : std::nullopt,
           truth == known_.truth.end() ? std::nullopt : std::optional(truth->second),
           {}});
    }
    return found->second;
  }

  void define(Term term, unsigned depth) {
    TermKey key = terms_.key(term);
    if (key[0] < 3 || depth > to_.depth_)
      return;
    const ClassId own = classes_.at(term);
    for (std::uint64_t &word : key) {
      if ((word & term_mark) == 0)
        continue;
      const auto part = static_cast<Term>(word & ~term_mark);
      const bool is_new = !classes_.contains(part);
      word = term_mark | add(part);
      if (is_new)
        define(part, depth + 1);
    }
    to_.classes_[own].made_from = std::move(key);
  }

  Classes &to_;
  const Knowledge &known_;
  const Terms &terms_;
  std::unordered_map<Term, ClassId> classes_;
  std::vector<Term> all_;
};

/// What two classifications have in common.
class Classes::Meeting {
public:
  Meeting(const Classes &a, const Classes &b) : a_(a), b_(b) {}

  Classes run() {
    Classes result;
    result.depth_ = a_.depth_;
    for (std::size_t i = 0; i < a_.class_of_.size(); ++i)
      result.class_of_.push_back(meet(a_.class_of_[i], b_.class_of_[i]));
    keep_distances(result.class_of_);
    result.classes_ = std::move(classes_);
    return result;
  }

  /// Returns true if the first one says no more than the result.
  bool kept_all() const {
    std::vector<bool> seen(a_.classes_.size(), false);
    for (const auto &[pair, id] : ids_) {
      if (seen[pair.first])
        return false;
      seen[pair.first] = true;
    }
    return !lost_;
  }

private:
  ClassId meet(ClassId a, ClassId b) {
    const auto [found, added] = ids_.try_emplace({a, b}, static_cast<ClassId>(classes_.size()));
    const ClassId id = found->second;
    if (!added)
      return id;
    pairs_.emplace_back(a, b);
    const Class &left = a_.classes_[a], &right = b_.classes_[b];
    Class both{left.constant == right.constant ? left.constant : std::nullopt,
               left.truth == right.truth ? left.truth : std::nullopt,
               {}};
    lost_ = lost_ || both.constant != left.constant || both.truth != left.truth;
    classes_.push_back(both);
    if (left.made_from.empty())
      return id;
    TermKey key = left.made_from;
    bool same = key.size() == right.made_from.size();
    for (std::size_t i = 0; same && i < key.size(); ++i)
      same = (key[i] & term_mark) != 0 ? (right.made_from[i] & term_mark) != 0
                                       : key[i] == right.made_from[i];
    if (!same && key[0] == sum_mark) {
      moved_.push_back(id);
      return id;
    }
    if (!same) {
      lost_ = true;
      return id;
    }
    for (std::size_t i = 0; i < key.size(); ++i)
      if ((key[i] & term_mark) != 0)
        key[i] = term_mark | meet(static_cast<ClassId>(key[i] & ~term_mark),
                                  static_cast<ClassId>(right.made_from[i] & ~term_mark));
    classes_[id].made_from = std::move(key);
    return id;
  }

  /// A class as another one, that is no sum with a number, and a number.
  static std::pair<ClassId, std::uint64_t> as_sum(const Classes &of, ClassId id) {
    std::uint64_t number = 0;
    while (!of.classes_[id].made_from.empty() && of.classes_[id].made_from[0] == sum_mark) {
      const TermKey &key = of.classes_[id].made_from;
      number += key[2] << 32 | key[3];
      id = static_cast<ClassId>(key[1] & ~term_mark);
    }
    return {id, number};
  }

  /// Two that are at one distance on both ways stay there.
  void keep_distances(const std::vector<ClassId> &held) {
    struct First {
      ClassId id = 0;
      std::uint64_t number = 0;
    };
    std::map<std::tuple<ClassId, ClassId, std::uint64_t>, First> firsts;
    std::vector<bool> seen(classes_.size(), false);
    for (const ClassId id : held) {
      if (seen[id] || !classes_[id].made_from.empty() || classes_[id].constant)
        continue;
      seen[id] = true;
      const auto [left, number] = as_sum(a_, pairs_[id].first);
      const auto [right, other] = as_sum(b_, pairs_[id].second);
      const auto [found, added] =
          firsts.try_emplace({left, right, number - other}, First{id, number});
      if (const std::uint64_t far = number - found->second.number; !added && far != 0)
        classes_[id].made_from = {sum_mark, term_mark | found->second.id, far >> 32,
                                  far & 0xffffffff};
    }
    for (const ClassId id : moved_)
      lost_ = lost_ || !is_as_before(id);
  }

  /// Returns true if a class is the same sum as in the first classification.
  bool is_as_before(ClassId id) const {
    TermKey key = classes_[id].made_from;
    if (key.empty())
      return false;
    key[1] = term_mark | pairs_[key[1] & ~term_mark].first;
    return key == a_.classes_[pairs_[id].first].made_from;
  }

  const Classes &a_, &b_;
  std::map<std::pair<ClassId, ClassId>, ClassId> ids_;
  std::vector<std::pair<ClassId, ClassId>> pairs_; ///< by class of the result
  std::vector<ClassId> moved_; ///< the first classification says that they are sums with a number
  std::vector<Class> classes_;
  bool lost_ = false;
};

Classes::Classes(const Knowledge &known, const Terms &terms, unsigned depth) : depth_(depth) {
  Builder(*this, known, terms).run();
}

bool Classes::meet(const Knowledge &known, const Terms &terms) {
  const Classes other(known, terms, depth_);
  Meeting meeting(*this, other);
  Classes result = meeting.run();
  if (meeting.kept_all())
    return false;
  *this = std::move(result);
  return true;
}

Knowledge Classes::knowledge(Terms &terms) const {
  Knowledge known;
  std::vector<std::optional<Term>> made(classes_.size());
  const auto make = [&](const auto &self, ClassId id) -> Term {
    if (made[id])
      return *made[id];
    const Class &one = classes_[id];
    TermKey key = one.made_from;
    for (std::uint64_t &word : key)
      if ((word & term_mark) != 0)
        word = term_mark | self(self, static_cast<ClassId>(word & ~term_mark));
    made[id] = one.constant         ? *one.constant
               : key.empty()        ? terms.fresh()
               : key[0] == sum_mark ? terms.plus(static_cast<Term>(key[1] & ~term_mark),
                                                 static_cast<std::int64_t>(key[2] << 32 | key[3]))
                                    : terms.made(key);
    if (one.truth)
      known.truth.emplace(*made[id], *one.truth);
    return *made[id];
  };
  for (const ClassId one : class_of_)
    known.values.push_back(make(make, one));
  return known;
}

} // namespace ptxasw::proof
