#pragma once

// What the branches that led to a place say of numbers there, as intervals. They may be wider than
// need be, and never too narrow. The emulator and the facts about accesses ask:
//   path.assume(pool.ult(index, extent), true); // then path.range(index).high

#include "emulator/symbolic/expr.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ptxasw::emulator {

/// The values a bit pattern may have, as unsigned and as signed numbers of its width.
struct Range {
  std::uint64_t low = 0, high = 0;
  std::int64_t signed_low = 0, signed_high = 0;
  bool operator==(const Range &) const = default;
};

/// What the branches on the path to a place established: conditions that hold or do not, and the
/// ranges that follow from comparisons. A stack: what was assumed last is forgotten first.
class PathKnowledge {
public:
  explicit PathKnowledge(ExprPool &pool) : pool_(pool) {}

  /// From now on `condition` (width 1) is `holds`, and so is what follows from that.
  void assume(Expr condition, bool holds);
  /// True if a condition was assumed, or is part of one that was.
  std::optional<bool> assumed(Expr condition) const;
  /// The truth of a condition here, if assumptions or ranges decide it.
  std::optional<bool> decide(Expr condition);
  /// Bounds of an expression of at most 64 bits, by its form and by what was assumed.
  Range range(Expr expr, int depth = 3) const;

  struct Mark {
    std::size_t conditions = 0, ranges = 0;
  };
  Mark mark() const { return {conditions_undo_.size(), ranges_undo_.size()}; }
  void forget_since(Mark mark);

private:
  void set(Expr condition, bool holds);
  void narrow(Expr expr, const Range &range);
  void compare(Expr smaller, Expr larger, bool is_signed, bool holds);

  ExprPool &pool_;
  std::unordered_map<Expr, bool> conditions_;
  std::vector<Expr> conditions_undo_;
  std::unordered_map<Expr, Range> ranges_;
  std::vector<std::pair<Expr, std::optional<Range>>> ranges_undo_;
};

} // namespace ptxasw::emulator
