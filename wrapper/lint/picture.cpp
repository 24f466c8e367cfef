// Drawn from the same addresses from which the numbers were counted, so that picture and number
// agree.

#include "wrapper/lint/picture.h"

#include "emulator/semantics/banks.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ptxasw::wrapper {
namespace {

using facts::Access;
using facts::KernelFacts;

constexpr int pitch = 20, box = 16, height = 110, bottom = 84;
/// Digits of 9 pixels that a box holds; longer numbers stand below it, with room between them.
constexpr int digits_of_box = 3, digit = 6, below = 24, margin = 24;
constexpr std::int64_t sector_bytes = 32;

/// A lane and where its bytes begin, counted from a multiple of 128 at or below the lowest.
struct LaneBytes {
  std::uint32_t lane = 0;
  std::uint64_t offset = 0;
};

/// Of the first warp that takes part.
std::vector<LaneBytes> lane_bytes(const KernelFacts &facts, const Access &access) {
  const std::vector<std::int64_t> offsets = lane_offsets(facts.lane_values(), access.form);
  const std::vector<bool> &active = facts.active(access);
  for (const facts::WarpThreads &warp : facts.layout().warps) {
    std::vector<LaneBytes> lanes;
    std::int64_t lowest = 0;
    for (std::uint32_t lane = 0; lane < warp.count; ++lane)
      if (active[warp.first + lane])
        lowest = lanes.empty() ? offsets[warp.first + lane]
                               : std::min(lowest, offsets[warp.first + lane]),
        lanes.push_back({lane, static_cast<std::uint64_t>(offsets[warp.first + lane])});
    // Rounded towards minus infinity: offsets may be negative.
    const std::int64_t base = lowest & ~std::int64_t{127};
    for (LaneBytes &lane : lanes)
      lane.offset -= static_cast<std::uint64_t>(base);
    if (!lanes.empty())
      return lanes;
  }
  return {};
}

/// `label`: how far below the box's upper edge; 0: none.
std::string rectangle(int x, int y, std::string_view kind, std::uint64_t number,
                      const std::string &title, int label = 12) {
  const std::string text =
      label == 0 ? ""
                 : fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", x + box / 2, y + label, number);
  return fmt::format("<g class=\"{}\"><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" "
                     "height=\"{}\"/>{}</g>",
                     kind, title, x, y, box, box, text);
}

} // namespace

std::string access_picture(const KernelFacts &facts, const Access &access) {
  const bool shared = access.space == StateSpace::shared;
  if (!access.form.is_linear() || !access.form.strides.empty() ||
      (!shared && access.space != StateSpace::global))
    return "";
  const std::vector<LaneBytes> lanes = lane_bytes(facts, access);
  const std::uint64_t unit = shared ? bank_bytes : sector_bytes;
  // Sectors stand in the order of addresses, those that are not touched left out; all banks are
  // shown.
  std::map<std::uint64_t, std::set<std::uint64_t>> units; ///< and the words of each bank
  const auto key = [&](std::uint64_t number) { return shared ? number % shared_banks : number; };
  if (shared)
    for (std::uint64_t bank = 0; bank < shared_banks; ++bank)
      units[bank];
  const auto each_unit = [&](const LaneBytes &lane, auto visit) {
    for (std::uint64_t u = lane.offset / unit; u <= (lane.offset + access.site.bytes - 1) / unit;
         ++u)
      visit(u);
  };
  for (const LaneBytes &lane : lanes)
    each_unit(lane, [&](std::uint64_t u) { units[key(u)].insert(u); });
  std::map<std::uint64_t, int> place;
  for (const auto &[number, words] : units)
    place.emplace(number, static_cast<int>(place.size()) * pitch);
  const int width = std::max<int>(32, static_cast<int>(units.size())) * pitch;
  const int digits =
      units.empty() ? 1 : static_cast<int>(std::to_string(units.rbegin()->first).size());
  const bool is_long = digits > digits_of_box;
  const int left = is_long ? margin : 1;
  std::string svg = fmt::format(
      "<figure><svg viewBox=\"{} 0 {} {}\" role=\"img\" aria-label=\"lanes and {}\">", -left,
      width + 2 * left, height + (is_long ? 4 : 0), shared ? "banks" : "sectors");
  for (const LaneBytes &lane : lanes)
    each_unit(lane, [&](std::uint64_t u) {
      svg += fmt::format("<line class=\"wire\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
                         static_cast<int>(lane.lane) * pitch + box / 2, box + 4,
                         place[key(u)] + box / 2, bottom);
    });
  for (const LaneBytes &lane : lanes)
    svg += rectangle(static_cast<int>(lane.lane) * pitch, 2, "lane", lane.lane,
                     fmt::format("lane {}: bytes {} to {}", lane.lane, lane.offset,
                                 lane.offset + access.site.bytes - 1));
  const int every = is_long ? (digits * digit + 4 + pitch - 1) / pitch : 1;
  for (const auto &[number, words] : units)
    svg +=
        rectangle(place[number], bottom, shared && words.size() > 1 ? "unit clash" : "unit", number,
                  shared ? fmt::format("bank {}: {} words", number, words.size())
                         : fmt::format("sector {}: bytes {} to {}", number, number * unit,
                                       number * unit + unit - 1),
                  !is_long                             ? 12
                  : place[number] / pitch % every == 0 ? below
                                                       : 0);
  return svg +
         fmt::format("</svg><figcaption class=\"faint\">Above the lanes of the first warp, below "
                     "the {} that they touch.</figcaption></figure>",
                     shared ? "banks (4 bytes wide)" : "sectors (32 bytes)");
}

} // namespace ptxasw::wrapper
