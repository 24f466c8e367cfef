// tcgen05 (PTX ISA 9.7.16), by the manual: no GPU that has it was compared.

#include "emulator/machine/warp_tensor.h"

#include "emulator/machine/warp_group.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::emulator {
namespace {

constexpr std::uint64_t row_of(std::uint64_t address) { return address >> 16 & 0xffff; }
constexpr std::uint64_t column_of(std::uint64_t address) { return address & 0xffff; }

/// The lane of tensor memory that holds a row of a product of m rows: all of them, or 16 of every
/// 32 (layouts D and F of 9.7.16.10.5).
constexpr unsigned lane_of_row(unsigned row, unsigned m) {
  return m == 128 ? row : row / 16 * 32 + row % 16;
}

/// A matrix descriptor as tcgen05 has them: the swizzle is in other bits.
SharedMatrix tensor_matrix(const WarpContext &context, unsigned lane, std::uint64_t descriptor) {
  SharedMatrix matrix = SharedMatrix::of(descriptor & mask64(61));
  switch (descriptor >> 61) {
  case 0:
    matrix.swizzle = 0;
    break;
  case 2:
    matrix.swizzle = 128;
    break;
  case 4:
    matrix.swizzle = 64;
    break;
  case 6:
    matrix.swizzle = 32;
    break;
  default:
    context.fail(
        FaultKind::unsupported, lane,
        fmt::format("swizzle {} of a matrix descriptor is not emulated", descriptor >> 61));
  }
  if ((descriptor >> 52 & 1) != 0)
    context.fail(FaultKind::unsupported, lane, "a leading dimension that is an address");
  return matrix;
}

} // namespace

TensorMemory &TensorUnit::memory_of(const WarpContext &context) {
  auto &memory = context.warp->block->tensor_memory;
  if (!memory)
    memory = std::make_shared<TensorMemory>();
  return *memory;
}

std::size_t TensorUnit::cell(const WarpContext &context, unsigned lane, std::uint64_t row,
                             std::uint64_t column) {
  if (row >= TensorMemory::lanes || column >= TensorMemory::columns ||
      !memory_of(context).allocated[column])
    context.fail(
        FaultKind::out_of_bounds, lane,
        fmt::format("column {} of lane {} of tensor memory, which is not allocated", column, row),
        row << 16 | column);
  return row * TensorMemory::columns + column;
}

std::uint32_t TensorUnit::read(const WarpContext &context, unsigned lane, std::uint64_t row,
                               std::uint64_t column) {
  const std::size_t at = cell(context, lane, row, column);
  const TensorMemory &memory = memory_of(context);
  if (run_.options.check_uninitialized && !memory.written[at])
    context.fail(
        FaultKind::uninitialized, lane,
        fmt::format("column {} of lane {} of tensor memory was never written", column, row),
        row << 16 | column);
  return memory.cells[at];
}

void TensorUnit::write(const WarpContext &context, unsigned lane, std::uint64_t row,
                       std::uint64_t column, std::uint32_t value) {
  const std::size_t at = cell(context, lane, row, column);
  memory_of(context).cells[at] = value;
  memory_of(context).written[at] = true;
}

void TensorUnit::together(WarpContext &context, LaneMask group) {
  const WarpInstruction &in = *context.instruction;
  if (group != ~LaneMask{0})
    context.fail(FaultKind::missing_lane, static_cast<unsigned>(std::countr_zero(group)),
                 fmt::format("`{}` needs all 32 lanes of the warp, {:#010x} are there",
                             in.opcode->text, group));
  switch (in.tensor->kind) {
  case TensorMemoryUse::Kind::allocate:
    return allocate(context);
  case TensorMemoryUse::Kind::release:
    return release(context);
  case TensorMemoryUse::Kind::relinquish:
    memory_of(context).may_allocate = false;
    return;
  default:
    return move(context);
  }
}

void TensorUnit::alone(WarpContext &context, LaneMask mask) {
  for_each_lane(mask, [&](unsigned lane) {
    switch (context.instruction->tensor->kind) {
    case TensorMemoryUse::Kind::copy:
      return copy(context, lane);
    case TensorMemoryUse::Kind::shift:
      return shift(context, lane);
    case TensorMemoryUse::Kind::multiply:
      return multiply(context, lane);
    default:
      return commit(context, lane);
    }
  });
}

void TensorUnit::allocate(WarpContext &context) {
  const WarpInstruction &in = *context.instruction;
  TensorMemory &memory = memory_of(context);
  const std::uint64_t count = context.value(in.inputs[0], 0) & mask64(32);
  if (!std::has_single_bit(count) || count < TensorMemory::granule || count > TensorMemory::columns)
    context.fail(FaultKind::unsupported, 0,
                 fmt::format("{} columns of tensor memory: a power of 2 from 32 to 512 may be "
                             "allocated",
                             count));
  if (!memory.may_allocate)
    context.fail(FaultKind::deadlock, 0,
                 "an allocation of tensor memory behind relinquish_alloc_permit");
  for (std::uint64_t first = 0; first + count <= TensorMemory::columns; first += count) {
    bool is_free = true;
    for (std::uint64_t i = first; i < first + count; ++i)
      is_free &= !memory.allocated[i];
    if (!is_free)
      continue;
    for (std::uint64_t i = first; i < first + count; ++i) {
      memory.allocated[i] = true;
      for (unsigned row = 0; row < TensorMemory::lanes; ++row) {
        const std::size_t at = row * std::size_t{TensorMemory::columns} + i;
        memory.written[at] = false;
        memory.cells[at] = static_cast<std::uint32_t>(scramble(at + run_.options.shared_seed));
      }
    }
    memory_.write(context, 0, context.address(in.address, 0), 4, in.space, first);
    return;
  }
  context.fail(FaultKind::deadlock, 0,
               fmt::format("waits for {} free columns of tensor memory", count));
}

void TensorUnit::release(WarpContext &context) {
  const WarpInstruction &in = *context.instruction;
  TensorMemory &memory = memory_of(context);
  const std::uint64_t first = context.value(in.inputs[0], 0) & mask64(32),
                      count = context.value(in.inputs[1], 0) & mask64(32);
  for (std::uint64_t i = first; i < first + count; ++i) {
    if (i >= TensorMemory::columns || !memory.allocated[i])
      context.fail(FaultKind::bad_free, 0,
                   fmt::format("column {} of tensor memory is not allocated", i));
    memory.allocated[i] = false;
  }
}

// tcgen05.ld and tcgen05.st: which cell a register is, 9.7.16.2.3.1.
void TensorUnit::move(WarpContext &context) {
  const WarpInstruction &in = *context.instruction;
  const TensorMemoryUse &use = *in.tensor;
  const bool loads = use.kind == TensorMemoryUse::Kind::load;
  const unsigned own = context.warp->index % 4 * 32;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const std::uint64_t address = context.address(in.address, lane);
    const std::uint64_t first_row = row_of(address);
    if (first_row < own || first_row + use.rows > own + 32 || first_row % 16 != 0)
      context.fail(FaultKind::out_of_bounds, lane,
                   fmt::format("a warp that may access lanes {} to {} of tensor memory accesses {} "
                               "from lane {} on",
                               own, own + 31, use.rows, first_row),
                   address);
    for (unsigned r = 0; r < use.registers.size(); ++r) {
      unsigned row = lane / 4, column = 0;
      if (use.rows == 32) {
        row = lane, column = r;
      } else if (use.is_split) {
        row = lane % 16, column = r;
      } else if (use.bits == 64) {
        row += 8 * (lane % 2), column = lane / 2 % 2 + 2 * r;
      } else if (use.bits == 128) {
        row += 8 * (r % 2), column = lane % 4 + r / 2 * 4;
      } else {
        row += 8 * (r / 2 % 2), column = lane % 4 * 2 + r % 2 + r / 4 * 8;
      }
      std::uint64_t at = column_of(address) + std::uint64_t{column} * (use.packs ? 2 : 1);
      if (use.is_split && lane >= 16)
        at += context.value(in.inputs[0], lane);
      const std::uint64_t there = first_row + row;
      if (loads) {
        std::uint64_t value = read(context, lane, there, at);
        if (use.packs)
          value = (value & 0xffff) | std::uint64_t{read(context, lane, there, at + 1)} << 16;
        context.assign(use.registers[r], lane, value, 32, false);
      } else {
        const auto value = static_cast<std::uint32_t>(context.value(use.registers[r], lane));
        write(context, lane, there, at, use.packs ? value & 0xffff : value);
        if (use.packs)
          write(context, lane, there, at + 1, value >> 16);
      }
    }
  }
}

// tcgen05.cp: rows of a matrix in shared memory to lanes, 16 bytes to four columns.
void TensorUnit::copy(const WarpContext &context, unsigned lane) {
  const WarpInstruction &in = *context.instruction;
  const TensorMemoryUse &use = *in.tensor;
  const SharedMatrix matrix = tensor_matrix(context, lane, context.value(use.b_descriptor, lane));
  const std::uint64_t to = context.address(in.address, lane);
  if (matrix.base != 0)
    context.fail(FaultKind::unsupported, lane, "a matrix whose swizzle begins elsewhere");
  for (unsigned row = 0; row < use.rows; ++row)
    for (unsigned piece = 0; piece < use.bits / 128; ++piece) {
      const std::uint64_t from = matrix.piece(row, piece * 16, 8);
      for (unsigned word = 0; word < 4; ++word) {
        const auto value = static_cast<std::uint32_t>(
            memory_.read(context, lane, from + 4ul * word, 4, StateSpace::shared));
        for (unsigned i = 0; i < use.copies; ++i) {
          // 64 rows for two warps' lanes each: halves side by side, or every other one.
          const unsigned there = use.rows != 64 || use.copies == 1 ? row + i * use.rows
                                 : use.interleaved ? row / 32 * 32 + row % 32 + i * 64
                                                   : row / 32 * 64 + row % 32 + i * 32;
          write(context, lane, row_of(to) + there, column_of(to) + std::uint64_t{piece} * 4 + word,
                value);
        }
      }
    }
}

// tcgen05.shift.down: each lane becomes the next one, for 32 lanes and columns of 32 bytes.
void TensorUnit::shift(const WarpContext &context, unsigned lane) {
  const std::uint64_t from = context.address(context.instruction->address, lane);
  const std::uint64_t first = row_of(from), last = std::uint64_t{TensorMemory::lanes} - 1;
  if (first % 32 != 0)
    context.fail(FaultKind::misaligned, lane, "a shift from a lane that is no multiple of 32",
                 from);
  for (std::uint64_t row = first; row < last; ++row)
    for (unsigned i = 0; i < 8; ++i)
      write(context, lane, row, column_of(from) + i,
            read(context, lane, row + 1, column_of(from) + i));
}

void TensorUnit::multiply(const WarpContext &context, unsigned lane) {
  const TensorMemoryUse &use = *context.instruction->tensor;
  const std::uint64_t how = context.value(use.how, lane) & mask64(32);
  const auto field = [&](unsigned at, unsigned width) {
    return static_cast<unsigned>(how >> at & mask64(width));
  };
  const auto wrong = [&](const std::string &what) {
    context.fail(FaultKind::unsupported, lane,
                 fmt::format("`{}` with an instruction descriptor ({:#010x}) of {}",
                             context.instruction->opcode->text, how, what));
  };
  static constexpr MatrixType sixteen[] = {MatrixType::f16, MatrixType::bf16},
                              bytes[] = {MatrixType::u8, MatrixType::s8},
                              shorts[] = {MatrixType::e4m3, MatrixType::e5m2, MatrixType::none,
                                          MatrixType::e2m3, MatrixType::e3m2, MatrixType::e2m1,
                                          MatrixType::none, MatrixType::none};
  const auto type_of = [&](unsigned code) {
    switch (use.type) {
    case MatrixType::f16:
      return code < 2 ? sixteen[code] : MatrixType::none;
    case MatrixType::tf32:
      return code == 2 ? MatrixType::tf32 : MatrixType::none;
    case MatrixType::s8:
      return code < 2 ? bytes[code] : MatrixType::none;
    default:
      return shorts[code];
    }
  };
  MatrixArithmetic arithmetic;
  arithmetic.a = type_of(field(7, 3));
  arithmetic.b = type_of(field(10, 3));
  static constexpr MatrixType sums[] = {MatrixType::f16, MatrixType::f32, MatrixType::s32,
                                        MatrixType::none};
  arithmetic.d = arithmetic.c = sums[field(4, 2)];
  arithmetic.saturate = field(3, 1) != 0;
  const unsigned n = field(17, 6) * 8, m = field(24, 5) * 16;
  if (field(2, 1) != 0)
    wrong("sparse matrices");
  if (arithmetic.a == MatrixType::none || arithmetic.b == MatrixType::none ||
      (use.type == MatrixType::s8) != (arithmetic.d == MatrixType::s32) ||
      arithmetic.d == MatrixType::none)
    wrong("types that are not emulated");
  if ((m != 64 && m != 128) || n < 8 || n > 256 || n % (m == 128 ? 16 : 8) != 0)
    wrong(fmt::format("{} rows and {} columns", m, n));
  const bool is_short = use.type == MatrixType::e4m3;
  const unsigned k = use.type == MatrixType::f16 ? 16 : use.type == MatrixType::tf32 ? 8 : 32;
  const auto in_shared = [&](const WarpOperand &operand, bool turned, MatrixType type,
                             unsigned rows) {
    SharedMatrix matrix = tensor_matrix(context, lane, context.value(operand, lane));
    matrix.by_columns = turned;
    if (!is_short || bit_width(type) == 8)
      return read_shared_matrix(context, memory_, lane, matrix, type, 0, rows, k);
    // 16 elements of less than a byte are packed at the beginning of every 16 bytes.
    if (turned)
      wrong("elements of less than a byte that do not lie along k");
    const unsigned bits = bit_width(type);
    std::vector<MatrixElement> result;
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned first = 0; first < k; first += 16) {
        const std::uint64_t at = matrix.piece(row, first, 8);
        const std::uint64_t low = memory_.read(context, lane, at, 8, StateSpace::shared),
                            high = memory_.read(context, lane, at + 8, 8, StateSpace::shared);
        for (unsigned i = 0; i < 16; ++i) {
          const unsigned from = i * bits;
          const std::uint64_t both =
              from < 64 ? low >> from | (from != 0 ? high << (64 - from) : 0) : high >> (from - 64);
          result.push_back(take_apart(type, both & mask64(bits)));
        }
      }
    return result;
  };
  std::vector<MatrixElement> a;
  if (use.a_descriptor.kind != WarpOperand::Kind::none) {
    a = in_shared(use.a_descriptor, field(15, 1) != 0, arithmetic.a, m);
  } else {
    const std::uint64_t from = context.address(use.a, lane);
    const unsigned bits = is_short ? 8 : bit_width(arithmetic.a), in_word = 32 / bits;
    if (bits != bit_width(arithmetic.a))
      wrong("elements of less than a byte in tensor memory");
    for (unsigned row = 0; row < m; ++row)
      for (unsigned i = 0; i < k; ++i) {
        const std::uint64_t word =
            read(context, lane, row_of(from) + lane_of_row(row, m), column_of(from) + i / in_word);
        a.push_back(take_apart(arithmetic.a, word >> i % in_word * bits & mask64(bits)));
      }
  }
  std::vector<MatrixElement> b = in_shared(use.b_descriptor, field(16, 1) != 0, arithmetic.b, n);
  for (MatrixElement &element : a)
    element.negative ^= field(13, 1) != 0;
  for (MatrixElement &element : b)
    element.negative ^= field(14, 1) != 0;
  const bool adds = (context.value(use.adds, lane) & 1) != 0;
  const std::uint64_t to = context.address(use.d, lane);
  const unsigned bits = bit_width(arithmetic.d);
  for (unsigned row = 0; row < m; ++row) {
    const std::uint64_t there = row_of(to) + lane_of_row(row, m);
    if (!use.masked.empty() &&
        (context.value(use.masked[there / 32 % use.masked.size()], lane) >> there % 32 & 1) != 0)
      continue;
    for (unsigned column = 0; column < n; ++column) {
      const std::uint64_t old =
          adds ? read(context, lane, there, column_of(to) + column) & mask64(bits) : 0;
      write(context, lane, there, column_of(to) + column,
            static_cast<std::uint32_t>(
                multiply_add(arithmetic, std::span(a).subspan(std::size_t{row} * k, k),
                             std::span(b).subspan(std::size_t{column} * k, k), old)));
    }
  }
}

void TensorUnit::commit(const WarpContext &context, unsigned lane) {
  const WarpInstruction &in = *context.instruction;
  const std::uint64_t address = context.address(in.address, lane);
  if (in.tensor->blocks.kind == WarpOperand::Kind::none)
    return async_.arrive(context, lane, address);
  const std::uint64_t blocks = context.value(in.tensor->blocks, lane) & 0xffff;
  for (unsigned rank = 0; rank < 16; ++rank)
    if (blocks >> rank & 1)
      async_.arrive(context, lane, run_.shared_of_rank(rank, address));
}

} // namespace ptxasw::emulator
