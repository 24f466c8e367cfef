#pragma once

// Copies in lockstep, and how a thread comes there.

#include "synth/coarsen/prove_alone.h"
#include "synth/coarsen/prove_texts.h"

#include <set>
#include <utility>
#include <vector>

namespace ptxasw::synth {

/// The proof of one sibling from its text; the argument is in prove.cpp. Throws proof::NotProved
/// where it stops.
class CoarsenProof : CoarsenTexts {
public:
  using CoarsenTexts::CoarsenTexts;

  void run() {
    if (sharing_.meetings().torn(sharing_.detours()))
      fail("lanes of a warp may part before what they do together");
    enter();
    while (!pending_.empty()) {
      const auto [mine, theirs] = pending_.back();
      pending_.pop_back();
      step_together(mine, theirs);
    }
  }

private:
  // The entry.
  void enter();
  Known known_inside(unsigned count);
  Expr number(std::uint32_t value) { return pool_.constant(32, value); }
  /// The sibling's thread along x, and whether it is the first one.
  Expr flat();
  Expr is_first() { return pool_.eq(flat(), number(0)); }
  /// What a copy has in place of a special register.
  Expr instead_of(std::string_view special, unsigned copy);
  void check_places();
  // Together.
  /// The pair is to be examined: all copies go on at `theirs`, the sibling at `mine`.
  void go_on_together(Position mine, Position theirs);
  void arrive_together(const ReplayEnd &end, Position theirs);
  void step_together(Position mine, Position theirs);
  /// An instruction of the kernel for each copy; what comes next.
  Position by_each(Position mine, Position theirs);
  /// What the added code may write and forget.
  bool is_control(RegisterId reg, ScalarType type) const;
  Position require_test(Position mine, const WideTest &test);
  void branch_at_once(Position mine, Position theirs);
  void branch_by_all(Position mine, Position theirs);
  // No more.
  void meet_again(const ReplayEnd &end, const Detour &detour);
  void leave(const ReplayEnd &end, ReplayState &state, Position theirs);

  const Known nothing_{pool_}; ///< is taken for granted
  ReplayState known_;          ///< what registers hold everywhere
  CopiesAlone copies_alone_{*this};
  std::vector<std::pair<Position, Position>> pending_; ///< pairs of steps together
  std::set<std::pair<Position, Position>> seen_together_;
};

} // namespace ptxasw::synth
