// The numbers are such as kernels meet in the middle of their work: blocks are few, other 32-bit
// values are large next to indices, so that `min(i + 1, n - 1)` is i + 1 and `(i + 1) % n` too;
// pointers are aligned; the warp is the third of a row of eight. What holds there may fail at the
// rim: that is left to the proof, which demands a test in the lane where it can fail.

#include "emulator/facts/lane_samples.h"

#include "emulator/semantics/scramble.h"

#include <algorithm>

namespace ptxasw::facts {
namespace {

constexpr std::uint64_t warp_of_row = 2, row_extent = std::uint64_t{8} * warp_lanes;

} // namespace

LaneSamples::LaneSamples(Emulation &emulation)
    : tid_(emulation.special("%tid.x")), laneid_(emulation.special("%laneid")) {
  small_ = {{emulation.special("%ntid.x"), row_extent}, {emulation.special("%ntid.y"), 4},
            {emulation.special("%ntid.z"), 2},          {emulation.special("%tid.y"), 3},
            {emulation.special("%tid.z"), 1},           {emulation.special("%ctaid.x"), 5},
            {emulation.special("%ctaid.y"), 7},         {emulation.special("%ctaid.z"), 2},
            {emulation.special("%nctaid.x"), 11},       {emulation.special("%nctaid.y"), 9},
            {emulation.special("%nctaid.z"), 6}};
  for (unsigned launch = 0; launch < launches; ++launch)
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      evaluators_.emplace_back(
          [this, launch, lane](Expr of) { return Bits{symbol(of, launch, lane)}; });
}

std::uint64_t LaneSamples::symbol(Expr symbol, unsigned launch, unsigned lane) const {
  if (symbol == tid_)
    return warp_of_row * warp_lanes + lane;
  if (symbol == laneid_)
    return lane;
  if (const auto known = small_.find(symbol); known != small_.end())
    return known->second;
  const std::uint64_t random = scramble(std::uint64_t{symbol->index} * launches + launch + 1);
  if (symbol->width > 32)
    return random & 0xffffffff00; // an aligned pointer
  const std::uint64_t value =
      symbol->width < 32 ? random & mask64(symbol->width) : 0x100000 + random % 0xf00000;
  return value <= symbol->maximum ? value : random % (symbol->maximum + 1);
}

const LaneSamples::Values &LaneSamples::values(Expr address) {
  const auto [found, is_new] = values_.try_emplace(address);
  if (is_new)
    for (unsigned launch = 0; launch < launches; ++launch)
      for (unsigned lane = 0; lane < warp_lanes; ++lane)
        found->second[launch][lane] = evaluators_[launch * warp_lanes + lane](address).low;
  return found->second;
}

std::vector<int> LaneSamples::sources(Expr source, Expr load) {
  const Values &from = values(source);
  const Values &to = values(load);
  constexpr int lanes = warp_lanes;
  const auto agree = [&](int delta) {
    for (unsigned launch = 0; launch < launches; ++launch)
      for (int lane = std::max(0, -delta); lane < std::min(lanes, lanes - delta); ++lane)
        if (*(from[launch].begin() + lane + delta) != *(to[launch].begin() + lane))
          return false;
    return true;
  };
  std::vector<int> result;
  for (int i = 0; i < 2 * lanes - 1; ++i)
    if (const int delta = by_nearness(i); agree(delta))
      result.push_back(delta);
  return result;
}

} // namespace ptxasw::facts
