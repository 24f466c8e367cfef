#pragma once

// Instructions on matrices that a warp holds in its registers: mma, wmma, ldmatrix, stmatrix,
// movmatrix, decoded, and which lane has which element. warp_matrix_unit.h executes them.

#include "emulator/semantics/matrix_product.h"
#include "grammar/module.h"

#include <string>

namespace ptxasw::emulator {

/// A matrix instruction, by its words (PTX ISA 9.7.14).
struct MatrixOperation {
  enum class Kind : std::uint8_t {
    multiply,      ///< mma.sync
    wmma_multiply, ///< wmma.mma
    wmma_load,     ///< wmma.load.a, .b, .c
    wmma_store,    ///< wmma.store.d
    load,          ///< ldmatrix, 8 x 8 of 16 bits
    store,         ///< stmatrix
    load_bytes,    ///< ldmatrix of 16 x 16 or 8 x 16 elements of 8 bits, perhaps of fewer in memory
    store_bytes,   ///< stmatrix of 16 x 8 elements of 8 bits
    transpose,     ///< movmatrix
  };
  Kind kind = Kind::multiply;
  unsigned m = 8, n = 8, k = 8;
  MatrixArithmetic arithmetic;
  MatrixType type = MatrixType::none;       ///< of what wmma loads and stores
  char fragment = 'd';                      ///< a, b, c or d, which wmma loads and stores
  bool a_columns = false, b_columns = true; ///< stored by columns: of m8n8k4 and wmma
  unsigned count = 1;                       ///< matrices of ldmatrix and stmatrix
  bool in_bytes = false; ///< .kind::f8f6f4: elements of a and b have 8 bits each in registers
  /// .block_scale: scales of a row of a and of a column of b, each for as many elements along k.
  unsigned scales = 0;
  bool short_scales = false; ///< of type ue4m3, not ue8m0
  bool transposed = false;
  unsigned packed = 8; ///< bits that load_bytes finds in memory for each of the 8

  unsigned rows(char which) const { return which == 'b' ? k : m; }
  unsigned columns(char which) const { return which == 'a' ? k : n; }
  MatrixType type_of(char which) const;
  /// Bits that an element has in registers and in memory.
  unsigned width_of(char which) const;
  /// An element from these bits.
  MatrixElement element(char which, std::uint64_t bits) const;
  /// 32-bit registers (f64: 64-bit ones) that a lane holds a matrix in.
  unsigned registers(char which) const;
};

/// What the modifiers say, or which of them are not emulated.
struct MatrixDecoding {
  MatrixOperation operation;
  std::string refusal; ///< empty: nothing
};
MatrixDecoding decode_matrix(const Opcode &opcode);

/// Where an element of a lane's registers lies in its matrix.
struct MatrixPlace {
  unsigned row = 0, column = 0;
};
/// As the manual draws it for mma; for wmma, where it is not documented, in the order of rows (for
/// `b`, columns), some elements in several lanes. `element` counts through all of the lane's
/// registers.
MatrixPlace matrix_place(const MatrixOperation &operation, char which, unsigned lane,
                         unsigned element);

} // namespace ptxasw::emulator
