// What lanes of a warp read, by expressions in which the lane is a symbol.

#include "synth/shuffle/source_lane.h"

#include <fmt/core.h>

namespace ptxasw::synth {

std::string to_string(SourceLane lane) {
  return lane.flip != 0 ? fmt::format("the lane whose number differs by {}", lane.flip)
                        : fmt::format("lane {:+}", lane.delta);
}

Expr lane_of_row(Emulation &emulation, const LaunchFacts &facts) {
  if (!facts.whole_warps())
    return nullptr;
  ExprPool &pool = emulation.pool();
  return pool.eq(emulation.special("%laneid"),
                 pool.bit_and(emulation.special("%tid.x"), pool.constant(32, warp_lanes - 1)));
}

Expr butterfly_step(Emulation &emulation, unsigned flip) {
  ExprPool &pool = emulation.pool();
  const Expr lane = emulation.special("%laneid");
  return pool.sub(pool.bit_xor(lane, pool.constant(32, flip)), lane);
}

bool equal_in_each_lane(Emulation &emulation, const LaunchFacts &facts, Expr source, Expr load,
                        SourceLane from) {
  if (!facts.whole_warps())
    return false;
  ExprPool &pool = emulation.pool();
  // Blocks have at most 1024 threads (PTX ISA 10.1), so tid.x = 32 * row + lane wraps nowhere.
  const Expr row = pool.symbol("warp of the row", 32, 1024 / warp_lanes - 1);
  const auto in_lane = [&](Expr expr, int lane) {
    const Expr number = pool.constant(32, static_cast<std::uint64_t>(lane));
    Substitution put_in(pool);
    put_in.map(emulation.special("%laneid"), number);
    put_in.map(emulation.special("%tid.x"),
               pool.add(pool.mul(row, pool.constant(32, warp_lanes)), number));
    return put_in(expr);
  };
  constexpr int lanes = warp_lanes;
  for (int lane = 0; lane < lanes; ++lane)
    if (const int other = from.of(lane); other >= 0 && other < lanes)
      if (in_lane(source, other) != in_lane(load, lane))
        return false;
  return true;
}

} // namespace ptxasw::synth
