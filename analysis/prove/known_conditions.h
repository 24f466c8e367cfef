#pragma once

// What is known where a thread stands, and expressions in which that is put to use.

#include "analysis/prove/float_terms.h"

#include <unordered_map>
#include <vector>

namespace ptxasw::analysis {

/// Replaces expressions by others throughout; what is made of replaced ones may be replaced again.
class Rewriting {
public:
  explicit Rewriting(FloatTerms &terms) : terms_(&terms) {}
  /// Copies begin without what was worked out.
  Rewriting(const Rewriting &other) : terms_(other.terms_), rules_(other.rules_) {}
  Rewriting &operator=(const Rewriting &other) { return *this = Rewriting(other); }
  Rewriting(Rewriting &&) = default;
  Rewriting &operator=(Rewriting &&) = default;

  /// From now on `from` becomes `to`, unless it has been told already what it becomes.
  void map(Expr from, Expr to);
  Expr operator()(Expr expr);

private:
  FloatTerms *terms_;
  std::unordered_map<Expr, Expr> rules_, memo_;
};

/// Conditions that hold, in the order in which they were learnt.
class KnownConditions {
public:
  /// One of them; where `from` is not null it says that `from` equals `to`, which is simpler.
  struct Known {
    Expr condition;
    Expr from = nullptr, to = nullptr;
    bool operator==(const Known &) const = default;
  };

  explicit KnownConditions(FloatTerms &terms) : terms_(&terms), rewriting_(terms) {}

  void assume(Expr condition, Expr from = nullptr, Expr to = nullptr);
  /// An expression with the same value where all of this holds.
  Expr operator()(Expr expr) { return rewriting_(expr); }
  const std::vector<Known> &list() const { return list_; }
  /// Returns true if they contradict each other on their face.
  bool contradict() const { return contradict_; }
  /// The conditions from one on, together.
  Expr all_from(std::size_t begin) const;
  /// What holds on one of two ways that began with the same conditions and parted by one; that
  /// one, which holds on the first of them. Nothing if they did not part so.
  static std::optional<std::pair<KnownConditions, Expr>> either(const KnownConditions &a,
                                                                const KnownConditions &b);

private:
  FloatTerms *terms_;
  Rewriting rewriting_;
  std::vector<Known> list_;
  bool contradict_ = false;
};

} // namespace ptxasw::analysis
