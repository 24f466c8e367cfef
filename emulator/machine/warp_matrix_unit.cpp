// Matrices that a warp holds together (PTX ISA 9.7.14). All 32 lanes reach such an instruction
// together, as with a `.sync` instruction with a full mask; then their registers are gathered into
// matrices, the elements computed one by one (matrix_product.h), and handed out again.

#include "emulator/machine/warp_matrix_unit.h"

#include "emulator/machine/warp_real.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::emulator {
namespace {

using OperationKind = MatrixOperation::Kind;

/// An element times a scale.
void scale(MatrixElement &element, std::uint64_t bits, bool is_short) {
  if (is_short ? (bits & 0x7f) == 0x7f : bits == 0xff) {
    element.kind = MatrixElement::Kind::nan;
    return;
  }
  if (!is_short) { // a power of two
    element.exponent += static_cast<int>(bits) - 127;
    element.top += static_cast<int>(bits) - 127;
    return;
  }
  const MatrixElement factor = take_apart(MatrixType::e4m3, bits & 0x7f);
  if (factor.kind == MatrixElement::Kind::zero && element.kind == MatrixElement::Kind::finite)
    element = {};
  element.significand *= factor.significand;
  element.exponent += factor.exponent;
  element.top += factor.top;
}

/// .block_scale (PTX ISA 9.7.14.3): the scales of rows of a are bytes of registers of two of every
/// four lanes, those of columns of b of one. `selectors`: the register, which byte, which lanes.
void scale_blocks(const WarpContext &context, char which, std::span<const WarpOperand> selectors,
                  std::vector<MatrixElement> &elements) {
  const MatrixOperation &o = *context.instruction->matrix;
  const unsigned rows = which == 'a' ? o.m : o.n;
  for (unsigned row = 0; row < rows; ++row) {
    const auto thread = static_cast<unsigned>(context.value(selectors[2], 0));
    const unsigned lane =
        which == 'a' ? row % 8 * 4 + thread % 2 * 2 + row / 8 : row * 4 + thread % 4;
    const std::uint64_t word = context.value(selectors[0], lane);
    const auto byte = static_cast<unsigned>(context.value(selectors[1], lane));
    for (unsigned k = 0; k < o.k; ++k)
      scale(elements[std::size_t{row} * o.k + k],
            word >> 8 * ((byte + k / (o.k / o.scales)) % 4) & 0xff, o.short_scales);
  }
}

void multiply_matrices(WarpContext &context) {
  const WarpInstruction &in = *context.instruction;
  const MatrixOperation &o = *in.matrix;
  std::size_t next = 0;
  const auto gather = [&](char which) {
    const MatrixType type = o.type_of(which);
    const unsigned width = o.width_of(which), wide = type == MatrixType::f64 ? 64 : 32;
    const unsigned per_register = wide / width, count = o.registers(which);
    std::vector<std::uint64_t> bits(std::size_t{o.rows(which)} * o.columns(which));
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      for (unsigned r = 0; r < count; ++r) {
        const std::uint64_t word = context.value(in.inputs[next + r], lane);
        for (unsigned i = 0; i < per_register; ++i) {
          const MatrixPlace at = matrix_place(o, which, lane, r * per_register + i);
          bits[which == 'b' ? at.column * o.k + at.row : at.row * o.columns(which) + at.column] =
              word >> i * width & mask64(width);
        }
      }
    next += count;
    return bits;
  };
  const auto take_all_apart = [&](char which) {
    std::vector<MatrixElement> elements;
    for (const std::uint64_t bits : gather(which))
      elements.push_back(o.element(which, bits));
    return elements;
  };
  std::vector<MatrixElement> a = take_all_apart('a'), b = take_all_apart('b');
  std::vector<std::uint64_t> sums = gather('c');
  if (o.scales != 0) {
    scale_blocks(context, 'a', std::span(in.inputs).subspan(next, 3), a);
    scale_blocks(context, 'b', std::span(in.inputs).subspan(next + 3, 3), b);
  }
  const std::vector<ExactReal> reals =
      context.run.options.reals ? multiply_reals(context) : std::vector<ExactReal>();
  for (unsigned row = 0; row < o.m; ++row)
    for (unsigned column = 0; column < o.n; ++column) {
      std::uint64_t &sum = sums[row * o.n + column];
      sum = multiply_add(o.arithmetic, std::span(a).subspan(std::size_t{row} * o.k, o.k),
                         std::span(b).subspan(std::size_t{column} * o.k, o.k), sum);
    }
  const MatrixType type = o.arithmetic.d;
  const unsigned wide = type == MatrixType::f64 ? 64 : 32, per_register = wide / bit_width(type);
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    for (unsigned r = 0; r < o.registers('d'); ++r) {
      std::uint64_t word = 0;
      for (unsigned i = 0; i < per_register; ++i) {
        const MatrixPlace at = matrix_place(o, 'd', lane, r * per_register + i);
        word |= sums[at.row * o.n + at.column] << i * bit_width(type);
      }
      context.assign(in.outputs[r], lane, word, wide, false);
      if (!reals.empty() && per_register == 1) {
        const MatrixPlace at = matrix_place(o, 'd', lane, r);
        context.set_real(in.outputs[r], lane, reals[std::size_t{at.row} * o.n + at.column]);
      }
    }
}

// wmma.load and wmma.store: rows or columns `stride` elements apart.
void move_fragment(WarpContext &context, MemoryView &memory, bool is_store) {
  const WarpInstruction &in = *context.instruction;
  const MatrixOperation &o = *in.matrix;
  const char which = o.fragment;
  const unsigned width = bit_width(o.type), wide = o.type == MatrixType::f64 ? 64 : 32;
  // Elements of less than a byte are moved by registers: they lie side by side.
  const unsigned piece = std::max(width, width < 8 ? wide : width);
  const unsigned per_register = wide / piece, per_piece = piece / width;
  const unsigned usual = o.a_columns ? o.rows(which) : o.columns(which);
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const std::uint64_t base = context.address(in.address, lane);
    const std::uint64_t stride = in.second_output.kind == WarpOperand::Kind::none
                                     ? usual
                                     : context.value(in.second_output, lane);
    for (unsigned r = 0; r < o.registers(which); ++r) {
      std::uint64_t word = is_store ? context.value(in.inputs[r], lane) : 0;
      ExactReal real;
      for (unsigned i = 0; i < per_register; ++i) {
        const MatrixPlace at = matrix_place(o, which, lane, (r * per_register + i) * per_piece);
        const std::uint64_t element =
            o.a_columns ? at.column * stride + at.row : at.row * stride + at.column;
        const std::uint64_t address = base + element * width / 8;
        if (is_store) {
          memory.write(context, lane, address, piece / 8, in.space,
                       word >> i * piece & mask64(piece),
                       per_register == 1 ? context.real_of(in.inputs[r], lane) : ExactReal());
          continue;
        }
        word |= memory.read(context, lane, address, piece / 8, in.space) << i * piece;
        if (context.run.options.reals && per_register == 1)
          real = context.run.options.reals->load(context.real_space(lane, address), address,
                                                 piece / 8);
      }
      if (is_store)
        continue;
      context.assign(in.outputs[r], lane, word, wide, false);
      if (real.known())
        context.set_real(in.outputs[r], lane, real);
    }
  }
}

// ldmatrix and stmatrix: lane 8 * i + row has the address of a row of matrix i. Lane l holds two
// neighbours of row l / 4, or of a column.
void move_rows(WarpContext &context, MemoryView &memory, bool is_store) {
  const WarpInstruction &in = *context.instruction;
  const MatrixOperation &o = *in.matrix;
  std::vector<std::uint64_t> words(warp_lanes);
  for (unsigned i = 0; i < o.count; ++i) {
    std::fill(words.begin(), words.end(), 0);
    if (is_store)
      for (unsigned lane = 0; lane < warp_lanes; ++lane)
        words[lane] = context.value(in.inputs[i], lane);
    for (unsigned row = 0; row < 8; ++row) {
      const unsigned owner = 8 * i + row;
      const std::uint64_t address = context.address(in.address, owner);
      if (!memory.is_aligned(context, owner, address, 16, "a row of a matrix"))
        continue;
      for (unsigned column = 0; column < 8; ++column) {
        const unsigned major = o.transposed ? column : row, minor = o.transposed ? row : column;
        std::uint64_t &word = words[major * 4 + minor / 2];
        const unsigned shift = minor % 2 * 16;
        if (is_store)
          memory.write(context, owner, address + 2ul * column, 2, in.space, word >> shift & 0xffff);
        else
          word |= memory.read(context, owner, address + 2ul * column, 2, in.space) << shift;
      }
    }
    if (!is_store)
      for (unsigned lane = 0; lane < warp_lanes; ++lane)
        context.assign(in.outputs[i], lane, words[lane], 32, false);
  }
}

// The same of elements of 8 bits. Rows of 16 bytes in memory are columns of the matrix where it is
// transposed: a lane then has two neighbours of row lane / 4, and two of the row eight below, in a
// register; a second register has the next two neighbours.
void move_byte_rows(WarpContext &context, MemoryView &memory, bool is_store) {
  const WarpInstruction &in = *context.instruction;
  const MatrixOperation &o = *in.matrix;
  const unsigned rows = is_store || !o.transposed ? 8 : 16, registers = rows / 8;
  for (unsigned i = 0; i < o.count; ++i)
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      for (unsigned r = 0; r < registers; ++r) {
        std::uint64_t word = is_store ? context.value(in.inputs[i], lane) : std::uint64_t{0};
        for (unsigned e = 0; e < 4; ++e) {
          unsigned row = lane / 4, column = lane % 4 * 4 + e;
          if (o.transposed) {
            row = lane % 4 * 2 * registers + 2 * r + e % 2;
            column = lane / 4 + 8 * (e / 2);
          }
          const unsigned owner = rows * i + row;
          const std::uint64_t address = context.address(in.address, owner);
          if (!memory.is_aligned(context, owner, address, 16, "a row of a matrix"))
            continue;
          if (is_store) {
            memory.write(context, owner, address + column, 1, in.space, word >> 8 * e & 0xff);
            continue;
          }
          std::uint64_t bits = 0; // the byte or the two that the element is in
          const unsigned first = column * o.packed;
          for (unsigned byte = first / 8; byte <= (first + o.packed - 1) / 8; ++byte)
            bits |= memory.read(context, owner, address + byte, 1, in.space)
                    << 8 * (byte - first / 8);
          word |= (bits >> first % 8 & mask64(o.packed)) << 8 * e;
        }
        if (!is_store)
          context.assign(in.outputs[i * registers + r], lane, word, 32, false);
      }
}

void transpose_matrix(WarpContext &context) {
  const WarpInstruction &in = *context.instruction;
  std::uint64_t words[warp_lanes];
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    words[lane] = context.value(in.inputs[0], lane);
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    std::uint64_t result = 0;
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned row = lane % 4 * 2 + i, column = lane / 4;
      result |= (words[row * 4 + column / 2] >> column % 2 * 16 & 0xffff) << i * 16;
    }
    context.assign(in.outputs[0], lane, result, 32, false);
  }
}

} // namespace

void execute_matrix(WarpContext &context, MemoryView &memory, LaneMask group) {
  if (group != ~LaneMask{0})
    context.fail(FaultKind::missing_lane, static_cast<unsigned>(std::countr_zero(group)),
                 fmt::format("`{}` needs all 32 lanes of the warp, {:#010x} are there",
                             context.instruction->opcode->text, group));
  switch (context.instruction->matrix->kind) {
  case OperationKind::multiply:
  case OperationKind::wmma_multiply:
    return multiply_matrices(context);
  case OperationKind::wmma_load:
    return move_fragment(context, memory, false);
  case OperationKind::wmma_store:
    return move_fragment(context, memory, true);
  case OperationKind::load:
    return move_rows(context, memory, false);
  case OperationKind::store:
    return move_rows(context, memory, true);
  case OperationKind::load_bytes:
    return move_byte_rows(context, memory, false);
  case OperationKind::store_bytes:
    return move_byte_rows(context, memory, true);
  case OperationKind::transpose:
    return transpose_matrix(context);
  }
}

} // namespace ptxasw::emulator
