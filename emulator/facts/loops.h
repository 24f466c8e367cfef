#pragma once

// How often loops iterate.
//   trip_counts(emulation, reader)[loop].left_in // n / 4, where it is known

#include "emulator/facts/reading.h"

#include <string>
#include <vector>

namespace ptxasw::facts {

/// The count of one loop's iterations for a thread that enters it, as bounds in the thread's place
/// (`tid.x`, `ctaid.x`), the launch's parameters and extents, and the counters of loops around
/// (`trip0`). The loop is left in iteration number `left_in` (the first one is 0) at the latest.
struct TripCount {
  bool known = false;
  std::string reason;      ///< why there is none
  BlockId exit = no_index; ///< whose branch is counted: it is passed in every iteration
  /// The iteration in which the loop is left. Where the loop is not entered it may be anything that
  /// is not negative.
  Amount left_in;
  /// The same without max(0, ...): right wherever the loop iterates at all.
  Amount left_in_plain;
  /// The same, right wherever the loop is entered.
  Amount left_in_entered;
  /// Iterations begun: left_in + 1, but 0 where branches before the loop keep every thread out.
  Amount rounds;
  /// Every thread that enters the loop leaves it in exactly that iteration.
  bool exact = false;
  /// Branches before the loop keep threads out exactly where `rounds` is 0.
  bool guarded = false;
  /// Lanes of a warp may leave it in different iterations.
  bool varies = false;
  /// The lane's part: some register of the loop is not a first-order progression (it doubles, say).
  bool geometric = false;
  /// What must be at least 0 so that no counter wraps around; in the same terms.
  std::vector<Amount> conditions;
};

/// The trip counts of all loops, by loop.
///
/// A loop has one if each iteration passes a branch that leaves it when a register has gone past an
/// invariant bound, by comparison or by being equal: registers that grow or shrink by an invariant
/// amount (a progression a + s*k), or by a constant factor (doubled, halved).
std::vector<TripCount> trip_counts(Emulation &emulation, IntegerReader &reader);

} // namespace ptxasw::facts
