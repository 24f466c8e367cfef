#pragma once

// Reads sums of products, and tests of them, from the terms that code has computed. Whoever wrote
// the code (test_writer.h) is not asked.

#include "emulator/facts/loop_values.h"
#include "synth/prove/terms.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxasw::synth {

/// Reads terms as polynomials whose leaves are terms.
class TermReader {
public:
  explicit TermReader(proof::Terms &all) : terms(all) {}

  /// Of 64 bits.
  facts::Polynomial wide(proof::Term term);
  /// Of 32 bits, sign-extended.
  facts::Polynomial narrow(proof::Term term);

  /// The term that a register holds.
  using Held = std::function<proof::Term(RegisterId)>;
  /// What is of registers, as it is of the terms that they hold.
  facts::Polynomial in_terms(const facts::Polynomial &value, const facts::Atoms &of,
                             const Held &held);
  facts::Condition in_terms(facts::Condition condition, const facts::Atoms &of, const Held &held);

  proof::Terms &terms;
  facts::Atoms atoms;

private:
  std::optional<proof::Term> at_least_zero(proof::Term term) const;
  facts::Polynomial taken_apart(proof::Term term);

  std::map<proof::Term, facts::Polynomial> known_;
};

/// What predicates that hold have tested.
class Tested {
public:
  explicit Tested(TermReader &reader) : reader_(reader) {}

  void add(proof::Term predicate);
  /// `condition` is of terms.
  bool holds(const facts::Condition &condition) const;

private:
  bool is_apart(const facts::Condition &condition) const;

  TermReader &reader_;
  std::set<proof::Term> seen_;
  std::vector<facts::Polynomial> not_negative_;
  std::vector<facts::Polynomial> zeros_;
  std::vector<std::pair<facts::Polynomial, std::int64_t>> multiples_;
  std::vector<std::pair<proof::Term, proof::Term>> either_; ///< one of each holds
};

} // namespace ptxasw::synth
