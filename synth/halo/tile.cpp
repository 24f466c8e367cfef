// Elements are called by three numbers: those of the thread in its block and the load's offset,
// added. Loads of a group that read elements of the same numbers read the same address.

#include "synth/halo/tile.h"

#include "synth/halo/group.h"

#include <map>

namespace ptxasw::inline synth::halo {
namespace {

Extents3 element_of(const Extents3 &thread, const HaloLoad &load) {
  return {thread[0] + load.offset[0], thread[1] + load.offset[1], thread[2] + load.offset[2]};
}

std::uint64_t place_of(const Group &group, const Extents3 &thread, const HaloLoad &load) {
  return std::uint64_t{load.place} + static_cast<std::uint64_t>(thread[0]) * group.bytes +
         static_cast<std::uint64_t>(thread[1]) * group.row +
         static_cast<std::uint64_t>(thread[2]) * group.plane;
}

/// The first thing that is wrong with a thread, of all threads.
template <typename Fault> std::string first_fault(const Extents3 &block, Fault fault) {
  for (int z = 0; z < block[2]; ++z)
    for (int y = 0; y < block[1]; ++y)
      for (int x = 0; x < block[0]; ++x)
        if (std::string found = fault(Extents3{x, y, z}); !found.empty())
          return found;
  return "";
}

} // namespace

std::string tile_fault(const Group &group, const Extents3 &block) {
  std::map<std::uint64_t, Extents3> tile;
  const std::string brought = first_fault(block, [&](const Extents3 &thread) {
    for (const Bring &one : group.brings) {
      if (!does(one, thread))
        continue;
      const HaloLoad &load = group.loads.at(one.load);
      const std::uint64_t place = place_of(group, thread, load);
      if (place % group.bytes != 0 || place + group.bytes > group.size)
        return std::string("a load leaves the tile");
      if (!tile.emplace(place, element_of(thread, load)).second)
        return std::string("two threads bring to one place");
    }
    return std::string();
  });
  return !brought.empty() ? brought : first_fault(block, [&](const Extents3 &thread) {
    for (const HaloLoad &load : group.loads) {
      const auto found = tile.find(place_of(group, thread, load));
      if (found == tile.end() || found->second != element_of(thread, load))
        return std::string("a load finds something else than it would have read");
    }
    return std::string();
  });
}

} // namespace ptxasw::synth::halo
