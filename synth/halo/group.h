#pragma once

// How the threads of a block share what they read of one array.

#include "synth/halo/sites.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptxasw::inline synth::halo {

/// Of how many made-up launches addresses are known.
inline constexpr std::size_t samples = 2;

/// A load as it would be in made-up launches.
struct Candidate {
  std::uint32_t instruction = 0;
  unsigned bytes = 0;
  RegisterId base = no_register;
  std::int64_t constant = 0; ///< bytes behind what that holds
  /// In each of these launches: the address in the block's first thread, and bytes from there to
  /// the next thread's along x, y and z.
  std::array<std::int64_t, samples> address = {};
  std::array<std::array<std::int64_t, 3>, samples> step = {};
};

/// Loads that read one array, element by element, at offsets that are small and the same in all
/// launches; each load is in one group, in the order of the text. Not shared out yet.
std::vector<Group> grouped(const std::vector<Candidate> &loads, const Extents3 &block);

/// Decides who brings what, and how the tile lies. Leaves out loads that no other load's row has
/// room for. False: little of what is read would be read by others, so it is not worth it.
bool share_out(Group &group, const Extents3 &block);

/// Returns true if a thread does a bring.
bool does(const Bring &bring, const Extents3 &thread);

} // namespace ptxasw::synth::halo
