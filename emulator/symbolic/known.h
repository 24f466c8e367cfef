#pragma once

// What follows from conditions by a few plain rules, each of which can be seen to be right. Whoever
// rewrites asks, and whoever proves it; ranges of numbers are path.h's.
//   known.assume(condition, true); // then known.decide(another)

#include "emulator/symbolic/emulate.h"

#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxasw::emulator {

/// Conditions (expressions of width 1) that hold or do not hold at one place, and what follows from
/// them by propagation: of a conjunction its parts, of a disjunction the one part that is left.
class Known {
public:
  explicit Known(ExprPool &pool) : pool_(&pool) {}

  /// Adds a condition and what follows.
  void assume(Expr condition, bool holds);
  /// The same for several, at the price of one.
  void assume_all(std::span<const std::pair<Expr, bool>> conditions);
  /// True if a condition follows, false if its opposite does; nothing if neither is found.
  std::optional<bool> decide(Expr condition) const;
  /// Returns true if the assumptions contradict each other: then everything follows.
  bool contradictory() const { return contradictory_; }

  /// Returns true if value >= bound, unsigned.
  bool at_least(Expr value, std::uint64_t bound) const;
  /// Returns true if value <= bound, unsigned.
  bool at_most(Expr value, std::uint64_t bound) const;
  /// Returns true if value + offset stays in the range of value's width, signed or unsigned.
  bool no_wrap(Expr value, bool is_signed, std::int64_t offset) const;

  /// All that is known, in order of discovery.
  const std::vector<std::pair<Expr, bool>> &literals() const { return literals_; }

private:
  using Memo = std::unordered_map<Expr, std::optional<bool>>;
  std::optional<bool> find(Expr condition) const;
  std::optional<bool> decide(Expr condition, Memo &memo) const;
  void add(Expr condition, bool holds);
  void propagate();
  template <class Shows> bool any_order(Shows shows) const;

  ExprPool *pool_;
  std::vector<std::pair<Expr, bool>> literals_;
  bool contradictory_ = false;
};

/// What the branches on every path to a block establish.
Known known_on_path(Emulation &emulation, BlockId block);

} // namespace ptxasw::emulator
