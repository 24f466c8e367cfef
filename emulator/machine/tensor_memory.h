#pragma once

// Tensor memory and the instructions of `tcgen05` that use it, decoded. warp_tensor.h executes
// them.

#include "emulator/machine/warp_program.h"

#include <bitset>

namespace ptxasw::emulator {

/// A block's tensor memory (PTX ISA 9.7.16.1): lanes of columns of 32 bits. An address has the lane
/// in its upper half and the column in its lower.
struct TensorMemory {
  static constexpr unsigned lanes = 128, columns = 512, granule = 32;
  static constexpr std::size_t size = std::size_t{lanes} * columns; ///< cells

  std::vector<std::uint32_t> cells{std::vector<std::uint32_t>(size)};
  std::vector<bool> written{std::vector<bool>(size)};
  std::bitset<columns> allocated;
  bool may_allocate = true; ///< relinquish_alloc_permit ends it
};

/// A `tcgen05` instruction (PTX ISA 9.7.16).
struct TensorMemoryUse {
  enum class Kind : std::uint8_t {
    allocate,
    release,
    relinquish,
    load,
    store,
    copy, ///< from shared memory
    shift,
    multiply,
    commit,
  };
  Kind kind = Kind::load;
  // Of loads and stores: registers of a thread, and what a warp accesses in one repetition.
  unsigned rows = 32;    ///< lanes
  unsigned bits = 32;    ///< of each
  bool is_split = false; ///< .16x32bx2
  bool packs = false;    ///< .pack::16b, .unpack::16b
  std::vector<WarpOperand> registers;
  // Of copies: bits of a row are `bits`, lanes `rows`.
  unsigned copies = 1;      ///< to so many warps' lanes
  bool interleaved = false; ///< .02_13: each half of the rows to every other warp's lanes
  // Of products.
  MatrixType type =
      MatrixType::none; ///< f16: or bf16, e4m3: or any short one, as the descriptor says
  WarpOperand a_descriptor, b_descriptor, how, adds;
  WarpAddress a, d;                ///< in tensor memory; `a` if there is no descriptor of it
  std::vector<WarpOperand> masked; ///< lanes of d that stay as they are
  /// Of commit: the blocks whose mbarriers are told; none: the address as it is.
  WarpOperand blocks;

  /// True if all lanes of a warp do it together.
  bool is_collective() const { return kind <= Kind::store; }
};

} // namespace ptxasw::emulator
