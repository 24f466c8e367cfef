#pragma once

// `wgmma`, decoded: the operation and its operands, and where a descriptor says that elements of a
// matrix lie. warp_group.h executes it.

#include "emulator/machine/warp_program.h"

namespace ptxasw::emulator {

/// wgmma: a product of a group of four warps, or what orders such products (PTX ISA 9.7.15).
/// d (64 x n) = a (64 x k) * b (k x n) {+ d}; each warp has 16 rows of d, in the instruction's
/// outputs.
struct GroupProduct {
  enum class Kind : std::uint8_t { multiply, fence, commit, wait };
  Kind kind = Kind::multiply;
  unsigned n = 8, k = 16;
  MatrixArithmetic arithmetic;
  bool a_columns = false, b_rows = false; ///< a stored by columns, b by rows: not along k
  bool negates_a = false, negates_b = false;
  std::vector<WarpOperand> a; ///< registers with it; empty: it is in shared memory
  WarpOperand a_descriptor, b_descriptor;
  WarpOperand adds; ///< predicate: d is added; none: it is
  WarpOperand left; ///< of wait: groups that need not be complete
};

/// A matrix in shared memory, as a descriptor of 64 bits says (PTX ISA 9.7.15.5.1.2).
struct SharedMatrix {
  std::uint64_t start = 0;               ///< address
  std::uint64_t leading = 0, stride = 0; ///< byte offsets
  unsigned swizzle = 0;                  ///< bytes: 0, 32, 64, 128
  unsigned base = 0;                     ///< the pattern's beginning, in lines of 128 bytes
  bool by_columns = false;               ///< along m or n, not along k

  static SharedMatrix of(std::uint64_t descriptor);
  /// Address of the 16 bytes that an element is in. `row`: along m or n; `k`: its column; both in
  /// elements of some bits.
  std::uint64_t piece(unsigned row, unsigned k, unsigned bits) const;
};

} // namespace ptxasw::emulator
