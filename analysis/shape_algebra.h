#pragma once

// The arithmetic behind analysis/independence: polynomials over what a thread's place in the grid
// is made of, along one axis.

#include "grammar/namespaces.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::analysis::shape_algebra {

/// Why something is not clean.
struct Taint {
  std::uint32_t line = 0;
  std::string reason;
  bool certain = false; ///< it does depend on the shape; otherwise that is not known
};

/// What polynomials are over: the global index, the number of threads, and the three that depend on
/// the shape; behind these, things that are not followed further.
using AtomId = std::uint32_t;
enum : AtomId { global_index, thread_count, block_index, block_extent, grid_extent, first_free };

/// A sum of products of atoms, each with a coefficient.
using Monomial = std::vector<AtomId>; // sorted
using Polynomial = std::map<Monomial, std::int64_t>;

/// The atoms of one axis of one kernel, and what can be computed with them. "Clean" is what no
/// shape changes, "stable" what is the same whenever the thread reads it.
class Algebra {
public:
  Algebra();

  AtomId new_atom(bool clean, bool stable, std::int32_t taint);
  /// Index of a taint; the first is that of the extents themselves.
  std::int32_t new_taint(Taint taint);
  /// Stains after the first.
  std::size_t taints() const { return taints_.size() - 1; }
  /// Forgets all atoms except the five, and all taints except the first and `kept` more.
  void forget(std::size_t kept);

  static Polynomial number(std::int64_t n) { return n == 0 ? Polynomial{} : Polynomial{{{}, n}}; }
  static Polynomial of(AtomId atom) { return {{{atom}, 1}}; }
  /// tid = g - ctaid * ntid.
  static Polynomial thread_index();
  /// A new thing that is not clean and may change.
  Polynomial tainted(std::uint32_t line, std::string reason, bool certain);

  bool is_clean(const Polynomial &p) const;
  bool is_stable(const Polynomial &p) const;
  /// The taint of a polynomial that is not clean.
  const Taint &stain_of(const Polynomial &p) const;

  /// The same with few terms: what is clean becomes one atom.
  Polynomial bounded(Polynomial p);
  /// a + factor * b. What is unclean and changes may stand for two times and never vanishes.
  Polynomial add(Polynomial a, const Polynomial &b, std::int64_t factor = 1) const;
  /// Nothing if it gets too large, or might cancel what is of different times.
  std::optional<Polynomial> mul(const Polynomial &a, const Polynomial &b) const;

private:
  struct Atom {
    bool clean = true;
    bool stable = true;
    std::int32_t taint = -1; ///< of one that is not clean
  };

  bool may_change_unclean(const Monomial &monomial) const;

  std::vector<Atom> atoms_;
  std::vector<Taint> taints_;
};

} // namespace ptxasw::analysis::shape_algebra
