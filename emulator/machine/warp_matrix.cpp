// Which operations on matrices there are (PTX ISA 9.7.14), and which lane holds which element.

#include "emulator/machine/warp_matrix.h"

#include <algorithm>
#include <charconv>
#include <fmt/core.h>

namespace ptxasw::emulator {
namespace {

using OperationKind = MatrixOperation::Kind;

/// `m16n8k32`; false: it is not a shape.
bool read_shape(std::string_view word, MatrixOperation &to) {
  const auto number = [&](char letter, unsigned &value) {
    if (word.empty() || word[0] != letter)
      return false;
    const auto end = std::from_chars(word.data() + 1, word.data() + word.size(), value);
    if (end.ec != std::errc())
      return false;
    word.remove_prefix(static_cast<std::size_t>(end.ptr - word.data()));
    return true;
  };
  MatrixOperation read = to;
  if (!number('m', read.m) || !number('n', read.n) || (!word.empty() && !number('k', read.k)) ||
      !word.empty())
    return false;
  to = read;
  return true;
}

std::string multiply_refusal(const MatrixOperation &o) {
  const MatrixArithmetic &how = o.arithmetic;
  const bool is_wmma = o.kind == OperationKind::wmma_multiply;
  if (bit_width(how.a) == 0 || o.width_of('a') != o.width_of('b'))
    return "these types";
  const bool is_short = how.a >= MatrixType::e4m3 && how.a <= MatrixType::e2m1;
  if (o.in_bytes && (!is_short || o.m != 16 || o.k != 32))
    return "this shape";
  if (o.scales != 0 && !o.in_bytes && (how.a != MatrixType::e2m1 || o.k != 64))
    return "these types";
  const unsigned wide = o.width_of('a');
  const bool shape = is_wmma
                         ? (o.m == 16 && o.n == 16 && (o.k == 16 || (o.k == 8 && wide == 32))) ||
                               ((o.m == 32 || o.m == 8) && o.m * o.n == 256 && o.k == 16) ||
                               (o.m == 8 && o.n == 8 && o.k * wide == (wide == 64 ? 256 : 128))
                         : (o.m == 8 || o.m == 16) && o.n == 8 &&
                               (o.k * wide == 128 || o.k * wide == 256 || wide == 64);
  if (!shape || o.k > 256 || (wide == 64 && o.k != 4 && o.k != 8 && o.k != 16))
    return "this shape";
  const bool sums = how.a == MatrixType::f64 ? how.c == how.a && how.d == how.a
                    : how.a == MatrixType::s8 || how.a == MatrixType::u8 ||
                            how.a == MatrixType::s4 || how.a == MatrixType::u4 ||
                            how.a == MatrixType::b1
                        ? how.c == MatrixType::s32 && how.d == MatrixType::s32
                        : (how.c == MatrixType::f32 || how.c == MatrixType::f16) &&
                              (how.d == MatrixType::f32 || how.d == MatrixType::f16);
  return sums ? "" : "these types of sums";
}

} // namespace

MatrixType MatrixOperation::type_of(char which) const {
  if (kind == OperationKind::wmma_load || kind == OperationKind::wmma_store)
    return type;
  return which == 'a'   ? arithmetic.a
         : which == 'b' ? arithmetic.b
         : which == 'c' ? arithmetic.c
                        : arithmetic.d;
}

unsigned MatrixOperation::width_of(char which) const {
  return in_bytes && (which == 'a' || which == 'b') ? 8 : bit_width(type_of(which));
}

// Of numbers of 4 bits those in the middle of the byte.
MatrixElement MatrixOperation::element(char which, std::uint64_t bits) const {
  const MatrixType element_type = type_of(which);
  const unsigned low = in_bytes && element_type == MatrixType::e2m1 ? 2 : 0;
  return take_apart(element_type, bits >> low & mask64(bit_width(element_type)));
}

unsigned MatrixOperation::registers(char which) const {
  const MatrixType element = type_of(which);
  const bool is_wmma = kind != OperationKind::multiply;
  if (is_wmma && element == MatrixType::f16 && (which == 'a' || which == 'b'))
    return 8; // whatever the shape (PTX ISA 9.7.14.4.1)
  const unsigned bits = rows(which) * columns(which) * width_of(which);
  return bits / 32 / (element == MatrixType::f64 ? 64 : 32);
}

MatrixDecoding decode_matrix(const Opcode &opcode) {
  MatrixDecoding result;
  MatrixOperation &o = result.operation;
  const auto refuse = [&](std::string why) {
    if (result.refusal.empty())
      result.refusal = std::move(why);
  };
  o.kind = opcode.op == Op::ldmatrix     ? OperationKind::load
           : opcode.op == Op::stmatrix   ? OperationKind::store
           : opcode.op == Op::movmatrix  ? OperationKind::transpose
           : opcode.op == Op::mma        ? OperationKind::multiply
           : opcode.has(Modifier::load)  ? OperationKind::wmma_load
           : opcode.has(Modifier::store) ? OperationKind::wmma_store
                                         : OperationKind::wmma_multiply;
  std::vector<MatrixType> types;
  std::vector<bool> columns;
  for (const std::string_view word : opcode.modifiers) {
    if (const MatrixType type = matrix_type(word); type != MatrixType::none)
      types.push_back(type);
    else if (word == "row" || word == "col")
      columns.push_back(word == "col");
    else if (word == "x1" || word == "x2" || word == "x4")
      o.count = static_cast<unsigned>(word[1] - '0');
    else if (word == "trans")
      o.transposed = true;
    else if (word == "satfinite")
      o.arithmetic.saturate = true;
    else if (word == "and")
      o.arithmetic.bitwise_and = true;
    else if (word.size() == 1 && word[0] >= 'a' && word[0] <= 'd')
      o.fragment = word[0];
    else if (word == "sp" || word.starts_with("sp::"))
      refuse("sparse matrices");
    else if (word == "b8" || word == "b8x16")
      o.kind =
          o.kind == OperationKind::load ? OperationKind::load_bytes : OperationKind::store_bytes;
    else if (word == "b6x16_p32" || word == "b4x16_p64")
      o.packed = static_cast<unsigned>(word[1] - '0');
    else if (word == "kind::f8f6f4" || word == "kind::mxf8f6f4")
      o.in_bytes = true;
    else if (word == "kind::mxf4" || word == "kind::mxf4nvf4")
      o.scales = 2;
    else if (word.starts_with("scale_vec::") && word.size() == 13)
      o.scales = static_cast<unsigned>(word[11] - '0');
    else if (word == "ue4m3")
      o.short_scales = true;
    else if (word == "block_scale")
      o.scales = std::max(o.scales, 1u);
    else if (!read_shape(word, o) && word != "sync" && word != "aligned" && word != "load" &&
             word != "store" && word != "mma" && word != "xor" && word != "popc" && word != "b16" &&
             state_space(word) == StateSpace::generic && word != "shared::cta" && word != "cta" &&
             word != "ue8m0")
      refuse(fmt::format("`.{}`", word));
  }
  MatrixArithmetic &how = o.arithmetic;
  switch (o.kind) {
  case OperationKind::load:
  case OperationKind::store:
  case OperationKind::transpose:
    if (o.m != 8 || o.n != 8 || !opcode.has(Modifier::b16) ||
        (o.kind == OperationKind::transpose && !o.transposed))
      refuse("this shape");
    return result;
  case OperationKind::load_bytes:
    if (o.m == 16 ? o.n != 16 || !o.transposed || o.count > 2
                  : o.m != 8 || o.n != 16 || o.transposed || o.packed == 8)
      refuse("this shape");
    return result;
  case OperationKind::store_bytes:
    if (o.m != 16 || o.n != 8 || !o.transposed)
      refuse("this shape");
    return result;
  case OperationKind::wmma_load:
  case OperationKind::wmma_store:
    if (types.size() != 1 || columns.size() != 1 || o.m * o.n > 256 || o.k > 128)
      refuse("this form");
    else
      o.type = types[0], o.a_columns = columns[0];
    return result;
  default:
    break;
  }
  if (o.kind == OperationKind::wmma_multiply && types.size() == 2) // of d and c
    types = {types[0], MatrixType::f16, MatrixType::f16, types[1]};
  if (types.size() != 4 || columns.size() != 2) {
    refuse("this form");
    return result;
  }
  how.d = types[0], how.a = types[1], how.b = types[2], how.c = types[3];
  o.a_columns = columns[0], o.b_columns = columns[1];
  if (o.kind == OperationKind::wmma_multiply && how.a == MatrixType::tf32)
    how.step = 4;
  if (how.a == MatrixType::f16 && o.m == 8 && o.kind == OperationKind::multiply)
    refuse("this shape");
  if (o.kind == OperationKind::multiply && (o.a_columns || !o.b_columns))
    refuse("this layout");
  if (std::string why = multiply_refusal(o); !why.empty())
    refuse(std::move(why));
  return result;
}

MatrixPlace matrix_place(const MatrixOperation &operation, char which, unsigned lane,
                         unsigned element) {
  const MatrixType type = operation.type_of(which);
  const unsigned wide = type == MatrixType::f64 ? 64 : 32;
  const unsigned per_register = wide / operation.width_of(which);
  if (operation.kind != OperationKind::multiply) {
    const unsigned all = operation.rows(which) * operation.columns(which);
    const unsigned at = (lane * operation.registers(which) * per_register + element) % all;
    if (which == 'b')
      return {at % operation.k, at / operation.k};
    return {at / operation.columns(which), at % operation.columns(which)};
  }
  const unsigned group = lane / 4, place = lane % 4;
  const unsigned reg = element / per_register, within = element % per_register;
  switch (which) {
  case 'a': { // registers in turn of the upper and the lower eight rows
    const unsigned upper = operation.m / 8;
    return {group + 8 * (reg % upper),
            reg / upper * 4 * per_register + place * per_register + within};
  }
  case 'b':
    return {reg * 4 * per_register + place * per_register + within, group};
  default: // two neighbours, then eight rows below
    return {group + 8 * (element / 2), place * 2 + element % 2};
  }
}

} // namespace ptxasw::emulator
