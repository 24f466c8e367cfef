#pragma once

// Whose value a load takes, in the terms that detection, proof, emission and `explain` share, and
// what another lane reads: `SourceLane{.delta = -1}.of(5) == 4`.

#include "emulator/semantics/launch.h"
#include "emulator/symbolic/emulate.h"

#include <cstdlib>
#include <set>
#include <string>

namespace ptxasw::synth {

/// The lane of the same warp that a value is taken from, as the lane that takes it sees it: so many
/// lanes up, or in a butterfly the one whose number differs in some bits.
struct SourceLane {
  int delta = 0;     ///< lanes up
  unsigned flip = 0; ///< bits in which the two numbers differ (1 to 31); then delta is 0

  bool operator==(const SourceLane &) const = default;
  /// Returns true if it is the lane itself.
  bool is_own() const { return delta == 0 && flip == 0; }
  /// The number of the source's lane for a lane's number; outside 0 to 31 if there is none.
  int of(int lane) const {
    return flip == 0 ? lane + delta : static_cast<int>(static_cast<unsigned>(lane) ^ flip);
  }
  /// The largest distance between the two, in lanes.
  int reach() const { return flip == 0 ? std::abs(delta) : static_cast<int>(flip); }
  /// Lanes of a warp that have no such source.
  int unserved() const { return flip == 0 ? std::abs(delta) : 0; }
  /// What reports call delta: lanes up; of a butterfly the largest distance.
  int lanes_up() const { return flip == 0 ? delta : reach(); }
  /// All distances up that occur.
  std::set<int> steps() const {
    std::set<int> result;
    for (int lane = 0; lane < static_cast<int>(warp_lanes); ++lane)
      result.insert(of(lane) - lane);
    return result;
  }
};

/// For people: "lane -1", "the lane whose number differs by 1".
std::string to_string(SourceLane lane);

/// That laneid is tid.x mod 32 (width 1), for a solver; null where rows need not be whole warps.
Expr lane_of_row(Emulation &emulation, const LaunchFacts &facts);

/// Returns true if lane L reads at `load` the address that the lane `from` of the same warp has at
/// `source`, for every L for which there is such a lane: by the normal form, with each lane's
/// number put in. Both are expanded. False also where rows need not be whole warps, as tid.x says
/// nothing of the lane then.
bool equal_in_each_lane(Emulation &emulation, const LaunchFacts &facts, Expr source, Expr load,
                        SourceLane from);

/// How many lanes up the lane whose number differs by `flip` is: a signed expression of 32 bits.
Expr butterfly_step(Emulation &emulation, unsigned flip);

} // namespace ptxasw::synth
