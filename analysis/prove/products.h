#pragma once

// Products of unknowns, for a solver of bit-vectors that cannot multiply them in reasonable time.

#include "analysis/prove/computed_nodes.h"
#include "analysis/prove/thread_copy.h"
#include "emulator/symbolic/expr.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptxasw::analysis {

/// Replaces products of unknowns, and quotients and remainders by them, by symbols of which
/// axioms() say what follows from order: of two multiples of `w` with different factors, one is at
/// least `w` larger. Formulas that cannot hold together afterwards cannot hold before.
class ProductAbstraction {
public:
  /// `unwrapped`, if given: products and sums that are of these nodes, and parts of these sums, lie
  /// between -(2^(w-1) - 1) and 2^(w-1) - 1, w being their width. Otherwise that is so of products
  /// where the known bounds of the factors say so.
  /// `numbers`: multiples of numbers are replaced, too.
  ProductAbstraction(ExprPool &pool, const ComputedNodes *unwrapped, bool numbers = false)
      : pool_(pool), unwrapped_(unwrapped), numbers_(numbers), threads_(pool) {}

  Expr operator()(Expr expr);
  /// True if anything was replaced.
  bool replaced() const { return !multiples_.empty(); }
  /// What holds of all replaced products.
  std::vector<Expr> axioms();

private:
  /// Coefficient times factors; none: the coefficient alone.
  struct Monomial {
    std::uint64_t coefficient = 0;
    std::vector<Expr> factors;
  };
  /// value = factor * by wherever `valid` holds, without wrapping around.
  struct Multiple {
    Expr factor, value, valid;
    bool has_room = false; ///< value + by does not wrap around either, whatever the two are
  };

  bool is_computed(Expr node) const { return unwrapped_ && unwrapped_->contains(node); }
  Expr rewrite(Expr node);
  static bool is_difference(Expr node);
  /// `computed`: the sum is one that the program computes, or a part of one.
  Expr linear(unsigned width, std::vector<Monomial> monomials, bool computed);
  Expr linear_by_numbers(unsigned width, std::vector<Monomial> monomials, bool computed);
  Expr multiple(Expr factor, Expr by, bool computed);
  Expr divided(Expr node, Expr dividend, Expr divisor);
  std::string mark_of(Expr a, Expr b);
  bool fits(Expr factor, Expr by) const;

  ExprPool &pool_;
  const ComputedNodes *const unwrapped_;
  const bool numbers_;
  std::unordered_map<Expr, Expr> memo_;
  ThreadsIn threads_;
  std::map<std::uint32_t, Expr> by_;                         ///< by id
  std::map<std::uint32_t, std::vector<Multiple>> multiples_; ///< by the id of what they are of
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<Expr, Expr>> quotients_;
  std::vector<Expr> more_axioms_;
};

} // namespace ptxasw::analysis
