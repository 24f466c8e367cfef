// Products of groups of four warps (PTX ISA 9.7.15). No warp needs what another one computes: each
// has 16 of the 64 rows, and reads all of b. So each issues its part when it comes to the
// instruction. A warp that waits for a product waits until all four have issued it, and then all
// parts have happened: one thread of the group may tell others that the matrices are free. Whether
// the four executed the same is compared when the block has ended.
//
// A part happens at once, or, if the random schedule decides so, when it is waited for: a program
// that does not wait sees either. Products of a warp happen in order. Races: the matrices are read
// by the first lane of each warp, and of what these read all threads know that have waited.

#include "emulator/machine/warp_group.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::emulator {
namespace {

constexpr unsigned group_warps = 4, warp_rows = 16;

} // namespace

SharedMatrix SharedMatrix::of(std::uint64_t descriptor) {
  const auto field = [&](unsigned at) { return (descriptor >> at & mask64(14)) << 4; };
  static constexpr unsigned swizzles[] = {0, 128, 64, 32};
  SharedMatrix result;
  result.start = window::shared + field(0);
  result.leading = field(16);
  result.stride = field(32);
  result.base = static_cast<unsigned>(descriptor >> 49 & 7);
  result.swizzle = swizzles[descriptor >> 62];
  return result;
}

// The canonical layouts of 9.7.15.5.1.2.1.3, in pieces of 16 bytes.
std::uint64_t SharedMatrix::piece(unsigned row, unsigned k, unsigned bits) const {
  const unsigned in_piece = 128 / bits;
  const std::uint64_t pieces = swizzle == 0 ? 1 : swizzle / 16; // side by side
  std::uint64_t address = start;
  if (by_columns) {
    const std::uint64_t along = row / in_piece;
    address += along % pieces * 16 + along / pieces * (swizzle == 0 ? stride : leading) +
               k % 8 * pieces * 16 + std::uint64_t{k} / 8 * (swizzle == 0 ? leading : stride);
  } else {
    address += row % 8 * pieces * 16 + std::uint64_t{row} / 8 * stride +
               std::uint64_t{k} / in_piece * (swizzle == 0 ? leading : 16);
  }
  return address ^ (address >> 7 & (pieces - 1)) << 4;
}

std::vector<MatrixElement> read_shared_matrix(const WarpContext &context, MemoryView &memory,
                                              unsigned lane, const SharedMatrix &matrix,
                                              MatrixType type, unsigned first, unsigned rows,
                                              unsigned columns) {
  if (matrix.base != 0)
    context.fail(FaultKind::unsupported, lane,
                 "a matrix whose swizzle begins elsewhere (a base offset in its descriptor)");
  const unsigned bits = bit_width(type), in_piece = 128 / bits;
  std::vector<MatrixElement> result(std::size_t{rows} * columns);
  const auto read = [&](unsigned row, unsigned k, const auto &keep) {
    const std::uint64_t address = matrix.piece(row, k, bits);
    std::uint64_t words[2];
    for (unsigned half = 0; half < 2; ++half)
      words[half] = memory.read(context, lane, address + 8ul * half, 8, StateSpace::shared);
    for (unsigned i = 0; i < in_piece; ++i)
      keep(i, take_apart(type, words[i * bits / 64] >> i * bits % 64 & mask64(bits)));
  };
  if (matrix.by_columns) {
    for (unsigned k = 0; k < columns; ++k)
      for (unsigned row = first / in_piece * in_piece; row < first + rows; row += in_piece)
        read(row, k, [&](unsigned i, const MatrixElement &element) {
          if (row + i >= first && row + i < first + rows)
            result[std::size_t{row + i - first} * columns + k] = element;
        });
    return result;
  }
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned k = 0; k < columns; k += in_piece)
      read(first + row, k, [&](unsigned i, const MatrixElement &element) {
        result[std::size_t{row} * columns + k + i] = element;
      });
  return result;
}

namespace {

std::vector<MatrixElement> registers_of_a(const WarpContext &context, const GroupProduct &product) {
  const MatrixType type = product.arithmetic.a;
  const unsigned bits = bit_width(type), per_register = 32 / bits;
  std::vector<MatrixElement> result(std::size_t{warp_rows} * product.k);
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    for (unsigned r = 0; r < 4; ++r) {
      const std::uint64_t word = context.value(product.a[r], lane);
      for (unsigned i = 0; i < per_register; ++i) {
        const unsigned row = lane / 4 + 8 * (r % 2),
                       column = (r / 2 * 4 + lane % 4) * per_register + i;
        result[std::size_t{row} * product.k + column] =
            take_apart(type, word >> i * bits & mask64(bits));
      }
    }
  return result;
}

void multiply(WarpContext &context, MemoryView &memory) {
  const WarpInstruction &in = *context.instruction;
  const GroupProduct &product = *in.group;
  const MatrixArithmetic &how = product.arithmetic;
  const auto negate = [](std::vector<MatrixElement> &elements) {
    for (MatrixElement &element : elements)
      element.negative = !element.negative;
  };
  const unsigned warp = context.warp->index % group_warps;
  std::vector<MatrixElement> a;
  if (product.a.empty()) {
    SharedMatrix matrix = SharedMatrix::of(context.value(product.a_descriptor, 0));
    matrix.by_columns = product.a_columns;
    a = read_shared_matrix(context, memory, 0, matrix, how.a, warp * warp_rows, warp_rows,
                           product.k);
  } else {
    a = registers_of_a(context, product);
  }
  SharedMatrix matrix = SharedMatrix::of(context.value(product.b_descriptor, 0));
  matrix.by_columns = product.b_rows;
  std::vector<MatrixElement> b =
      read_shared_matrix(context, memory, 0, matrix, how.b, 0, product.n, product.k);
  if (product.negates_a)
    negate(a);
  if (product.negates_b)
    negate(b);
  const bool adds =
      product.adds.kind == WarpOperand::Kind::none || (context.value(product.adds, 0) & 1) != 0;
  const unsigned bits = bit_width(how.d), per_register = 32 / bits;
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    for (unsigned r = 0; r < in.outputs.size(); ++r) {
      const std::uint64_t old = adds ? context.value(in.outputs[r], lane) : 0;
      std::uint64_t word = 0;
      for (unsigned i = 0; i < per_register; ++i) {
        const unsigned element = r * per_register + i;
        const std::size_t row = lane / 4 + 8 * (element / 2 % 2),
                          column = element / 4 * 8 + lane % 4 * 2 + element % 2;
        const std::uint64_t sum = multiply_add(
            how, std::span(a).subspan(row * product.k, product.k),
            std::span(b).subspan(column * product.k, product.k), old >> i * bits & mask64(bits));
        word |= sum << i * bits;
      }
      context.assign(in.outputs[r], lane, word, 32, false);
    }
}

/// Performs a warp's products up to one.
void complete_products(MachineRun &run, WarpState &warp, MemoryView &memory, std::uint32_t last) {
  std::vector<PendingProduct> &products = warp.products;
  const auto end = std::find_if(products.begin(), products.end(),
                                [&](const PendingProduct &p) { return p.number > last; });
  for (auto product = products.begin(); product != end; ++product) {
    WarpContext context{run,
                        &warp,
                        &warp.levels[product->depth],
                        product->depth,
                        product->function,
                        product->instruction};
    multiply(context, memory);
    warp.products_read = context.moment(0);
  }
  products.erase(products.begin(), end);
}

/// The warps of the group that a warp is in; none if the block has not all four.
std::span<WarpState> group_of(const WarpContext &context) {
  std::vector<WarpState> &warps = context.warp->block->warps;
  const std::size_t first = context.warp->index - context.warp->index % group_warps;
  return first + group_warps > warps.size() ? std::span<WarpState>()
                                            : std::span(warps).subspan(first, group_warps);
}

/// How many of its products a warp at a wgmma.wait_group wants complete.
std::uint32_t awaited_products(const WarpContext &context) {
  const std::vector<std::uint32_t> &groups = context.warp->product_groups;
  const std::uint64_t left = context.value(context.instruction->group->left, 0);
  return left >= groups.size() ? 0 : groups[groups.size() - 1 - left];
}

} // namespace

void execute_group_product(WarpContext &context, MemoryView &memory, LaneMask group) {
  const WarpInstruction &in = *context.instruction;
  WarpState &warp = *context.warp;
  if (group != ~LaneMask{0})
    context.fail(FaultKind::missing_lane, static_cast<unsigned>(std::countr_zero(group)),
                 fmt::format("`{}` needs all 32 lanes of the warp, {:#010x} are there",
                             in.opcode->text, group));
  switch (in.group->kind) {
  case GroupProduct::Kind::fence:
    return;
  case GroupProduct::Kind::commit:
    warp.product_groups.push_back(warp.products_issued);
    return;
  case GroupProduct::Kind::wait: {
    const std::uint32_t last = awaited_products(context);
    const bool ordered = context.run.races && last != 0;
    KnownPast past;
    for (WarpState &other : group_of(context)) {
      complete_products(context.run, other, memory, last);
      if (ordered)
        past.add(other.products_read, context.run.block_threads);
    }
    for (unsigned lane = 0; ordered && lane < warp_lanes; ++lane)
      context.run.races->order().leave(context.moment(lane), past);
    return;
  }
  case GroupProduct::Kind::multiply:
    break;
  }
  if (warp.index / group_warps * group_warps + group_warps > context.run.block_warps)
    context.fail(
        FaultKind::missing_lane, 0,
        fmt::format("`{}` in a block whose last warps are no group of four", in.opcode->text));
  const auto of_all = [&](const WarpOperand &operand) {
    const std::uint64_t first = context.value(operand, 0);
    for (unsigned lane = 1; lane < warp_lanes; ++lane)
      if (context.value(operand, lane) != first)
        context.fail(FaultKind::unsupported, lane,
                     fmt::format("lanes give `{}` different descriptors or predicates: undefined",
                                 in.opcode->text));
    return first;
  };
  std::uint64_t what = in.source ^ std::uint64_t{context.function} << 32;
  what = scramble(what ^ of_all(in.group->b_descriptor));
  if (in.group->a.empty())
    what = scramble(what ^ of_all(in.group->a_descriptor));
  what = scramble(what ^ of_all(in.group->adds));
  warp.products_seen = scramble(warp.products_seen ^ what);
  warp.products.push_back(
      {context.instruction, context.depth, context.function, ++warp.products_issued});
  if (context.run.options.schedule != WarpSchedule::random || context.run.random.one_in(2))
    complete_products(context.run, warp, memory, ~0u);
}

bool can_wait_for_products(const WarpContext &context) {
  const std::uint32_t last = awaited_products(context);
  for (const WarpState &other : group_of(context)) {
    if (other.products_issued >= last)
      continue;
    if (other.live == 0)
      context.fail(FaultKind::missing_lane, 0,
                   fmt::format("`{}` waits for a product that warp {} of the group never executes",
                               context.instruction->opcode->text, other.index));
    return false;
  }
  return true;
}

void check_group_products(const WarpContext &context) {
  const auto &warps = context.warp->block->warps;
  for (std::size_t first = 0; first < warps.size(); first += group_warps)
    for (std::size_t i = first; i < std::min(warps.size(), first + group_warps); ++i)
      if (warps[i].products_seen != warps[first].products_seen)
        throw MachineFault{context.place(
            FaultKind::missing_lane, 0,
            fmt::format("warps {} and {}, which are of a group, have not executed the same "
                        "`wgmma.mma_async` of the same descriptors",
                        first, i),
            0)};
}

} // namespace ptxasw::emulator
