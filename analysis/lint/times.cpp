// From the inside out: the iterations of a loop, added up over those of the loop around it.

#include "analysis/lint/times.h"

#include <algorithm>

namespace ptxasw::analysis::lint {

using facts::Amount;
using facts::Rational;

Times::Times(const facts::KernelFacts &facts)
    : facts_(facts), reader_(facts.emulation(), facts.function(), facts.launch(), amounts_),
      trips_(facts::trip_counts(facts.emulation(), reader_)) {}

bool Times::certain(LoopId loop) const {
  const facts::TripCount &trip = trips_[loop];
  return trip.known && trip.exact &&
         std::all_of(trip.conditions.begin(), trip.conditions.end(),
                     [&](const Amount &condition) { return amounts_.never_negative(condition); });
}

// How often a block of a loop is executed each time the loop is entered: in every iteration, or in
// every one except the last if it comes behind the exit. (`rounds` would be 0 for threads that do
// not enter it.)
std::optional<Amount> Times::in_loop(LoopId loop, BlockId block) const {
  const ControlFlowGraph &cfg = facts_.cfg();
  if (!certain(loop) || !cfg.in_each_round(loop, block))
    return std::nullopt;
  const facts::TripCount &trip = trips_[loop];
  return block == trip.exit || cfg.dominates(block, trip.exit) ? trip.left_in_entered + 1
                                                               : trip.left_in_entered;
}

std::optional<std::string> Times::of(BlockId block) {
  Amount total(1);
  BlockId inside = block; // what is counted in the loop: the block, or the loop in it
  for (LoopId loop = facts_.cfg().loop_of(block); loop != no_index;
       loop = facts_.cfg().loops()[loop].parent) {
    const auto rounds = in_loop(loop, inside);
    if (!rounds)
      return std::nullopt;
    bool exact = true;
    const auto sum =
        amounts_.sum(total, amounts_.atom_of(reader_.trip(loop)), *rounds, *rounds - 1, exact);
    if (!sum || !exact)
      return std::nullopt;
    total = *sum;
    inside = facts_.cfg().loops()[loop].header;
  }
  return amounts_.to_string(total);
}

bool Times::left_together(LoopId loop, BlockId exit) {
  if (!certain(loop) || trips_[loop].exit != exit)
    return false;
  const facts::Layout &layout = facts_.layout();
  const std::vector<bool> &active = facts_.active(facts_.cfg().loops()[loop].header);
  std::vector<std::optional<Rational>> rounds(layout.threads.size());
  for (std::size_t t = 0; t < rounds.size(); ++t) {
    if (!active[t])
      continue;
    const facts::ThreadId &id = layout.threads[t];
    rounds[t] = amounts_.evaluate(trips_[loop].left_in,
                                  [&](const std::string &name) -> std::optional<Rational> {
                                    if (name == "tid.x")
                                      return Rational(id.x);
                                    if (name == "laneid")
                                      return Rational(t % warp_lanes);
                                    if (!layout.whole_rows && name.starts_with("tid."))
                                      return Rational(name == "tid.y" ? id.y : id.z);
                                    return std::nullopt;
                                  });
    if (!rounds[t])
      return false;
  }
  return std::all_of(layout.warps.begin(), layout.warps.end(), [&](const facts::WarpThreads &warp) {
    std::optional<Rational> first;
    for (std::size_t t = warp.first; t < warp.first + warp.count; ++t) {
      if (!rounds[t])
        continue;
      if (first && *first != *rounds[t])
        return false;
      first = rounds[t];
    }
    return true;
  });
}

} // namespace ptxasw::analysis::lint
