#pragma once

// Formulas of bit-vectors as linear arithmetic on whole numbers, where index arithmetic is assumed
// not to overflow: what a solver of bit-vectors loses in adders is a matter of moments there.

#include "analysis/prove/thread_copy.h"
#include "emulator/symbolic/expr.h"
#include "emulator/symbolic/solver.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace ptxasw::analysis {

/// A text that is the same for questions that are the same.
std::string to_string(const IntegerQuestion &question);

/// Translates formulas of a ThreadCopy pair. What cannot hold together as whole numbers cannot hold
/// in any execution in which no operation on indices overflows or loses bits.
class IntegerFormulas {
public:
  explicit IntegerFormulas(ExprPool &pool) : pool_(pool), threads_in_(pool) {}

  /// That two places are one: `holds`, which is that numbers of the first and of the second thread
  /// are equal, if they are given.
  struct Meeting {
    Expr holds, one = nullptr, other = nullptr;
  };
  /// True if a question's formulas cannot hold together.
  using Excludes = std::function<bool(const IntegerQuestion &)>;

  /// Formulas (width 1) that hold together, and what else is known of them.
  struct Asked {
    std::vector<Expr> formulas;
    /// What is known to be computed, so that nothing in it overflows. What is computed only where a
    /// formula's other parts hold does not where they do.
    std::vector<Expr> computed;
    /// Comparisons that hold, if they are computed at all: one of two cases.
    std::vector<Expr> supposed;
  };

  /// The question if all that, and one of the meetings, if there are any, can hold together;
  /// nothing: its numbers are too large.
  std::optional<IntegerQuestion> question(const Asked &asked,
                                          const std::vector<Meeting> &meetings = {},
                                          const Excludes &excludes = {});

private:
  __extension__ typedef __int128 Wide;
  using Formula = IntegerQuestion::FormulaPtr;
  /// Variables multiplied, in order; none: the number alone.
  using Monomial = std::vector<std::uint32_t>;
  using Polynomial = std::map<Monomial, std::int64_t>;
  struct Interval {
    Wide low, high;
  };
  struct Multiple {
    IntegerQuestion::Sum factor, value;
  };
  /// Bits of a number from one on.
  struct Piece {
    unsigned at = 0;
    std::uint32_t variable = 0;
  };
  /// Of definitions_, in order.
  using Definitions = std::set<std::size_t>;
  /// What an expression is, and what holds of the unknowns in that if it is computed.
  struct Number {
    Polynomial polynomial;
    Definitions needs;
  };
  struct Truth {
    Formula formula;
    Definitions needs;
  };
  struct Pieces {
    std::vector<Piece> all;
    std::size_t definition = 0;
  };
  struct Division {
    std::uint32_t quotient = 0, remainder = 0;
    std::size_t definition = 0;
    Polynomial dividend, divisor;
    Formula holds; ///< what they all are, where neither number is negative
  };
  /// How often a number may have gone around its modulus.
  static constexpr Interval largest{-(Wide{1} << 62), Wide{1} << 62};

  std::size_t define(Formula formula);
  void need(std::size_t definition);
  template <class Make> Definitions apart(Make make);
  Definitions in_rounds(Expr expr, const Definitions &needs);
  Formula together(Formula formula, const Definitions &needs) const;
  static Interval overlap(Interval a, Interval b);
  static Interval whole_range(Interval range);
  std::uint32_t variable(Interval range, unsigned threads);
  Polynomial of(std::uint32_t variable) const;
  Polynomial value(Expr expr);
  Polynomial compute(Expr expr);
  Polynomial unsigned_value(Expr expr);
  Polynomial atom(Expr expr);
  Polynomial modular(Expr expr);
  Polynomial residue(Expr expr);
  Polynomial reduced(const Polynomial &whole, Expr expr, std::int64_t low);
  const std::vector<Piece> &pieces(Expr whole);
  Polynomial bits(Expr whole, unsigned low, unsigned width);
  Polynomial one_bit(Expr expr);
  Interval range_of(Expr expr, const Polynomial &value) const;
  Expr quotient(Expr whole, unsigned low);
  Expr without_multiples(Expr whole, unsigned low) const;
  Polynomial joined(Expr expr);
  Polynomial chosen(Expr expr);
  Polynomial divided(Expr expr);
  void choose(Expr condition, const Formula &if_true, const Formula &if_false);
  void note_computed(Expr expr);
  Formula formula(Expr expr, bool holds = true);
  Formula translate(Expr expr, bool holds);
  Formula literal(Expr expr);
  Formula guarded(Expr expr, bool holds);
  Formula odd(std::span<const Expr> bits, bool holds);
  Formula same_place(const Polynomial &a, const Polynomial &b, const Excludes &excludes);
  Formula same_row(const Polynomial &a, const Polynomial &b, std::uint32_t by,
                   const Excludes &excludes);
  bool is_column(const Polynomial &column, std::int64_t scale, std::uint32_t by, unsigned thread,
                 const Excludes &excludes);
  Formula is_zero_by_digits(const Polynomial &sum);
  unsigned threads_of(const Formula &formula);
  Formula compare(const Polynomial &less, const Polynomial &more, std::int64_t gap);
  Formula is_zero(const Polynomial &polynomial);
  Formula equal(const Polynomial &a, const Polynomial &b);

  std::int64_t number(Wide value);
  Polynomial plus(const Polynomial &a, const Polynomial &b, std::int64_t factor = 1);
  Polynomial times(const Polynomial &a, const Polynomial &b);
  Interval range(const Polynomial &polynomial) const;
  IntegerQuestion::Sum linear(const Polynomial &polynomial);
  IntegerQuestion::Sum factored(const Polynomial &polynomial,
                                std::map<std::uint32_t, std::vector<Multiple>> *used = nullptr);
  void add(IntegerQuestion::Sum &to, const IntegerQuestion::Sum &from, std::int64_t factor);
  std::uint32_t multiple(const Polynomial &factor, std::uint32_t by);
  void note_multiple(std::uint32_t by, const Polynomial &factor, std::int64_t constant,
                     std::uint32_t value);
  void note_together(std::uint32_t by, Multiple whole);
  void tell(Expr expr, Interval known);
  void tell(Expr formula, bool holds);
  bool is_small(Expr expr) const;
  std::vector<Formula> orders_of_quotients();
  std::vector<Formula> axioms();

  ExprPool &pool_;
  IntegerQuestion question_;
  std::vector<unsigned> threads_; ///< by variable: whose symbols are in it; 3: both threads'
  std::vector<Interval> ranges_;  ///< by variable
  std::vector<Formula> definitions_;
  /// What is needed where, the innermost place last. The first one is everywhere: its formulas are
  /// in the question.
  std::vector<Definitions> contexts_{1};
  std::unordered_map<Expr, Number> values_;
  std::map<std::pair<Expr, bool>, Truth> formulas_;
  std::unordered_map<Expr, std::uint32_t> truths_;
  std::size_t depth_ = 0; ///< of what is being translated
  ThreadsIn threads_in_;
  std::unordered_map<Expr, std::set<unsigned>> cuts_; ///< where bits of it begin or end
  std::unordered_map<Expr, Pieces> pieces_;
  std::unordered_map<Expr, Interval> told_; ///< by formulas that compare with constants
  std::map<std::tuple<Polynomial, std::int64_t, std::uint32_t, unsigned>, bool> columns_;
  std::unordered_map<const IntegerQuestion::Formula *, unsigned> threads_of_;
  std::map<std::pair<Polynomial, std::uint32_t>, std::uint32_t> products_;
  std::map<std::uint32_t, std::vector<Multiple>> multiples_; ///< by what they are of
  /// Sums of multiples in one formula, which are multiples themselves; by what they are of.
  std::map<std::uint32_t, std::vector<Multiple>> together_;
  std::set<std::pair<std::uint32_t, std::int64_t>> moved_; ///< products and constants beside
  std::map<std::pair<Expr, Expr>, Division> quotients_;
};

} // namespace ptxasw::analysis
