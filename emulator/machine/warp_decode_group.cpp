// Decoding of wgmma (PTX ISA 9.7.15).

#include "emulator/machine/warp_decode.h"

#include "emulator/machine/group_product.h"

#include <charconv>
#include <fmt/core.h>
#include <utility>

namespace ptxasw::emulator {

void WarpDecoder::decode_group_product() {
  const Opcode &opcode = *out_.opcode;
  using Kind = GroupProduct::Kind;
  out_.action = WarpAction::group_product;
  auto product = std::make_shared<GroupProduct>();
  product->kind = opcode.op == Op::wgmma && opcode.has(Modifier::mma_async) ? Kind::multiply
                  : opcode.has(Modifier::commit_group)                      ? Kind::commit
                  : opcode.has(Modifier::wait_group)                        ? Kind::wait
                                                                            : Kind::fence;
  if (product->kind != Kind::multiply) {
    if (operands_.size() != (product->kind == Kind::wait ? 1u : 0u))
      return refuse("this form");
    if (product->kind == Kind::wait)
      product->left = input(operands_[0], ScalarType::u64);
    out_.group = std::move(product);
    return;
  }
  if (opcode.has(Modifier::sp))
    return refuse("sparse matrices");
  MatrixArithmetic &how = product->arithmetic;
  std::vector<MatrixType> types;
  unsigned k = 0;
  for (const std::string_view word : opcode.modifiers)
    if (const MatrixType type = matrix_type(word); type != MatrixType::none) {
      types.push_back(type);
    } else if (word.starts_with("m64n")) {
      const char *const end = word.data() + word.size();
      const auto read = std::from_chars(word.data() + 4, end, product->n);
      if (read.ptr != end && *read.ptr == 'k')
        std::from_chars(read.ptr + 1, end, k);
    }
  how.saturate = opcode.has(Modifier::satfinite);
  how.bitwise_and = opcode.has(Modifier::and_);
  if (types.size() != 3 || product->n % 8 != 0 || product->n == 0 || product->n > 256)
    return refuse("this shape");
  how.d = how.c = types[0], how.a = types[1], how.b = types[2];
  const unsigned bits = bit_width(how.a);
  const bool is_float = how.a == MatrixType::f16 || how.a == MatrixType::bf16 ||
                        how.a == MatrixType::tf32 || how.a == MatrixType::e4m3 ||
                        how.a == MatrixType::e5m2;
  const bool sums = is_float ? how.d == MatrixType::f32 ||
                                   (how.d == MatrixType::f16 && how.a != MatrixType::bf16 &&
                                    how.a != MatrixType::tf32)
                             : how.d == MatrixType::s32;
  if (bits == 0 || bits == 64 || bits != bit_width(how.b) || bits * k != 256 || !sums)
    return refuse("these types");
  how.coarse = is_float && bits == 8;
  product->k = k;
  if (operands_.size() < 4 || operands_[0].kind != Operand::Kind::vector)
    return refuse("this form");
  for (const Operand &operand : module_.children(operands_[0]))
    out_.outputs.push_back(output(operand));
  if (out_.outputs.size() != product->n * bit_width(how.d) / 64)
    return refuse("another number of registers");
  const bool in_registers = operands_[1].kind == Operand::Kind::vector;
  if (in_registers)
    for (const Operand &operand : module_.children(operands_[1]))
      product->a.push_back(input(operand, ScalarType::b32));
  else
    product->a_descriptor = input(operands_[1], ScalarType::b64);
  if (in_registers && product->a.size() != 4)
    return refuse("another number of registers");
  product->b_descriptor = input(operands_[2], ScalarType::b64);
  product->adds = input(operands_[3], ScalarType::pred);
  const auto constants = operands_.subspan(4);
  const std::size_t wanted = !is_float ? 0 : bits != 16 ? 2 : in_registers ? 3 : 4;
  if (constants.size() != wanted)
    return refuse("this form");
  for (const Operand &constant : constants)
    if (constant.kind != Operand::Kind::integer)
      return refuse("a sign or a layout that is no constant");
  if (is_float) {
    product->negates_a = constants[0].value == -1;
    product->negates_b = constants[1].value == -1;
  }
  if (wanted > 2) {
    product->a_columns = !in_registers && constants[2].value == 1;
    product->b_rows = constants.back().value == 1;
  }
  out_.group = std::move(product);
}

} // namespace ptxasw::emulator
