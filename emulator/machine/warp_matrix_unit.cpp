// Matrices that a warp holds together (PTX ISA 9.7.14). All 32 lanes reach such an instruction
// together, as with a `.sync` instruction with a full mask; then their registers are gathered into
// matrices, the elements computed one by one (matrix_product.h), and handed out again.

#include "emulator/machine/warp_matrix_unit.h"

#include "emulator/machine/warp_real.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::inline emulator {
namespace {

using OperationKind = MatrixOperation::Kind;

void multiply_matrices(WarpContext &context) {
  const WarpInstruction &in = *context.instruction;
  const MatrixOperation &o = *in.matrix;
  std::size_t next = 0;
  const auto gather = [&](char which) {
    const MatrixType type = o.type_of(which);
    const unsigned width = bit_width(type), wide = type == MatrixType::f64 ? 64 : 32;
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
      elements.push_back(take_apart(o.type_of(which), bits));
    return elements;
  };
  const std::vector<MatrixElement> a = take_all_apart('a'), b = take_all_apart('b');
  std::vector<std::uint64_t> sums = gather('c');
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
                       word >> i * piece & mask64(piece));
          if (context.run.options.reals && per_register == 1)
            context.run.options.reals->store(context.real_space(lane, address), address, piece / 8,
                                             context.real_of(in.inputs[r], lane));
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
      if (address % 16 != 0)
        context.fail(FaultKind::misaligned, owner,
                     fmt::format("a row of a matrix at {:#x}", address), address);
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
  case OperationKind::transpose:
    return transpose_matrix(context);
  }
}

} // namespace ptxasw::emulator
