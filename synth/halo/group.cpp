// Loads of a group lie in rows: those with the same offset along y and z. What the threads of one
// row of the block read there are the elements from its least offset to the greatest one of the
// last thread. Each thread brings what one load in the middle reads; the first ones what the
// leftmost load reads, and the last ones what the rightmost does, as far as that is not brought
// already. (The offsets of a row differ by no more than the block has threads along x.)
//
// The rows of loads are gone through from the widest to the narrowest. What a row of threads would
// bring for one of them is left to another row of threads if that has it by an earlier one.
//
// All of that is a guess about what is sensible; whether each load finds its element is tried by
// the proof.

#include "synth/halo/group.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace ptxasw::inline synth::halo {
namespace {

constexpr int farthest = 64, most_rows_apart = 8;
constexpr std::size_t most_loads = 128, most_related = 32;

/// The loads of a group that lie in one row.
struct Row {
  int y = 0, z = 0, low = 0, high = 0;
  std::vector<std::size_t> loads;

  int width() const { return high - low; }
  bool has(const Row &other) const { return low <= other.low && other.high <= high; }
};

/// The offset of one load from another, if it is the same in all launches.
std::optional<Extents3> offset_of(const Candidate &load, const Candidate &from,
                                  const Extents3 &block) {
  if (load.step != from.step)
    return std::nullopt;
  const int most_y = block[1] > 1 ? most_rows_apart : 0,
            most_z = block[2] > 1 ? most_rows_apart : 0;
  std::optional<Extents3> best;
  const auto size = [](const Extents3 &one) {
    return std::abs(one[0]) + std::abs(one[1]) + std::abs(one[2]);
  };
  const int limit = std::min(farthest, block[0]);
  const auto bytes = static_cast<std::int64_t>(load.bytes);
  for (int z = -most_z; z <= most_z; ++z)
    for (int y = -most_y; y <= most_y; ++y) {
      const auto rest = [&](std::size_t i) { // modulo 2^64, as addresses are
        const auto number = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
        return static_cast<std::int64_t>(number(load.address[i]) - number(from.address[i]) -
                                         number(y) * number(from.step[i][1]) -
                                         number(z) * number(from.step[i][2]));
      };
      if (rest(0) % bytes != 0 || rest(0) / bytes > limit || rest(0) / bytes < -limit)
        continue;
      bool same = true;
      for (std::size_t i = 1; i < samples; ++i)
        same = same && rest(i) == rest(0);
      const Extents3 found{static_cast<int>(rest(0) / bytes), y, z};
      if (same && (!best || size(found) < size(*best)))
        best = found;
    }
  return best;
}

/// A group that is being found.
struct Growing {
  Group group;
  const Candidate *first = nullptr;
  std::map<RegisterId, Related> known;
};

bool join(Growing &to, const Candidate &load, const Extents3 &block) {
  if (load.bytes != to.group.bytes || to.group.loads.size() == most_loads)
    return false;
  const auto offset = offset_of(load, *to.first, block);
  if (!offset)
    return false;
  for (const HaloLoad &one : to.group.loads)
    if (one.offset[1] == (*offset)[1] && one.offset[2] == (*offset)[2] &&
        std::abs(one.offset[0] - (*offset)[0]) > block[0])
      return false;
  const Related related{
      load.base, std::int64_t{(*offset)[0]} * load.bytes - load.constant + to.first->constant,
      (*offset)[1], (*offset)[2]};
  const auto [known, added] = to.known.try_emplace(load.base, related);
  if (added && to.known.size() > most_related) {
    to.known.erase(known);
    return false;
  }
  if (known->second.distance != related.distance || known->second.y != related.y ||
      known->second.z != related.z)
    return false;
  to.group.loads.push_back({load.instruction, *offset, 0});
  return true;
}

std::vector<Row> rows_of(const Group &group) {
  std::map<std::pair<int, int>, Row> rows;
  for (std::size_t i = 0; i < group.loads.size(); ++i) {
    const auto &[x, y, z] = group.loads[i].offset;
    const auto [found, added] = rows.try_emplace({z, y}, Row{y, z, x, x, {}});
    found->second.low = std::min(found->second.low, x);
    found->second.high = std::max(found->second.high, x);
    found->second.loads.push_back(i);
  }
  std::vector<Row> result;
  result.reserve(rows.size());
  for (auto &[where, row] : rows)
    result.push_back(std::move(row));
  std::stable_sort(result.begin(), result.end(), [](const Row &a, const Row &b) {
    const int far_a = std::abs(a.y) + std::abs(a.z), far_b = std::abs(b.y) + std::abs(b.z);
    return a.width() != b.width() ? a.width() > b.width() : far_a < far_b;
  });
  std::vector<Row> kept;
  for (Row &row : result)
    if (std::all_of(kept.begin(), kept.end(), [&](const Row &one) { return one.has(row); }))
      kept.push_back(std::move(row));
  return kept;
}

/// Where a row of threads is so far down that the row `distance` behind it is not in the block.
/// Empty: everywhere.
std::vector<Comparison> outside(const Extents3 &distance, const Extents3 &block) {
  std::vector<Comparison> result;
  for (int axis = 1; axis < 3; ++axis) {
    const int way = distance[axis];
    if (std::abs(way) >= block[axis])
      return {};
    if (way != 0)
      result.push_back({axis, way < 0, way < 0 ? -way : block[axis] - way});
  }
  return result;
}

/// Returns true if what is outside by one distance is so by the other one.
bool implies(const Extents3 &nearer, const Extents3 &farther) {
  for (int axis = 1; axis < 3; ++axis)
    if (nearer[axis] != 0 && ((nearer[axis] < 0) != (farther[axis] < 0) ||
                              std::abs(nearer[axis]) > std::abs(farther[axis])))
      return false;
  return true;
}

/// When a row of threads brings what it reads in a row of loads, after some others.
std::vector<std::vector<Comparison>> when_of(const Row &row, const std::vector<Row> &earlier,
                                             const Extents3 &block) {
  std::vector<Extents3> distances;
  distances.reserve(earlier.size());
  for (const Row &one : earlier)
    distances.push_back({0, row.y - one.y, row.z - one.z});
  std::vector<std::vector<Comparison>> when;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    bool needed = true;
    for (std::size_t k = 0; k < distances.size(); ++k)
      needed = needed && (k == i || !implies(distances[k], distances[i]));
    const auto condition = outside(distances[i], block);
    if (needed && !condition.empty())
      when.push_back(condition);
  }
  return when;
}

void bring(Group &group, const Row &row, const std::vector<std::vector<Comparison>> &when,
           const Extents3 &block) {
  const auto offset = [&](std::size_t load) { return group.loads[load].offset[0]; };
  const auto nearest = [&](int twice) {
    return *std::min_element(row.loads.begin(), row.loads.end(), [&](std::size_t a, std::size_t b) {
      return std::abs(2 * offset(a) - twice) < std::abs(2 * offset(b) - twice);
    });
  };
  const std::size_t middle = nearest(row.low + row.high), left = nearest(2 * row.low),
                    right = nearest(2 * row.high);
  group.brings.push_back({middle, when});
  const auto also = [&](std::size_t load, bool below, int limit) {
    Bring one{load, when};
    if (limit > 0 && limit < block[0])
      one.when.push_back({{0, below, limit}});
    group.brings.push_back(std::move(one));
  };
  if (offset(middle) > row.low)
    also(left, true, offset(middle) - row.low);
  if (offset(middle) < row.high)
    also(right, false, block[0] - (row.high - offset(middle)));
}

} // namespace

bool does(const Bring &bring, const Extents3 &thread) {
  return std::all_of(bring.when.begin(), bring.when.end(), [&](const auto &any) {
    return std::any_of(any.begin(), any.end(), [&](const Comparison &one) {
      return (thread[one.axis] < one.limit) == one.below;
    });
  });
}

std::vector<Group> grouped(const std::vector<Candidate> &loads, const Extents3 &block) {
  std::vector<Growing> all;
  for (const Candidate &load : loads) {
    if (std::any_of(all.begin(), all.end(), [&](Growing &one) { return join(one, load, block); }))
      continue;
    Growing one;
    one.group.bytes = load.bytes;
    one.group.base = load.base;
    one.first = &load;
    one.known[load.base] = {load.base, 0, 0, 0};
    one.group.loads.push_back({load.instruction, {}, 0});
    all.push_back(std::move(one));
  }
  std::vector<Group> result;
  for (Growing &one : all) {
    for (const auto &[reg, related] : one.known)
      if (reg != one.group.base)
        one.group.related.push_back(related);
    result.push_back(std::move(one.group));
  }
  return result;
}

bool share_out(Group &group, const Extents3 &block) {
  const std::vector<Row> rows = rows_of(group);
  Extents3 low = {rows[0].low, rows[0].y, rows[0].z}, high = {rows[0].high, rows[0].y, rows[0].z};
  for (const Row &row : rows) {
    low = {std::min(low[0], row.low), std::min(low[1], row.y), std::min(low[2], row.z)};
    high = {std::max(high[0], row.high), std::max(high[1], row.y), std::max(high[2], row.z)};
  }
  const auto extent = [&](int axis) {
    return static_cast<std::uint32_t>(block[axis] + high[axis] - low[axis]);
  };
  group.row = extent(0) * group.bytes;
  group.plane = group.row * extent(1);
  group.size = group.plane * extent(2);
  std::set<std::size_t> kept;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    bring(group, rows[i], when_of(rows[i], {rows.begin(), rows.begin() + i}, block), block);
    kept.insert(rows[i].loads.begin(), rows[i].loads.end());
  }
  for (HaloLoad &load : group.loads)
    load.place = static_cast<std::uint32_t>(load.offset[0] - low[0]) * group.bytes +
                 static_cast<std::uint32_t>(load.offset[1] - low[1]) * group.row +
                 static_cast<std::uint32_t>(load.offset[2] - low[2]) * group.plane;
  std::uint64_t brought = 0;
  std::vector<bool> done(group.brings.size(), false);
  for (int z = 0; z < block[2]; ++z)
    for (int y = 0; y < block[1]; ++y)
      for (int x = 0; x < block[0]; ++x)
        for (std::size_t i = 0; i < done.size(); ++i)
          if (does(group.brings[i], {x, y, z})) {
            done[i] = true;
            ++brought;
          }
  const std::uint64_t read = std::uint64_t{kept.size()} * static_cast<unsigned>(block[0]) *
                             static_cast<unsigned>(block[1]) * static_cast<unsigned>(block[2]);
  // Loads that are not kept stay as they are.
  std::vector<HaloLoad> loads;
  std::map<std::size_t, std::size_t> moved;
  for (const std::size_t i : kept) {
    moved[i] = loads.size();
    loads.push_back(group.loads[i]);
  }
  group.loads = std::move(loads);
  std::vector<Bring> brings;
  for (std::size_t i = 0; i < done.size(); ++i)
    if (done[i])
      brings.push_back({moved.at(group.brings[i].load), std::move(group.brings[i].when)});
  group.brings = std::move(brings);
  return 4 * brought <= 3 * read;
}

} // namespace ptxasw::synth::halo
