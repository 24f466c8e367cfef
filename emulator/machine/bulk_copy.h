#pragma once

// Bulk copies, decoded: what the decoder hands to the copy engine (warp_bulk.h) for each of them.

#include "emulator/machine/warp_program.h"

namespace ptxasw::emulator {

/// What the words and operands of `cp.async.bulk`, `cp.reduce.async.bulk` and their forms for
/// tensors say beyond an instruction's addresses (PTX ISA 9.7.9.25 to 9.7.9.27): `address` is the
/// destination and `second_address` the source where they are no tensors, `third_address` the
/// mbarrier, the first input the size.
struct BulkCopy {
  enum class Mode : std::uint8_t {
    bytes, ///< of no tensor
    tile,  ///< a box
    rows,  ///< .tile::gather4 and .tile::scatter4: four boxes of a row each
  };
  Mode mode = Mode::bytes;
  StateSpace from = StateSpace::global, to = StateSpace::shared;
  bool tells_mbarrier = false; ///< otherwise it belongs to a group
  bool reduces = false;
  unsigned axes = 0; ///< of a tensor
  WarpAddress map;   ///< of a tensor
  std::vector<WarpOperand> coordinates;
  WarpOperand blocks; ///< the mask of .multicast::cluster; none: the destination alone
  WarpOperand kept;   ///< the mask of .cp_mask, of every 16 bytes; none: all
};

} // namespace ptxasw::emulator
