#pragma once

// Which loads of a kernel read what neighbours of their block read as well, and how a block of one
// shape shares the work.
//
// This is what the family writes, and its proof asks for it again, of the kernel that it reads.
// Nothing rests on it being well guessed: the proof tries whether every load finds what it would
// have read, and the version tests the addresses.

#include "emulator/facts/kernel_facts.h"
#include "synth/stage/before.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ptxasw::inline synth::halo {

/// Threads of a block along x, y and z, or a distance in elements.
using Extents3 = std::array<int, 3>;

/// A load whose place a load of shared memory takes.
struct HaloLoad {
  std::uint32_t instruction = 0;
  Extents3 offset = {};    ///< of what it reads from what the group's first load reads
  std::uint32_t place = 0; ///< in the tile, behind the place of the thread: bytes
};

/// One of a thread's numbers in its block is compared with a number: less than it, or not.
struct Comparison {
  int axis = 0;
  bool below = false;
  int limit = 0;
};

/// What threads of a block keep in the tile: what one of their own loads reads.
struct Bring {
  std::size_t load = 0; ///< in Group::loads
  /// Those threads do for which one comparison of each list holds.
  std::vector<std::vector<Comparison>> when;
};

/// A register that holds an address as well: the group's base, and so many bytes and steps of
/// threads along y and z.
struct Related {
  RegisterId reg = no_register;
  std::int64_t distance = 0;
  int y = 0, z = 0;
};

/// Loads of elements that neighbouring threads have from the same array: what a thread reads is
/// as far from what the block's first thread reads as the thread is from that one, in elements
/// along x and in steps along y and z that all threads share.
struct Group {
  unsigned bytes = 0; ///< of an element, a power of two
  RegisterId base = no_register;
  std::vector<Related> related;
  std::vector<HaloLoad> loads;
  std::vector<Bring> brings;
  std::uint32_t row = 0, plane = 0; ///< bytes of the tile from one to the next
  std::uint32_t first = 0;          ///< the tile begins there
  std::uint32_t size = 0;           ///< and has so many bytes
};

struct Halo {
  Extents3 block = {1, 1, 1};
  std::uint32_t end = 0; ///< behind the last load that is staged
  stage::Before before;  ///< its last block in the order of ways is that of `end`
  std::vector<Group> groups;
  /// Bytes of shared memory. At its beginning are the bases of the block's first threads along x, y
  /// and z, of each group.
  std::uint32_t size = 0;
};

struct HaloAnswer {
  std::vector<Halo> found; ///< at most one
  std::vector<Refusal> refusals;
};

/// The shape of blocks that a variant is for: `b32x8`. All 0 if there is no such variant.
Extents3 shape_of(std::string_view variant);

/// What of a kernel is staged in blocks of a shape. `facts` are the kernel's; where there are none
/// yet they are made when they are needed.
HaloAnswer halo_of(const Module &module, const Function &kernel, const Extents3 &block,
                   std::optional<facts::KernelFacts> &facts);

/// Where the base of a group's first thread along an axis stands.
std::uint32_t place_of_base(std::size_t group, int axis);

} // namespace ptxasw::synth::halo
