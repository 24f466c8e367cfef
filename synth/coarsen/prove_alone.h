#pragma once

// Copies that go on alone, one after the other.

#include "synth/coarsen/prove_texts.h"

#include <array>
#include <optional>
#include <set>
#include <utility>

namespace ptxasw::synth {

/// The part of the proof in which lockstep is left (prove.cpp, "alone").
class CopiesAlone {
public:
  using Position = CoarsenTexts::Position;

  explicit CopiesAlone(const CoarsenTexts &texts) : texts_(texts) {}

  /// The first `count` copies go on from `theirs` to their ends, beginning at `end`, where
  /// registers hold `state`; `always` is what they hold everywhere.
  void one_by_one(ReplayEnd end, ReplayState state, Position theirs, unsigned count,
                  const Known &known, const ReplayState &always);
  /// A copy goes alone from where a detour begins to its end; where the sibling is then.
  Position detour(Position mine, const Detour &detour, unsigned k, const Renaming &names) const;

private:
  using Pairs = std::set<std::pair<Position, Position>>;
  void one_copy(Position mine, Position theirs, unsigned k, const Renaming &names,
                const Detour *detour, Pairs &seen, std::optional<Position> &after) const;
  bool is_taken_over(const ReplayState &state, RegisterId reg, unsigned k) const;

  const CoarsenTexts &texts_;
  std::array<Pairs, max_copies> seen_;                    ///< by copy
  std::array<std::optional<Position>, max_copies> after_; ///< by copy: where it goes at its end
};

} // namespace ptxasw::synth
