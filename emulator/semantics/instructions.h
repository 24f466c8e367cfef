#pragma once

// What instructions compute: one table, one line per instruction and form.
//
// A line is written once over a domain D and used by every emulator: the symbolic one instantiates
// it with expressions (ExprPool), the concrete one with numbers (ConcreteDomain). What a domain has
// to offer is in domain.h; evaluator.h says which operands the values of a line are.
//
// To add an instruction, add a line:
//
//   {"shl", "b16 b32 b64", "", "T=TU", [](D &d, const Form &f, Args<D> s) { ... }},
//     |      |              |   |
//     |      |              |   shape: result and operand widths, see Shape
//     |      |              modifiers it may have; "+x" must be there
//     |      types it exists for, the first type modifier; "*" any, "" none
//     base opcode
//
// The first line that fits is taken. A modifier that no line names makes the instruction opaque.

#include "emulator/semantics/domain.h"
#include "grammar/module.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace ptxasw::emulator {

/// The comparison of set, setp and vset (PTX ISA 9.7.7); from equ on for floating-point types only.
// clang-format off
enum class Comparison : std::uint8_t {
  none, eq, ne, lt, le, gt, ge, lo, ls, hi, hs, equ, neu, ltu, leu, gtu, geu, num, nan
};
// clang-format on

/// The modifiers of an opcode that the table's functions look at, decoded once per opcode.
struct Form {
  ScalarType type = ScalarType::none;
  ScalarType source_type = ScalarType::none; ///< second type of cvt, set, slct, dp4a
  unsigned width = 0;                        ///< bits of type
  unsigned source_width = 0;
  bool is_signed = false;
  bool source_signed = false;
  bool third_signed = false; ///< third type of the video instructions
  Comparison comparison = Comparison::none;
  std::string_view text; ///< the whole opcode: the name of an uninterpreted function
};

Form decode(const Opcode &opcode);

template <Domain D> using Args = std::span<const typename D::Value>;

/// One line of the table. Letters of a shape, result first, then '=', then the operands:
///   T the type's width    S the second type's width   W twice the type's width
///   U 32 bits             P a predicate               C the carry flag, not an operand in the text
///   K as a result: type's width plus a carry bit on top, which goes to the carry flag
template <Domain D> struct Line {
  std::string_view base;
  std::string_view types;
  std::string_view modifiers;
  std::string_view shape;
  Value<D> (*evaluate)(D &, const Form &, Args<D>);
};

/// Width in bits that a shape letter stands for.
inline unsigned shape_width(char letter, const Form &form) {
  switch (letter) {
  case 'T':
    return form.width;
  case 'S':
    return form.source_width;
  case 'W':
    return 2 * form.width;
  case 'K':
    return form.width + 1;
  case 'U':
    return 32;
  default:
    return 1;
  }
}

namespace semantics {

inline constexpr std::string_view integers = "u16 u32 u64 s16 s32 s64";
inline constexpr std::string_view words = "u32 u64 s32 s64";
inline constexpr std::string_view logic = "pred b16 b32 b64";

template <Domain D> Value<D> number(D &d, unsigned width, std::uint64_t value) {
  return d.constant(width, Bits{value});
}

template <Domain D> Value<D> extend(D &d, Value<D> a, unsigned width, bool is_signed) {
  return is_signed ? d.sext(a, width) : d.zext(a, width);
}

/// Truncates or extends to a width.
template <Domain D> Value<D> resize(D &d, Value<D> a, unsigned width, bool is_signed) {
  return width <= d.width(a) ? d.extract(a, 0, width) : extend(d, a, width, is_signed);
}

template <Domain D> Value<D> less(D &d, Value<D> a, Value<D> b, bool is_signed) {
  return is_signed ? d.slt(a, b) : d.ult(a, b);
}

/// The double-width product.
template <Domain D> Value<D> wide_product(D &d, const Form &f, Value<D> a, Value<D> b) {
  return d.mul(extend(d, a, 2 * f.width, f.is_signed), extend(d, b, 2 * f.width, f.is_signed));
}

template <Domain D> Value<D> high_product(D &d, const Form &f, Value<D> a, Value<D> b) {
  return d.extract(wide_product(d, f, a, b), f.width, f.width);
}

/// a + b + carry with the carry-out on top.
template <Domain D> Value<D> add_with_carry(D &d, Value<D> a, Value<D> b, Value<D> carry) {
  const unsigned width = d.width(a) + 1;
  return d.add(d.add(d.zext(a, width), d.zext(b, width)), d.zext(carry, width));
}

/// a - b - borrow with the carry-out on top. The flag is the carry of a + ~b + 1: set where nothing
/// is borrowed. The manual calls it the borrow, but what addc makes of it on a GPU is this.
template <Domain D> Value<D> sub_with_carry(D &d, Value<D> a, Value<D> b, Value<D> carry) {
  return add_with_carry(d, a, d.bit_not(b), carry);
}

/// Clamps a signed value to the range of a narrower type.
template <Domain D>
Value<D> saturate(D &d, Value<D> a, bool a_signed, unsigned width, bool is_signed) {
  const unsigned from = d.width(a) + 1; // room for the sign of an unsigned source
  const unsigned wide = std::max(from, width + 1);
  const Value<D> value = extend(d, a, wide, a_signed);
  const Value<D> top = number(d, wide, is_signed ? mask64(width) / 2 : mask64(width));
  const Value<D> bottom =
      is_signed ? d.neg(number(d, wide, mask64(width) / 2 + 1)) : number(d, wide, 0);
  const Value<D> low = d.ite(d.slt(value, bottom), bottom, value);
  return d.extract(d.ite(d.slt(top, low), top, low), 0, width);
}

/// A shift amount in the width of what is shifted, clamped to that width (PTX ISA 9.7.8).
template <Domain D> Value<D> shift_amount(D &d, Value<D> amount, unsigned width) {
  const unsigned have = d.width(amount);
  if (width >= have)
    return d.zext(amount, width);
  const Value<D> fits = d.ult(amount, number(d, have, width));
  return d.ite(fits, d.extract(amount, 0, width), number(d, width, width));
}

template <Domain D> Value<D> compare(D &d, const Form &f, Value<D> a, Value<D> b) {
  const bool s = f.is_signed;
  switch (f.comparison) {
  case Comparison::eq:
    return d.eq(a, b);
  case Comparison::ne:
    return d.bit_not(d.eq(a, b));
  case Comparison::lt:
    return less(d, a, b, s);
  case Comparison::le:
    return d.bit_not(less(d, b, a, s));
  case Comparison::gt:
    return less(d, b, a, s);
  case Comparison::ge:
    return d.bit_not(less(d, a, b, s));
  case Comparison::lo:
    return d.ult(a, b);
  case Comparison::ls:
    return d.bit_not(d.ult(b, a));
  case Comparison::hi:
    return d.ult(b, a);
  default: // hs
    return d.bit_not(d.ult(a, b));
  }
}

/// set's comparison: of the second type.
template <Domain D> Value<D> compare_sources(D &d, const Form &f, Args<D> s) {
  Form g = f;
  g.is_signed = f.source_signed;
  return compare(d, g, s[0], s[1]);
}

/// What set gives for true: all ones, or 1.0.
template <Domain D> Value<D> truth(D &d, const Form &f, Value<D> condition) {
  return f.type == ScalarType::f32 ? d.ite(condition, number(d, 32, 0x3f800000), number(d, 32, 0))
                                   : d.sext(condition, 32);
}

/// Absolute value of a signed number; the most negative one stays.
template <Domain D> Value<D> absolute(D &d, Value<D> a) {
  return d.ite(d.slt(a, number(d, d.width(a), 0)), d.neg(a), a);
}

/// .relu: a negative number becomes 0.
template <Domain D> Value<D> not_negative(D &d, Value<D> a) {
  const Value<D> zero = number(d, d.width(a), 0);
  return d.ite(d.slt(a, zero), zero, a);
}

/// The mean, of two numbers with room for their sum: a half goes away from zero.
template <Domain D> Value<D> average(D &d, Value<D> a, Value<D> b) {
  const Value<D> sum = d.add(a, b), zero = number(d, d.width(a), 0);
  const Value<D> up = d.zext(d.bit_not(d.slt(sum, zero)), d.width(a));
  return d.ashr(d.add(sum, up), number(d, d.width(a), 1));
}

template <Domain D> Value<D> population_count(D &d, Value<D> a) {
  Value<D> total = number(d, 32, 0);
  for (unsigned i = 0; i < d.width(a); ++i)
    total = d.add(total, d.zext(d.extract(a, i, 1), 32));
  return total;
}

/// Position of the highest set bit, or 0xffffffff.
/// fns (PTX ISA 9.7.1.17): the offset-th set bit of the mask from base on, downwards for a negative
/// offset; base itself, if it is set, for 0; all ones where there is none. A base that is no bit's
/// number has no bit above or below it.
template <Domain D> Value<D> find_set_bit(D &d, Value<D> mask, Value<D> base, Value<D> offset) {
  const Value<D> zero = number(d, 32, 0), none = number(d, 32, 0xffffffff);
  const Value<D> is_bit = d.ult(base, number(d, 32, 32));
  const Value<D> down = d.extract(offset, 31, 1);
  const Value<D> wanted = d.ite(down, d.sub(zero, offset), offset);
  Value<D> above = none, below = none, seen_above = zero, seen_below = zero;
  for (unsigned n = 0; n < 32; ++n) {
    const unsigned up = n, low = 31 - n;
    const Value<D> counts_up =
        d.bit_and(d.extract(mask, up, 1), d.bit_not(d.ult(number(d, 32, up), base)));
    seen_above = d.add(seen_above, d.zext(counts_up, 32));
    above = d.ite(d.bit_and(counts_up, d.eq(seen_above, wanted)), number(d, 32, up), above);
    const Value<D> counts_down = d.bit_and(
        d.extract(mask, low, 1), d.bit_and(is_bit, d.bit_not(d.ult(base, number(d, 32, low)))));
    seen_below = d.add(seen_below, d.zext(counts_down, 32));
    below = d.ite(d.bit_and(counts_down, d.eq(seen_below, wanted)), number(d, 32, low), below);
  }
  const Value<D> own = d.bit_and(is_bit, d.extract(d.lshr(mask, base), 0, 1));
  return d.ite(d.eq(offset, zero), d.ite(own, base, none), d.ite(down, below, above));
}

template <Domain D> Value<D> highest_bit(D &d, Value<D> a) {
  Value<D> result = number(d, 32, 0xffffffff);
  for (unsigned i = 0; i < d.width(a); ++i)
    result = d.ite(d.extract(a, i, 1), number(d, 32, i), result);
  return result;
}

template <Domain D> Value<D> reverse_bits(D &d, Value<D> a) {
  Value<D> result = d.extract(a, 0, 1);
  for (unsigned i = 1; i < d.width(a); ++i)
    result = d.concat(result, d.extract(a, i, 1));
  return result;
}

/// The lowest byte of a 32-bit operand in a given width: positions and lengths of bfe and bfi.
template <Domain D> Value<D> byte_operand(D &d, Value<D> a, unsigned width) {
  return d.zext(d.extract(a, 0, 8), width);
}

/// `length` ones; all ones from the width on.
template <Domain D> Value<D> ones(D &d, Value<D> length) {
  const unsigned width = d.width(length);
  return d.sub(d.shl(number(d, width, 1), length), number(d, width, 1));
}

template <Domain D> Value<D> bit_field_extract(D &d, const Form &f, Args<D> s) {
  const unsigned w = f.width;
  const Value<D> position = byte_operand(d, s[1], w), length = byte_operand(d, s[2], w);
  const Value<D> valid = d.bit_and(ones(d, length), d.lshr(d.bit_not(number(d, w, 0)), position));
  Value<D> field = d.bit_and(d.lshr(s[0], position), valid);
  if (!f.is_signed)
    return field;
  // The field's top bit, or the operand's if the field sticks out, fills the rest; none if empty.
  const Value<D> end = d.sub(d.add(position, length), number(d, w, 1));
  const Value<D> top = d.ite(d.ult(end, number(d, w, w)), end, number(d, w, w - 1));
  const Value<D> sign =
      d.bit_and(d.extract(d.lshr(s[0], top), 0, 1), d.bit_not(d.eq(length, number(d, w, 0))));
  return d.bit_or(field, d.bit_and(d.sext(sign, w), d.bit_not(valid)));
}

template <Domain D> Value<D> bit_field_insert(D &d, const Form &f, Args<D> s) {
  const Value<D> position = byte_operand(d, s[2], f.width), length = byte_operand(d, s[3], f.width);
  const Value<D> mask = d.shl(ones(d, length), position);
  return d.bit_or(d.bit_and(s[1], d.bit_not(mask)), d.bit_and(d.shl(s[0], position), mask));
}

/// The four bytes of a 64-bit value that numbers from 0 to 7 choose, lowest first.
template <Domain D, class Choose> Value<D> pick_bytes(D &d, Value<D> pair, Choose choose) {
  Value<D> result = d.extract(pair, 8 * choose(0u), 8);
  for (unsigned i = 1; i < 4; ++i)
    result = d.concat(d.extract(pair, 8 * choose(i), 8), result);
  return result;
}

/// prmt's modes: four arrangements, the selector's low two bits choose.
template <Domain D, class Choose> Value<D> permute_mode(D &d, Args<D> s, Choose choose) {
  const Value<D> pair = d.concat(s[1], s[0]);
  const Value<D> selector = d.extract(s[2], 0, 2);
  const auto arrangement = [&](unsigned n) {
    return pick_bytes(d, pair, [&](unsigned i) { return choose(n, i); });
  };
  Value<D> result = arrangement(3);
  for (unsigned n = 3; n-- > 0;)
    result = d.ite(d.eq(selector, number(d, 2, n)), arrangement(n), result);
  return result;
}

/// prmt's general form: each nibble of the selector chooses a byte, or its sign eight times.
template <Domain D> Value<D> permute(D &d, Args<D> s) {
  const Value<D> pair = d.concat(s[1], s[0]);
  const auto byte = [&](unsigned i) {
    const Value<D> amount = d.shl(d.zext(d.extract(s[2], 4 * i, 3), 64), number(d, 64, 3));
    const Value<D> chosen = d.extract(d.lshr(pair, amount), 0, 8);
    return d.ite(d.extract(s[2], 4 * i + 3, 1), d.sext(d.extract(chosen, 7, 1), 8), chosen);
  };
  Value<D> result = byte(0);
  for (unsigned i = 1; i < 4; ++i)
    result = d.concat(byte(i), result);
  return result;
}

/// Both halves of a funnel shift: the 64-bit value shifted, the half that shf returns.
template <Domain D> Value<D> funnel_shift(D &d, Args<D> s, bool left, bool wrap) {
  const Value<D> pair = d.concat(s[1], s[0]);
  const Value<D> limit = number(d, 32, 32);
  const Value<D> amount =
      wrap ? d.bit_and(s[2], number(d, 32, 31)) : d.ite(d.ult(limit, s[2]), limit, s[2]);
  const Value<D> by = d.zext(amount, 64);
  return left ? d.extract(d.shl(pair, by), 32, 32) : d.extract(d.lshr(pair, by), 0, 32);
}

/// Sum of products of `count` pieces, plus an accumulator: dp4a, dp2a.
template <Domain D>
Value<D> dot_product(D &d, const Form &f, Args<D> s, unsigned a_bits, unsigned count,
                     unsigned b_offset) {
  Value<D> total = s[2];
  for (unsigned i = 0; i < count; ++i) {
    const Value<D> a = extend(d, d.extract(s[0], a_bits * i, a_bits), 32, f.is_signed);
    const Value<D> b = extend(d, d.extract(s[1], b_offset + 8 * i, 8), 32, f.source_signed);
    total = d.add(total, d.mul(a, b));
  }
  return total;
}

/// Applies a function to both 16-bit halves.
template <Domain D, class Function> Value<D> halves(D &d, Args<D> s, Function function) {
  const auto part = [&](unsigned low) {
    return function(d.extract(s[0], low, 16), d.extract(s[1], low, 16));
  };
  return d.concat(part(16), part(0));
}

/// lop3: bit i of the table s[3] says whether the minterm of i's bits (a, b, c) is in.
template <Domain D> Value<D> look_up(D &d, Args<D> s) {
  Value<D> result = number(d, 32, 0);
  for (unsigned i = 0; i < 8; ++i) {
    const auto literal = [&](unsigned n) { return (i >> (2 - n) & 1) ? s[n] : d.bit_not(s[n]); };
    const Value<D> in = d.sext(d.extract(s[3], i, 1), 32);
    result =
        d.bit_or(result, d.bit_and(in, d.bit_and(literal(0), d.bit_and(literal(1), literal(2)))));
  }
  return result;
}

/// cvt.pack: the first operand over the second, both clamped, below what of the third has room.
template <Domain D> Value<D> pack(D &d, Args<D> s, unsigned width, bool is_signed) {
  const Value<D> pair = d.concat(saturate(d, s[0], true, width, is_signed),
                                 saturate(d, s[1], true, width, is_signed));
  return width == 16 ? pair : d.concat(d.extract(s[2], 0, 32 - 2 * width), pair);
}

/// Pieces side by side, cut or clamped to the result's type or, with .add, the sum of all that they
/// are and the third operand.
template <Domain D, class Piece>
Value<D> assemble(D &d, const Form &f, Args<D> s, unsigned width, Piece piece) {
  const bool clamps = f.text.find(".sat") != std::string_view::npos;
  const bool sums = f.text.find(".add") != std::string_view::npos;
  const auto part = [&](unsigned low) {
    const Value<D> whole = piece(low);
    return sums     ? d.sext(whole, 32)
           : clamps ? saturate(d, whole, true, width, f.is_signed)
                    : d.extract(whole, 0, width);
  };
  Value<D> result = sums ? d.add(s[2], part(0)) : part(0);
  for (unsigned low = width; low < 32; low += width)
    result = sums ? d.add(result, part(low)) : d.concat(part(low), result);
  return result;
}

/// The video instructions: an operation on pieces of `width` bits, extended by two.
template <Domain D, class Operation>
Value<D> pieces(D &d, const Form &f, Args<D> s, unsigned width, Operation operation) {
  return assemble(d, f, s, width, [&](unsigned low) {
    return operation(extend(d, d.extract(s[0], low, width), width + 2, f.source_signed),
                     extend(d, d.extract(s[1], low, width), width + 2, f.third_signed));
  });
}

/// vset: a comparison of pieces, as numbers.
template <Domain D> Value<D> compare_pieces(D &d, const Form &f, Args<D> s, unsigned width) {
  Form wide = f;
  wide.is_signed = true;
  return assemble(d, f, s, width, [&](unsigned low) {
    const Value<D> a = extend(d, d.extract(s[0], low, width), width + 1, f.is_signed);
    const Value<D> b = extend(d, d.extract(s[1], low, width), width + 1, f.source_signed);
    return d.zext(compare(d, wide, a, b), width + 1);
  });
}

/// The 48-bit product of the low 24 bits.
template <Domain D> Value<D> product24(D &d, const Form &f, Args<D> s) {
  const auto low24 = [&](Value<D> a) { return extend(d, d.extract(a, 0, 24), 64, f.is_signed); };
  return d.mul(low24(s[0]), low24(s[1]));
}

template <Domain D> constexpr auto table() {
  return std::to_array<Line<D>>({
      // clang-format off
      // Integer arithmetic (PTX ISA 9.7.1)
      {"add", integers, "", "T=TT", [](D &d, const Form &, Args<D> s) { return d.add(s[0], s[1]); }},
      {"add", "s32", "+sat", "T=TT", [](D &d, const Form &, Args<D> s) { return saturate(d, d.add(d.sext(s[0], 33), d.sext(s[1], 33)), true, 32, true); }},
      {"add", "u16x2 s16x2", "", "T=TT", [](D &d, const Form &, Args<D> s) { return halves(d, s, [&](Value<D> a, Value<D> b) { return d.add(a, b); }); }},
      {"add", words, "+cc", "K=TT", [](D &d, const Form &, Args<D> s) { return add_with_carry(d, s[0], s[1], number(d, 1, 0)); }},
      {"addc", words, "", "T=TTC", [](D &d, const Form &f, Args<D> s) { return d.extract(add_with_carry(d, s[0], s[1], s[2]), 0, f.width); }},
      {"addc", words, "+cc", "K=TTC", [](D &d, const Form &, Args<D> s) { return add_with_carry(d, s[0], s[1], s[2]); }},
      {"sub", integers, "", "T=TT", [](D &d, const Form &, Args<D> s) { return d.sub(s[0], s[1]); }},
      {"sub", "s32", "+sat", "T=TT", [](D &d, const Form &, Args<D> s) { return saturate(d, d.sub(d.sext(s[0], 33), d.sext(s[1], 33)), true, 32, true); }},
      {"sub", words, "+cc", "K=TT", [](D &d, const Form &, Args<D> s) { return sub_with_carry(d, s[0], s[1], number(d, 1, 1)); }},
      {"subc", words, "", "T=TTC", [](D &d, const Form &f, Args<D> s) { return d.extract(sub_with_carry(d, s[0], s[1], s[2]), 0, f.width); }},
      {"subc", words, "+cc", "K=TTC", [](D &d, const Form &, Args<D> s) { return sub_with_carry(d, s[0], s[1], s[2]); }},
      {"mul", integers, "+lo", "T=TT", [](D &d, const Form &, Args<D> s) { return d.mul(s[0], s[1]); }},
      {"mul", integers, "+hi", "T=TT", [](D &d, const Form &f, Args<D> s) { return high_product(d, f, s[0], s[1]); }},
      {"mul", "u16 u32 s16 s32", "+wide", "W=TT", [](D &d, const Form &f, Args<D> s) { return wide_product(d, f, s[0], s[1]); }},
      {"mad", integers, "+lo", "T=TTT", [](D &d, const Form &, Args<D> s) { return d.add(d.mul(s[0], s[1]), s[2]); }},
      {"mad", integers, "+hi", "T=TTT", [](D &d, const Form &f, Args<D> s) { return d.add(high_product(d, f, s[0], s[1]), s[2]); }},
      {"mad", "s32", "+hi +sat", "T=TTT", [](D &d, const Form &f, Args<D> s) { return saturate(d, d.add(d.sext(high_product(d, f, s[0], s[1]), 33), d.sext(s[2], 33)), true, 32, true); }},
      {"mad", "u16 u32 s16 s32", "+wide", "W=TTW", [](D &d, const Form &f, Args<D> s) { return d.add(wide_product(d, f, s[0], s[1]), s[2]); }},
      {"mad", words, "+lo +cc", "K=TTT", [](D &d, const Form &, Args<D> s) { return add_with_carry(d, d.mul(s[0], s[1]), s[2], number(d, 1, 0)); }},
      {"mad", words, "+hi +cc", "K=TTT", [](D &d, const Form &f, Args<D> s) { return add_with_carry(d, high_product(d, f, s[0], s[1]), s[2], number(d, 1, 0)); }},
      {"madc", words, "+lo", "T=TTTC", [](D &d, const Form &f, Args<D> s) { return d.extract(add_with_carry(d, d.mul(s[0], s[1]), s[2], s[3]), 0, f.width); }},
      {"madc", words, "+hi", "T=TTTC", [](D &d, const Form &f, Args<D> s) { return d.extract(add_with_carry(d, high_product(d, f, s[0], s[1]), s[2], s[3]), 0, f.width); }},
      {"madc", words, "+lo +cc", "K=TTTC", [](D &d, const Form &, Args<D> s) { return add_with_carry(d, d.mul(s[0], s[1]), s[2], s[3]); }},
      {"madc", words, "+hi +cc", "K=TTTC", [](D &d, const Form &f, Args<D> s) { return add_with_carry(d, high_product(d, f, s[0], s[1]), s[2], s[3]); }},
      {"mul24", "u32 s32", "+lo", "T=TT", [](D &d, const Form &f, Args<D> s) { return d.extract(product24(d, f, s), 0, 32); }},
      {"mul24", "u32 s32", "+hi", "T=TT", [](D &d, const Form &f, Args<D> s) { return d.extract(product24(d, f, s), 16, 32); }},
      {"mad24", "u32 s32", "+lo", "T=TTT", [](D &d, const Form &f, Args<D> s) { return d.add(d.extract(product24(d, f, s), 0, 32), s[2]); }},
      {"mad24", "u32 s32", "+hi", "T=TTT", [](D &d, const Form &f, Args<D> s) { return d.add(d.extract(product24(d, f, s), 16, 32), s[2]); }},
      {"mad24", "s32", "+hi +sat", "T=TTT", [](D &d, const Form &f, Args<D> s) { return saturate(d, d.add(d.sext(d.extract(product24(d, f, s), 16, 32), 33), d.sext(s[2], 33)), true, 32, true); }},
      {"sad", integers, "", "T=TTT", [](D &d, const Form &f, Args<D> s) { return d.add(s[2], d.ite(less(d, s[0], s[1], f.is_signed), d.sub(s[1], s[0]), d.sub(s[0], s[1]))); }},
      {"div", integers, "", "T=TT", [](D &d, const Form &f, Args<D> s) { return f.is_signed ? d.sdiv(s[0], s[1]) : d.udiv(s[0], s[1]); }},
      {"rem", integers, "", "T=TT", [](D &d, const Form &f, Args<D> s) { return f.is_signed ? d.srem(s[0], s[1]) : d.urem(s[0], s[1]); }},
      {"abs", "s16 s32 s64", "", "T=T", [](D &d, const Form &, Args<D> s) { return absolute(d, s[0]); }},
      {"neg", "s16 s32 s64", "", "T=T", [](D &d, const Form &, Args<D> s) { return d.neg(s[0]); }},
      {"min", integers, "", "T=TT", [](D &d, const Form &f, Args<D> s) { return d.ite(less(d, s[1], s[0], f.is_signed), s[1], s[0]); }},
      {"max", integers, "", "T=TT", [](D &d, const Form &f, Args<D> s) { return d.ite(less(d, s[0], s[1], f.is_signed), s[1], s[0]); }},
      {"min", "s32", "+relu", "T=TT", [](D &d, const Form &, Args<D> s) { return not_negative(d, d.ite(d.slt(s[1], s[0]), s[1], s[0])); }},
      {"max", "s32", "+relu", "T=TT", [](D &d, const Form &, Args<D> s) { return not_negative(d, d.ite(d.slt(s[0], s[1]), s[1], s[0])); }},
      {"min", "u16x2 s16x2", "", "T=TT", [](D &d, const Form &f, Args<D> s) { return halves(d, s, [&](Value<D> a, Value<D> b) { return d.ite(less(d, b, a, f.is_signed), b, a); }); }},
      {"max", "u16x2 s16x2", "", "T=TT", [](D &d, const Form &f, Args<D> s) { return halves(d, s, [&](Value<D> a, Value<D> b) { return d.ite(less(d, a, b, f.is_signed), b, a); }); }},
      {"min", "s16x2", "+relu", "T=TT", [](D &d, const Form &, Args<D> s) { return halves(d, s, [&](Value<D> a, Value<D> b) { return not_negative(d, d.ite(d.slt(b, a), b, a)); }); }},
      {"max", "s16x2", "+relu", "T=TT", [](D &d, const Form &, Args<D> s) { return halves(d, s, [&](Value<D> a, Value<D> b) { return not_negative(d, d.ite(d.slt(a, b), b, a)); }); }},
      {"popc", "b32 b64", "", "U=T", [](D &d, const Form &, Args<D> s) { return population_count(d, s[0]); }},
      {"clz", "b32 b64", "", "U=T", [](D &d, const Form &f, Args<D> s) { return d.sub(number(d, 32, f.width - 1), highest_bit(d, s[0])); }},
      {"bfind", "u32 u64", "", "U=T", [](D &d, const Form &, Args<D> s) { return highest_bit(d, s[0]); }},
      {"bfind", "s32 s64", "", "U=T", [](D &d, const Form &f, Args<D> s) { return highest_bit(d, d.ite(d.extract(s[0], f.width - 1, 1), d.bit_not(s[0]), s[0])); }},
      {"bfind", "u32 u64", "+shiftamt", "U=T", [](D &d, const Form &f, Args<D> s) { const auto h = highest_bit(d, s[0]); return d.ite(d.eq(h, number(d, 32, 0xffffffff)), h, d.sub(number(d, 32, f.width - 1), h)); }},
      {"bfind", "s32 s64", "+shiftamt", "U=T", [](D &d, const Form &f, Args<D> s) { const auto h = highest_bit(d, d.ite(d.extract(s[0], f.width - 1, 1), d.bit_not(s[0]), s[0])); return d.ite(d.eq(h, number(d, 32, 0xffffffff)), h, d.sub(number(d, 32, f.width - 1), h)); }},
      {"fns", "b32", "", "U=UUU", [](D &d, const Form &, Args<D> s) { return find_set_bit(d, s[0], s[1], s[2]); }},
      {"brev", "b32 b64", "", "T=T", [](D &d, const Form &, Args<D> s) { return reverse_bits(d, s[0]); }},
      {"bfe", "u32 u64 s32 s64", "", "T=TUU", [](D &d, const Form &f, Args<D> s) { return bit_field_extract(d, f, s); }},
      {"bfi", "b32 b64", "", "T=TTUU", [](D &d, const Form &f, Args<D> s) { return bit_field_insert(d, f, s); }},
      {"bmsk", "b32", "+clamp", "T=TT", [](D &d, const Form &, Args<D> s) { return d.shl(ones(d, s[1]), s[0]); }},
      {"bmsk", "b32", "+wrap", "T=TT", [](D &d, const Form &, Args<D> s) { const auto five = number(d, 32, 31); return d.shl(ones(d, d.bit_and(s[1], five)), d.bit_and(s[0], five)); }},
      {"szext", "u32 s32", "+clamp", "T=TU", [](D &d, const Form &f, Args<D> s) { const auto n = d.ite(d.ult(number(d, 32, 32), s[1]), number(d, 32, 32), s[1]); const auto by = d.sub(number(d, 32, 32), n); const auto up = d.shl(s[0], by); return f.is_signed ? d.ite(d.eq(n, number(d, 32, 0)), n, d.ashr(up, by)) : d.lshr(up, by); }},
      {"szext", "u32 s32", "+wrap", "T=TU", [](D &d, const Form &f, Args<D> s) { const auto n = d.bit_and(s[1], number(d, 32, 31)); const auto by = d.sub(number(d, 32, 32), n); const auto up = d.shl(s[0], by); return f.is_signed ? d.ite(d.eq(n, number(d, 32, 0)), n, d.ashr(up, by)) : d.lshr(up, by); }},
      {"dp4a", "u32 s32", "u32 s32", "U=UUU", [](D &d, const Form &f, Args<D> s) { return dot_product(d, f, s, 8, 4, 0); }},
      {"dp2a", "u32 s32", "+lo u32 s32", "U=UUU", [](D &d, const Form &f, Args<D> s) { return dot_product(d, f, s, 16, 2, 0); }},
      {"dp2a", "u32 s32", "+hi u32 s32", "U=UUU", [](D &d, const Form &f, Args<D> s) { return dot_product(d, f, s, 16, 2, 16); }},

      // Video instructions on two and four pieces (9.7.18)
      {"vadd2", "u32 s32", "u32 s32 sat add", "U=UUU", [](D &d, const Form &f, Args<D> s) { return pieces(d, f, s, 16, [&](Value<D> a, Value<D> b) { return d.add(a, b); }); }},
      {"vsub2", "u32 s32", "u32 s32 sat add", "U=UUU", [](D &d, const Form &f, Args<D> s) { return pieces(d, f, s, 16, [&](Value<D> a, Value<D> b) { return d.sub(a, b); }); }},
      {"vavrg2", "u32 s32", "u32 s32 sat add", "U=UUU", [](D &d, const Form &f, Args<D> s) { return pieces(d, f, s, 16, [&](Value<D> a, Value<D> b) { return average(d, a, b); }); }},
      {"vabsdiff2", "u32 s32", "u32 s32 sat add", "U=UUU", [](D &d, const Form &f, Args<D> s) { return pieces(d, f, s, 16, [&](Value<D> a, Value<D> b) { return absolute(d, d.sub(a, b)); }); }},
      {"vmin2", "u32 s32", "u32 s32 sat add", "U=UUU", [](D &d, const Form &f, Args<D> s) { return pieces(d, f, s, 16, [&](Value<D> a, Value<D> b) { return d.ite(d.slt(b, a), b, a); }); }},
      {"vmax2", "u32 s32", "u32 s32 sat add", "U=UUU", [](D &d, const Form &f, Args<D> s) { return pieces(d, f, s, 16, [&](Value<D> a, Value<D> b) { return d.ite(d.slt(a, b), b, a); }); }},
      {"vset2", "u32 s32", "u32 s32 eq ne lt le gt ge add", "U=UUU", [](D &d, const Form &f, Args<D> s) { return compare_pieces(d, f, s, 16); }},
      {"vadd4", "u32 s32", "u32 s32 sat add", "U=UUU", [](D &d, const Form &f, Args<D> s) { return pieces(d, f, s, 8, [&](Value<D> a, Value<D> b) { return d.add(a, b); }); }},
      {"vsub4", "u32 s32", "u32 s32 sat add", "U=UUU", [](D &d, const Form &f, Args<D> s) { return pieces(d, f, s, 8, [&](Value<D> a, Value<D> b) { return d.sub(a, b); }); }},
      {"vavrg4", "u32 s32", "u32 s32 sat add", "U=UUU", [](D &d, const Form &f, Args<D> s) { return pieces(d, f, s, 8, [&](Value<D> a, Value<D> b) { return average(d, a, b); }); }},
      {"vabsdiff4", "u32 s32", "u32 s32 sat add", "U=UUU", [](D &d, const Form &f, Args<D> s) { return pieces(d, f, s, 8, [&](Value<D> a, Value<D> b) { return absolute(d, d.sub(a, b)); }); }},
      {"vmin4", "u32 s32", "u32 s32 sat add", "U=UUU", [](D &d, const Form &f, Args<D> s) { return pieces(d, f, s, 8, [&](Value<D> a, Value<D> b) { return d.ite(d.slt(b, a), b, a); }); }},
      {"vmax4", "u32 s32", "u32 s32 sat add", "U=UUU", [](D &d, const Form &f, Args<D> s) { return pieces(d, f, s, 8, [&](Value<D> a, Value<D> b) { return d.ite(d.slt(a, b), b, a); }); }},
      {"vset4", "u32 s32", "u32 s32 eq ne lt le gt ge add", "U=UUU", [](D &d, const Form &f, Args<D> s) { return compare_pieces(d, f, s, 8); }},

      // Logic and shifts (9.7.8)
      {"and", logic, "", "T=TT", [](D &d, const Form &, Args<D> s) { return d.bit_and(s[0], s[1]); }},
      {"or", logic, "", "T=TT", [](D &d, const Form &, Args<D> s) { return d.bit_or(s[0], s[1]); }},
      {"xor", logic, "", "T=TT", [](D &d, const Form &, Args<D> s) { return d.bit_xor(s[0], s[1]); }},
      {"not", logic, "", "T=T", [](D &d, const Form &, Args<D> s) { return d.bit_not(s[0]); }},
      {"cnot", "b16 b32 b64", "", "T=T", [](D &d, const Form &f, Args<D> s) { return d.zext(d.eq(s[0], number(d, f.width, 0)), f.width); }},
      {"lop3", "b32", "", "U=UUUU", [](D &d, const Form &, Args<D> s) { return look_up(d, s); }},
      {"lop3", "b32", "+and", "U=UUUUP", [](D &d, const Form &, Args<D> s) { return look_up(d, s); }},
      {"lop3", "b32", "+or", "U=UUUUP", [](D &d, const Form &, Args<D> s) { return look_up(d, s); }},
      {"shl", "b16 b32 b64", "", "T=TU", [](D &d, const Form &f, Args<D> s) { return d.shl(s[0], shift_amount(d, s[1], f.width)); }},
      {"shr", "b16 b32 b64 u16 u32 u64", "", "T=TU", [](D &d, const Form &f, Args<D> s) { return d.lshr(s[0], shift_amount(d, s[1], f.width)); }},
      {"shr", "s16 s32 s64", "", "T=TU", [](D &d, const Form &f, Args<D> s) { return d.ashr(s[0], shift_amount(d, s[1], f.width)); }},
      {"shf", "b32", "+l +wrap", "U=UUU", [](D &d, const Form &, Args<D> s) { return funnel_shift(d, s, true, true); }},
      {"shf", "b32", "+l +clamp", "U=UUU", [](D &d, const Form &, Args<D> s) { return funnel_shift(d, s, true, false); }},
      {"shf", "b32", "+r +wrap", "U=UUU", [](D &d, const Form &, Args<D> s) { return funnel_shift(d, s, false, true); }},
      {"shf", "b32", "+r +clamp", "U=UUU", [](D &d, const Form &, Args<D> s) { return funnel_shift(d, s, false, false); }},

      // Comparison and selection (9.7.5, 9.7.6)
      {"setp", "b16 b32 b64 u16 u32 u64 s16 s32 s64", "eq ne lt le gt ge lo ls hi hs", "P=TT", [](D &d, const Form &f, Args<D> s) { return compare(d, f, s[0], s[1]); }},
      {"setp", "b16 b32 b64 u16 u32 u64 s16 s32 s64", "+and eq ne lt le gt ge lo ls hi hs", "P=TTP", [](D &d, const Form &f, Args<D> s) { return d.bit_and(compare(d, f, s[0], s[1]), s[2]); }},
      {"setp", "b16 b32 b64 u16 u32 u64 s16 s32 s64", "+or eq ne lt le gt ge lo ls hi hs", "P=TTP", [](D &d, const Form &f, Args<D> s) { return d.bit_or(compare(d, f, s[0], s[1]), s[2]); }},
      {"setp", "b16 b32 b64 u16 u32 u64 s16 s32 s64", "+xor eq ne lt le gt ge lo ls hi hs", "P=TTP", [](D &d, const Form &f, Args<D> s) { return d.bit_xor(compare(d, f, s[0], s[1]), s[2]); }},
      {"set", "u32 s32 f32", "b16 b32 b64 u16 u32 u64 s16 s32 s64 eq ne lt le gt ge lo ls hi hs", "U=SS", [](D &d, const Form &f, Args<D> s) { return truth(d, f, compare_sources(d, f, s)); }},
      {"set", "u32 s32 f32", "+and b16 b32 b64 u16 u32 u64 s16 s32 s64 eq ne lt le gt ge lo ls hi hs", "U=SSP", [](D &d, const Form &f, Args<D> s) { return truth(d, f, d.bit_and(compare_sources(d, f, s), s[2])); }},
      {"set", "u32 s32 f32", "+or b16 b32 b64 u16 u32 u64 s16 s32 s64 eq ne lt le gt ge lo ls hi hs", "U=SSP", [](D &d, const Form &f, Args<D> s) { return truth(d, f, d.bit_or(compare_sources(d, f, s), s[2])); }},
      {"set", "u32 s32 f32", "+xor b16 b32 b64 u16 u32 u64 s16 s32 s64 eq ne lt le gt ge lo ls hi hs", "U=SSP", [](D &d, const Form &f, Args<D> s) { return truth(d, f, d.bit_xor(compare_sources(d, f, s), s[2])); }},
      {"selp", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", "", "T=TTP", [](D &d, const Form &, Args<D> s) { return d.ite(s[2], s[0], s[1]); }},
      {"slct", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", "+s32", "T=TTU", [](D &d, const Form &, Args<D> s) { return d.ite(d.slt(s[2], number(d, 32, 0)), s[1], s[0]); }},

      // Conversion and movement (9.7.9)
      {"cvt", "u8 u16 u32 u64 s8 s16 s32 s64", "u8 u16 u32 u64 s8 s16 s32 s64", "T=S", [](D &d, const Form &f, Args<D> s) { return resize(d, s[0], f.width, f.source_signed); }},
      {"cvt", "u8 u16 u32 u64 s8 s16 s32 s64", "+sat u8 u16 u32 u64 s8 s16 s32 s64", "T=S", [](D &d, const Form &f, Args<D> s) { return saturate(d, s[0], f.source_signed, f.width, f.is_signed); }},
      {"cvt", "u8 s8", "+pack +sat +s32 +b32", "U=UUU", [](D &d, const Form &f, Args<D> s) { return pack(d, s, 8, f.is_signed); }},
      {"cvt", "u16 s16", "+pack +sat +s32", "U=UU", [](D &d, const Form &f, Args<D> s) { return pack(d, s, 16, f.is_signed); }},
      {"cvt", "s32", "+pack +sat +u4 +b32", "U=UUU", [](D &d, const Form &, Args<D> s) { return pack(d, s, 4, false); }},
      {"cvt", "s32", "+pack +sat +s4 +b32", "U=UUU", [](D &d, const Form &, Args<D> s) { return pack(d, s, 4, true); }},
      {"cvt", "s32", "+pack +sat +u2 +b32", "U=UUU", [](D &d, const Form &, Args<D> s) { return pack(d, s, 2, false); }},
      {"cvt", "s32", "+pack +sat +s2 +b32", "U=UUU", [](D &d, const Form &, Args<D> s) { return pack(d, s, 2, true); }},
      {"cvta", "u32 u64", "to global local shared const param shared::cta shared::cluster param::entry", "T=T", [](D &d, const Form &f, Args<D> s) { return d.generic_address(f.text, s[0]); }},
      {"mov", "pred b16 b32 b64 b128 u16 u32 u64 s16 s32 s64 f32 f64", "", "T=T", [](D &, const Form &, Args<D> s) { return s[0]; }},
      {"prmt", "b32", "", "U=UUU", [](D &d, const Form &, Args<D> s) { return permute(d, s); }},
      {"prmt", "b32", "+f4e", "U=UUU", [](D &d, const Form &, Args<D> s) { return permute_mode(d, s, [](unsigned n, unsigned i) { return n + i; }); }},
      {"prmt", "b32", "+b4e", "U=UUU", [](D &d, const Form &, Args<D> s) { return permute_mode(d, s, [](unsigned n, unsigned i) { return (n + 8 - i) % 8; }); }},
      {"prmt", "b32", "+rc8", "U=UUU", [](D &d, const Form &, Args<D> s) { return permute_mode(d, s, [](unsigned n, unsigned) { return n; }); }},
      {"prmt", "b32", "+ecl", "U=UUU", [](D &d, const Form &, Args<D> s) { return permute_mode(d, s, [](unsigned n, unsigned i) { return std::max(n, i); }); }},
      {"prmt", "b32", "+ecr", "U=UUU", [](D &d, const Form &, Args<D> s) { return permute_mode(d, s, [](unsigned n, unsigned i) { return std::min(n, i); }); }},
      {"prmt", "b32", "+rc16", "U=UUU", [](D &d, const Form &, Args<D> s) { return permute_mode(d, s, [](unsigned n, unsigned i) { return (n & 1) * 2 + (i & 1); }); }},
      // clang-format on
  });
}

/// True if a blank-separated list holds a word.
constexpr bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t blank = std::min(list.find(' '), list.size());
    if (list.substr(0, blank) == word)
      return true;
    list.remove_prefix(std::min(blank + 1, list.size()));
  }
  return false;
}

/// True if a line describes an opcode: base, type, and every modifier accounted for.
template <class AnyLine> bool fits(const AnyLine &line, const Opcode &opcode) {
  if (line.base != opcode.base || !lists(line.types, to_string(opcode.type)))
    return false;
  bool type_seen = false;
  for (const std::string_view modifier : opcode.modifiers) {
    if (!type_seen && scalar_type(modifier) == opcode.type) {
      type_seen = true;
      continue;
    }
    bool known = lists(line.modifiers, modifier);
    for (std::string_view rest = line.modifiers; !known && !rest.empty();) {
      const std::size_t blank = std::min(rest.find(' '), rest.size());
      known = rest[0] == '+' && rest.substr(1, blank - 1) == modifier;
      rest.remove_prefix(std::min(blank + 1, rest.size()));
    }
    if (!known)
      return false;
  }
  for (std::string_view rest = line.modifiers; !rest.empty();) {
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    if (rest[0] == '+' && !opcode.has(rest.substr(1, blank - 1)))
      return false;
    rest.remove_prefix(std::min(blank + 1, rest.size()));
  }
  return true;
}

} // namespace semantics

/// The table, instantiated for a domain.
template <Domain D> std::span<const Line<D>> instruction_table() {
  static constexpr auto lines = semantics::table<D>();
  return lines;
}

/// The line that describes an opcode, or null: then the instruction is opaque.
template <Domain D> const Line<D> *find_line(const Opcode &opcode) {
  for (const Line<D> &line : instruction_table<D>())
    if (semantics::fits(line, opcode))
      return &line;
  return nullptr;
}

} // namespace ptxasw::emulator
