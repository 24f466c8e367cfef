#pragma once

// Finds launches in which a thread of a kernel does a given thing. That it finds none does not mean
// that there is none.

#include "emulator/machine/launch_model.h"

#include <vector>

namespace ptxasw::emulator {

/// A launch that is searched for, and a thread of it in which something should happen.
struct LaunchCandidate {
  Extents grid, block;
  /// By parameter slot: its bits; for a pointer, its place in a numbering in which every slot has a
  /// buffer of its own around `pointer_base(slot)`.
  std::vector<std::uint64_t> values;
  Extents thread{0, 0, 0}, block_index{0, 0, 0}; ///< tid, ctaid
  std::uint64_t salt = 0; ///< decides what is unknown: what is loaded, iterations of loops

  static std::uint64_t pointer_base(std::size_t slot) {
    return window::global + ((std::uint64_t{slot} + 1) << 40);
  }
};

/// What a search may change.
struct SearchLimits {
  Extents largest_grid{0x7fffffff, 0xffff, 0xffff};
  std::uint64_t most_block_threads = 1024;
  bool fixed_block = false;
  bool fixed_pointers = false; ///< no pointer into another one's buffer
  /// Parameters that are not pointers, as unsigned numbers.
  std::uint64_t largest_number = ~std::uint64_t{0};
};

/// Changes a candidate until a wish holds in its thread: repeatedly, a condition that does not hold
/// is repaired by moving one number in it, parameter or coordinate, by what its slope says. False
/// if that does not succeed; the candidate is then somewhere near.
bool satisfy(KernelModel &model, const std::vector<ParameterSlot> &slots,
             const KernelModel::Wish &wish, const SearchLimits &limits, WarpRandom &random,
             LaunchCandidate &candidate);

} // namespace ptxasw::emulator
