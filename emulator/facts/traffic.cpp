// Lanes of a warp fall into groups: within one their distances are known in numbers, between two
// they are not (another row of an image of unknown pitch; a loaded index). What a group costs
// depends on where its part of memory begins, of which only an alignment is known: all beginnings
// are tried, up to 128 bytes. A warp costs at least what its costliest group does and at most the
// sum of them. (Of wide loads of shared memory, a group's least is what it costs if lanes are
// served in pairs. That it is so for all groups at once would only make the whole cheaper, but no
// group cheaper than this.)

#include "emulator/facts/traffic.h"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <map>

namespace ptxasw::facts {
namespace {

constexpr std::int64_t line_bytes = 128;

/// Lanes with known distances.
struct Group {
  std::vector<std::int64_t> offsets;
  std::vector<std::uint32_t> lanes;
};

/// The least and the most of something over all beginnings of a group, and what it is at the
/// beginning that is aligned best.
struct Range {
  std::uint32_t least = ~0u, most = 0, aligned = 0;
  void take(std::uint32_t value, bool best) {
    least = std::min(least, value);
    most = std::max(most, value);
    if (best)
      aligned = value;
  }
};

std::int64_t floor_to(std::int64_t value, std::int64_t unit) {
  return value >= 0 ? value / unit : -((-value + unit - 1) / unit);
}

/// Distinct units of `unit` bytes that the accesses touch.
std::uint32_t units(const Group &group, std::int64_t start, unsigned bytes, std::int64_t unit) {
  std::vector<std::int64_t> touched;
  for (const std::int64_t offset : group.offsets)
    for (std::int64_t u = floor_to(start + offset, unit);
         u <= floor_to(start + offset + bytes - 1, unit); ++u)
      touched.push_back(u);
  std::sort(touched.begin(), touched.end());
  return static_cast<std::uint32_t>(std::unique(touched.begin(), touched.end()) - touched.begin());
}

std::uint32_t distinct_bytes(const Group &group, unsigned bytes) {
  std::vector<std::int64_t> starts = group.offsets;
  std::sort(starts.begin(), starts.end());
  std::uint32_t total = 0;
  std::int64_t end = starts.empty() ? 0 : starts[0];
  for (const std::int64_t start : starts) {
    total +=
        static_cast<std::uint32_t>(std::max<std::int64_t>(start + bytes - std::max(start, end), 0));
    end = std::max(end, start + bytes);
  }
  return total;
}

/// The cost of one group.
struct GroupCost {
  Range sectors, lines, wavefronts;
  std::uint32_t bytes = 0;
  bool misaligned = true;
};

/// What one group costs: tried out for every beginning, and remembered, as the warps of a block are
/// mostly alike.
class GroupCosts {
public:
  explicit GroupCosts(const TrafficQuery &query) : query_(query) {}

  const GroupCost &operator()(Group group) {
    // Whole lines more or less make no difference.
    const std::int64_t lowest = *std::min_element(group.offsets.begin(), group.offsets.end());
    const std::int64_t lines = floor_to(lowest, line_bytes) * line_bytes;
    for (std::int64_t &offset : group.offsets)
      offset -= lines;
    for (const auto &[known, cost] : known_)
      if (known.offsets == group.offsets && known.lanes == group.lanes)
        return cost;
    return known_.emplace_back(group, cost_of(group, lowest - lines)).second;
  }

private:
  GroupCost cost_of(const Group &group, std::int64_t lowest) const {
    GroupCost result;
    result.bytes = distinct_bytes(group, query_.bytes);
    // Accesses that are not naturally aligned fault (PTX ISA 6.4.1), so other beginnings need not
    // be tried, unless there are none: then all are, as no launch runs to its end.
    result.misaligned = !try_beginnings(group, lowest, std::bit_floor(query_.bytes), result);
    if (result.misaligned)
      try_beginnings(group, lowest, 1, result);
    for (Range *range : {&result.sectors, &result.lines, &result.wavefronts})
      if (range->aligned == 0 && range->most > 0)
        range->aligned = range->least;
    return result;
  }

  // Returns false if no beginning makes all accesses multiples of `natural`.
  bool try_beginnings(const Group &group, std::int64_t lowest, std::int64_t natural,
                      GroupCost &result) const {
    bool any = false;
    // Beginnings that are whole words apart are other banks for all lanes, and as many wavefronts.
    const std::int64_t period =
        query_.shared ? std::max(natural, std::int64_t{bank_bytes}) : line_bytes;
    const std::int64_t step = std::min<std::int64_t>(query_.alignment, period);
    for (std::int64_t start = 0; start < period; start += step) {
      const bool fits =
          std::all_of(group.offsets.begin(), group.offsets.end(),
                      [&](std::int64_t offset) { return (start + offset) % natural == 0; });
      if (!fits)
        continue;
      any = true;
      // The best beginning: where the group's lowest byte is the first of a line.
      const bool best = step == period || (start + lowest) % period == 0;
      if (query_.shared) {
        std::vector<SharedAccess> accesses;
        for (std::size_t i = 0; i < group.offsets.size(); ++i)
          accesses.push_back(
              {group.lanes[i], static_cast<std::uint64_t>(start + group.offsets[i])});
        // All lanes together may be served in pairs, a part of them not.
        result.wavefronts.take(shared_wavefronts(accesses, query_.bytes, Pairing::never), best);
        if (query_.load && query_.bytes > bank_bytes)
          result.wavefronts.take(shared_wavefronts(accesses, query_.bytes, Pairing::allowed), best);
      } else {
        result.sectors.take(units(group, start, query_.bytes, sector_bytes), best);
        result.lines.take(units(group, start, query_.bytes, line_bytes), best);
      }
    }
    return any;
  }

  const TrafficQuery &query_;
  std::deque<std::pair<Group, GroupCost>> known_;
};

/// Adds what one warp costs to what all do. Lanes that go elsewhere may cost `elsewhere` units
/// more, and as many less where they are missing.
void add_warp(Count &count, const std::vector<GroupCost> &groups, Range GroupCost::*which,
              std::uint32_t cap, std::uint32_t elsewhere, std::uint64_t copies, bool first,
              bool wanders) {
  std::uint32_t least = 0, most = 0, typical = 0;
  for (const GroupCost &group : groups) {
    const Range &span = group.*which;
    if (span.most == 0)
      continue;
    least = std::max(least, span.least);
    most += span.most;
    typical += wanders ? span.most : span.aligned;
  }
  most = std::min(most + elsewhere, cap);
  typical = std::min(typical, cap);
  if (elsewhere > 0)
    least = least > elsewhere ? least - elsewhere : std::min(least, 1u);
  count.least = first ? least : std::min(count.least, least);
  count.most = std::max(count.most, most);
  count.typical = std::max(count.typical, typical);
  count.block_least += least * copies;
  count.block_most += most * copies;
}

std::uint32_t ceil_of(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

} // namespace

std::string_view to_string(Verdict verdict) {
  static constexpr std::array<std::string_view, 3> names{"exact", "bound", "unknown"};
  return names[static_cast<std::size_t>(verdict)];
}

std::vector<std::int64_t> lane_offsets(LaneValues &lanes, const AddressForm &form) {
  const Layout &layout = lanes.layout();
  std::vector<std::int64_t> offsets(layout.threads.size(), form.constant);
  const auto wrap = [](std::int64_t a, std::int64_t b, std::uint64_t c) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) +
                                     static_cast<std::uint64_t>(b) * c);
  };
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const ThreadId &thread = layout.threads[i];
    offsets[i] = wrap(offsets[i], form.tid[0], thread.x);
    offsets[i] = wrap(offsets[i], form.tid[1], thread.y);
    offsets[i] = wrap(offsets[i], form.tid[2], thread.z);
    offsets[i] = wrap(offsets[i], form.laneid, i % warp_lanes);
  }
  for (const Term &term : form.of_lane)
    if (const auto *values = lanes(term.atom))
      for (std::size_t i = 0; i < offsets.size(); ++i)
        offsets[i] = wrap(offsets[i], term.factor,
                          static_cast<std::uint64_t>(as_signed((*values)[i], term.atom->width)));
  return offsets;
}

namespace {

/// Sorts the lanes of a warp into groups: by the lane's part of every stride, and each by itself
/// where its address is not known to have anything to do with the others'.
class Grouping {
public:
  Grouping(LaneValues &lanes, const AddressForm &form) : alone_(!form.varying.empty()) {
    for (const StrideTerm &term : form.strides)
      values_.push_back(lanes(term.lane));
    for (const Term &term : form.mixed)
      for_each_node(term.atom, [&](Expr node) {
        if (lanes.is_lane_symbol(node))
          values_.push_back(lanes(node));
      });
  }

  /// Of the threads of a warp that are active.
  std::vector<Group> operator()(const WarpThreads &warp, const TrafficQuery &query,
                                const std::vector<std::int64_t> &offsets) const {
    std::vector<Group> groups;
    std::map<std::vector<std::uint64_t>, std::size_t> index;
    for (std::uint32_t lane = 0; lane < warp.count; ++lane) {
      const std::size_t thread = warp.first + lane;
      if (query.active && !(*query.active)[thread])
        continue;
      std::size_t group = 0;
      if (alone_)
        group = groups.size();
      else if (!values_.empty())
        group = index.try_emplace(key(thread), groups.size()).first->second;
      if (group == groups.size())
        groups.emplace_back();
      groups[group].offsets.push_back(offsets[thread]);
      groups[group].lanes.push_back(lane);
    }
    return groups;
  }

private:
  std::vector<std::uint64_t> key(std::size_t thread) const {
    std::vector<std::uint64_t> result;
    for (const auto *values : values_)
      result.push_back((*values)[thread]);
    return result;
  }

  const bool alone_;
  std::vector<const std::vector<std::uint64_t> *> values_;
};

std::optional<BankClash> clash_in(const Group &group, unsigned bytes) {
  // Addresses count from a multiple of the banks' width below the lowest.
  const std::int64_t lowest = *std::min_element(group.offsets.begin(), group.offsets.end());
  const std::int64_t base = floor_to(lowest, line_bytes) * line_bytes;
  std::vector<SharedAccess> accesses;
  for (std::size_t i = 0; i < group.offsets.size(); ++i)
    accesses.push_back({group.lanes[i], static_cast<std::uint64_t>(group.offsets[i] - base)});
  return bank_clash(accesses, bytes);
}

} // namespace

Traffic traffic_of(LaneValues &lanes, const TrafficQuery &query) {
  const Layout &layout = lanes.layout();
  const AddressForm &form = *query.form;
  const std::vector<std::int64_t> offsets = lane_offsets(lanes, form);
  const Grouping grouping(lanes, form);
  GroupCosts cost_of(query);
  const std::uint32_t words = ceil_of(std::max(query.bytes, 1u), bank_bytes);
  Traffic result;
  bool first = true;
  for (const WarpThreads &warp : layout.warps) {
    const std::vector<Group> groups = grouping(warp, query, offsets);
    if (groups.empty())
      continue;
    std::vector<GroupCost> costs;
    std::uint32_t bytes = 0, active = 0;
    for (const Group &group : groups) {
      costs.push_back(cost_of(group));
      bytes += costs.back().bytes;
      active += static_cast<std::uint32_t>(group.lanes.size());
      result.misaligned = result.misaligned || costs.back().misaligned;
    }
    // A naturally aligned access lies in one sector and one line.
    const std::uint32_t units_a_lane = result.misaligned ? 2 : 1;
    const std::uint32_t elsewhere = query.exceptions * units_a_lane;
    add_warp(result.sectors, costs, &GroupCost::sectors, active * units_a_lane, elsewhere,
             layout.copies, first, query.wanders);
    add_warp(result.lines, costs, &GroupCost::lines, active * units_a_lane, elsewhere,
             layout.copies, first, query.wanders);
    add_warp(result.wavefronts, costs, &GroupCost::wavefronts, active * (words + units_a_lane - 1),
             0, layout.copies, first, false);
    result.ideal_sectors = std::max(result.ideal_sectors, ceil_of(bytes, sector_bytes));
    result.ideal_lines = std::max(result.ideal_lines, ceil_of(bytes, line_bytes));
    result.ideal_wavefronts = std::max(result.ideal_wavefronts, ceil_of(bytes, line_bytes));
    result.lanes = std::max(result.lanes, active);
    result.warps += static_cast<std::uint32_t>(layout.copies);
    if (query.shared && groups.size() == 1 && !result.clash)
      result.clash = clash_in(groups[0], query.bytes);
    first = false;
  }
  for (Count *count : {&result.sectors, &result.lines, &result.wavefronts})
    count->verdict = !form.is_linear()                               ? Verdict::unknown
                     : count->least == count->most && !form.may_wrap ? Verdict::exact
                                                                     : Verdict::bound;
  return result;
}

} // namespace ptxasw::facts
