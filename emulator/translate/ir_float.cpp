// Floating point in IR: f32 and f64, to nearest, by the host's own arithmetic, and around it what
// floating.cpp does to operands and results. IR leaves open which NaN an operation gives, so every
// result that is a NaN is replaced: by the one NaN of f32, by the operand that a GPU passes on in
// f64. Without fast-math flags everything else is IEEE 754's.

#include "emulator/translate/ir_domain.h"

#include <bit>
#include <numbers>

namespace ptxasw::emulator {
namespace {

constexpr unsigned mantissa_bits(unsigned width) {
  return width == 64 ? 52 : width == 32 ? 23 : 10;
}

constexpr std::uint64_t sign_mask(unsigned width) { return std::uint64_t{1} << (width - 1); }

/// The pattern of infinity.
constexpr std::uint64_t infinity(unsigned width) {
  return mask64(width - 1) >> mantissa_bits(width) << mantissa_bits(width);
}

/// What an invalid operation gives.
constexpr std::uint64_t default_nan(unsigned width) {
  return width == 64 ? 0xfff8000000000000 : mask64(width - 1);
}

constexpr std::uint64_t least_normal(unsigned width) {
  return std::uint64_t{1} << mantissa_bits(width);
}

constexpr std::uint64_t one(unsigned width) {
  return infinity(width) / 2 >> mantissa_bits(width) << mantissa_bits(width);
}

bool is_usual(ScalarType type) { return type == ScalarType::f32 || type == ScalarType::f64; }

} // namespace

std::string IrDomain::real_type(unsigned width, bool uniform) {
  const std::string_view name = width == 64 ? "double" : width == 32 ? "float" : "half";
  return uniform ? std::string(name) : fmt::format("<32 x {}>", name);
}

std::string IrDomain::as_real(const Value &a) {
  return text_.define("bitcast {} {} to {}", type_of(a), a.text, real_type(a.width, a.uniform));
}

IrValue IrDomain::from_real(const std::string &real, unsigned width, bool uniform) {
  return {
      text_.define("bitcast {} {} to {}", real_type(width, uniform), real, type_of(width, uniform)),
      width, uniform};
}

IrValue IrDomain::real_operation(std::string_view what, std::span<const Value> s) {
  Value a = s[0], b = s[1];
  const bool uniform = are_uniform(a, b);
  const std::string x = as_real(a), y = as_real(b);
  return from_real(text_.define("{} {} {}, {}", what, real_type(a.width, uniform), x, y), a.width,
                   uniform);
}

IrValue IrDomain::real_function(std::string_view name, std::span<const Value> s) {
  bool uniform = true;
  for (const Value &a : s)
    uniform &= a.uniform;
  const unsigned width = s[0].width;
  const std::string type = real_type(width, uniform);
  const std::string function =
      fmt::format("{} @llvm.{}.{}f{}", type, name, uniform ? "" : "v32", width);
  std::string list, types;
  for (const Value &a : s) {
    const std::string_view comma = list.empty() ? "" : ", ";
    list += fmt::format("{}{} {}", comma, type, as_real(uniform ? a : spread(a)));
    types += fmt::format("{}{}", comma, type);
  }
  text_.declarations.insert(fmt::format("declare {}({})\n", function, types));
  return from_real(text_.define("call {}({})", function, list), width, uniform);
}

IrValue IrDomain::real_compare(std::string_view how, Value a, Value b) {
  const bool uniform = are_uniform(a, b);
  const std::string x = as_real(a), y = as_real(b);
  return {text_.define("fcmp {} {} {}, {}", how, real_type(a.width, uniform), x, y), 1, uniform};
}

IrValue IrDomain::real_resized(std::string_view what, const Value &a, unsigned width) {
  const std::string x = as_real(a);
  return from_real(text_.define("{} {} {} to {}", what, real_type(a.width, a.uniform), x,
                                real_type(width, a.uniform)),
                   width, a.uniform);
}

IrValue IrDomain::magnitude(const Value &a) {
  return bit_and(a, number(a.width, sign_mask(a.width) - 1));
}

IrValue IrDomain::is_nan(const Value &a) {
  return a.width == 16 ? ult(number(16, infinity(16)), magnitude(a)) : real_compare("uno", a, a);
}

IrValue IrDomain::sign_of(const Value &a) {
  return bit_and(a, number(a.width, sign_mask(a.width)));
}

IrValue IrDomain::flushed(const Value &a, bool flush) {
  return flush ? ite(ult(magnitude(a), number(a.width, least_normal(a.width))), sign_of(a), a) : a;
}

IrValue IrDomain::quiet(const Value &a) {
  return bit_or(a, number(a.width, std::uint64_t{1} << (mantissa_bits(a.width) - 1)));
}

IrValue IrDomain::nearly_finish(const FloatMode &mode, const Value &a) {
  Value result = flushed(a, mode.flush);
  if (!mode.saturate)
    return result;
  const Value most = number(a.width, one(a.width));
  result = ite(ult(most, result), most, result);
  result = ite(slt(a, number(a.width, 0)), number(a.width, 0), result);
  return ite(is_nan(a), number(a.width, 0), result);
}

IrValue IrDomain::finish(const FloatMode &mode, const Value &a) {
  const Value result = nearly_finish(mode, a);
  return a.width == 64 || mode.saturate
             ? result
             : ite(is_nan(a), number(a.width, default_nan(a.width)), result);
}

IrValue IrDomain::settled(const Value &a) {
  if (a.nan != NanBits::any)
    return a;
  Value result = a;
  result.nan = NanBits::kept;
  result = ite(is_nan(result), number(32, default_nan(32)), result);
  result.nan = NanBits::canonical;
  return result;
}

IrValue IrDomain::arithmetic(FloatOperation operation, std::span<const Value> s) {
  switch (operation) {
  case FloatOperation::add:
    return real_operation("fadd", s);
  case FloatOperation::sub:
    return real_operation("fsub", s);
  case FloatOperation::mul:
    return real_operation("fmul", s);
  case FloatOperation::fma:
    return host_.fma ? real_function("fma", s) : refuse(s[0].width);
  case FloatOperation::div:
    return real_operation("fdiv", s);
  case FloatOperation::rcp: {
    const Value both[] = {number(s[0].width, one(s[0].width)), s[0]};
    return real_operation("fdiv", both);
  }
  case FloatOperation::sqrt:
    return real_function("sqrt", s);
  case FloatOperation::rsqrt: {
    const Value both[] = {number(s[0].width, one(s[0].width)), real_function("sqrt", s)};
    return real_operation("fdiv", both);
  }
  default:
    return refuse(s[0].width);
  }
}

// -0 counts as less than +0. Operands are flushed.
IrValue IrDomain::minimum_or_maximum(FloatOperation operation, const Value &a, const Value &b,
                                     bool nan) {
  const Value a_nan = is_nan(a), b_nan = is_nan(b);
  const Value a_less =
      ite(real_compare("oeq", a, b), slt(a, number(a.width, 0)), real_compare("olt", a, b));
  Value result = operation == FloatOperation::min ? ite(a_less, a, b) : ite(a_less, b, a);
  result = ite(a_nan, b, ite(b_nan, a, result));
  const Value none = nan ? bit_or(a_nan, b_nan) : bit_and(a_nan, b_nan);
  return ite(none, a.width == 64 ? quiet(b) : number(a.width, default_nan(a.width)), result);
}

// In double and rounded once to f32, as floating.cpp does it. A quotient is the product with the
// reciprocal, rounded to 24 bits; the product of two such numbers is exact in double.
IrValue IrDomain::approximate(FloatOperation operation, const FloatMode &mode,
                              std::span<const Value> s) {
  const Value a = real_resized("fpext", s[0], 64);
  Value result;
  if (operation == FloatOperation::div) {
    const Value b = real_resized("fpext", s[1], 64);
    const Value reciprocal = arithmetic(FloatOperation::rcp, std::span(&b, 1));
    const Value odd = zext(extract(reciprocal, 29, 1), 64);
    const Value up = add(reciprocal, add(odd, number(64, mask64(28))));
    const Value is_finite = ult(magnitude(reciprocal), number(64, infinity(64)));
    const Value rounded = ite(is_finite, bit_and(up, number(64, ~mask64(29))), reciprocal);
    // 2^-126, the least normal number of f32
    const Value is_tiny = ult(magnitude(rounded), number(64, std::uint64_t{1023 - 126} << 52));
    const Value used = mode.full_range ? rounded : ite(is_tiny, sign_of(rounded), rounded);
    const Value both[] = {a, used};
    result = real_operation("fmul", both);
  } else {
    result = arithmetic(operation, std::span(&a, 1));
  }
  return nearly_finish(mode, real_resized("fptrunc", result, 32));
}

// The exact result of f32 is the sum of two doubles: products of 24 bits are exact, and Knuth's
// TwoSum gives what a sum loses; nothing overflows or is too small there. The nearest f32 of the
// greater double has no other between it and the exact result, so it is right, or the next one to
// the wanted side is: `beyond` it, how far it is from that double is compared with what the sum has
// lost, both exact. Infinities of operands make these NaNs, and are left; one that a finite result
// is rounded to is beyond it or right, too.
IrValue IrDomain::rounded_to_one_side(FloatOperation operation, FloatRounding rounding,
                                      std::span<const Value> s) {
  const auto operate = [&](std::string_view what, const Value &a, const Value &b) {
    const Value both[] = {a, b};
    return real_operation(what, both);
  };
  const bool multiplies = operation == FloatOperation::mul || operation == FloatOperation::fma;
  const Value a = real_resized("fpext", s[0], 64), b = real_resized("fpext", s[1], 64);
  Value sum = multiplies ? operate("fmul", a, b) : a, lost = number(64, 0), signs;
  if (operation != FloatOperation::mul) {
    const Value first = sum;
    const Value second = operation == FloatOperation::fma   ? real_resized("fpext", s[2], 64)
                         : operation == FloatOperation::sub ? bit_xor(b, number(64, sign_mask(64)))
                                                            : b;
    sum = operate("fadd", first, second);
    const Value of_second = operate("fsub", sum, first);
    lost = operate("fadd", operate("fsub", first, operate("fsub", sum, of_second)),
                   operate("fsub", second, of_second));
    signs = bit_or(first, second);
  }
  const Value nearest = real_resized("fptrunc", sum, 32);
  const Value away = operate("fsub", real_resized("fpext", nearest, 64), sum);
  const Value above = real_compare("ogt", away, lost), below = real_compare("olt", away, lost);
  const Value is_negative = slt(nearest, number(32, 0));
  const Value inwards = sub(nearest, number(32, 1)), outwards = add(nearest, number(32, 1));
  if (rounding == FloatRounding::zero)
    return ite(ite(is_negative, below, above), inwards, nearest);
  if (rounding == FloatRounding::up)
    return ite(below, ite(is_negative, inwards, outwards), nearest);
  Value result = ite(above, ite(is_negative, outwards, inwards), nearest);
  if (signs.width == 0)
    return result;
  // A sum of zero is negative unless both of its terms are positive.
  return ite(real_compare("oeq", sum, number(64, 0)),
             trunc(lshr(sign_of(signs), number(64, 32)), 32), result);
}

// In double, by 12 terms of Taylor's series behind the nearest whole number: they and how they are
// added are right to 2^-48 of the result, the host's exp2 of floating.cpp to 2^-51. Where 2^-44 of
// it makes a difference to the f32, the interpreter has to do it.
IrValue IrDomain::power_of_two(const FloatMode &mode, const Value &s) {
  const auto real = [&](double value) { return number(64, std::bit_cast<std::uint64_t>(value)); };
  const auto operate = [&](std::string_view what, const Value &a, const Value &b) {
    const Value both[] = {a, b};
    return real_operation(what, both);
  };
  if (!host_.fma)
    return refuse(32);
  // Beyond these, it is 0 or infinity in f32; NaNs become one of them, and are put back.
  constexpr double most = 200, shift = 0x1.8p52;
  const Value wide = real_resized("fpext", s, 64);
  Value x = ite(real_compare("olt", wide, real(most)), wide, real(most));
  x = ite(real_compare("ogt", x, real(-most)), x, real(-most));
  const Value moved = operate("fadd", x, real(shift)); // the whole number in its lowest bits
  const Value rest = operate("fsub", x, operate("fsub", moved, real(shift)));
  double factors[13] = {1};
  for (int n = 1; n < 13; ++n)
    factors[n] = factors[n - 1] * std::numbers::ln2 / n;
  Value sum = real(factors[12]);
  for (int n = 12; n-- > 0;) {
    const Value terms[] = {sum, rest, real(factors[n])};
    sum = real_function("fma", terms);
  }
  const Value scale = shl(add(moved, number(64, 1023)), number(64, 52));
  const Value result = operate("fmul", sum, scale);
  const Value less = real_resized("fptrunc", operate("fmul", result, real(1 - 0x1p-44)), 32),
              more = real_resized("fptrunc", operate("fmul", result, real(1 + 0x1p-44)), 32);
  const Value nan = is_nan(s), doubt = bit_and(bit_not(nan), bit_not(eq(less, more)));
  doubt_ = doubt_.width == 0 ? doubt : bit_or(doubt_, doubt);
  return nearly_finish(mode, ite(nan, number(32, default_nan(32)), less));
}

// Of f32, every operation but copysign gives the one NaN of any NaN, so it does not matter which it
// was; and of what an operation gives, NaNs are settled where somebody looks at their bits.
IrValue IrDomain::floating(FloatOperation operation, const FloatForm &f,
                           std::span<const Value> list) {
  const unsigned width = f.form.width;
  const FloatMode &mode = f.mode;
  if (!is_usual(f.form.type) || mode.relu || mode.absolute)
    return refuse(width);
  std::vector<Value> s;
  for (Value a : list) {
    if (operation == FloatOperation::copysign)
      a = settled(a);
    a.nan = NanBits::kept;
    s.push_back(flushed(a, mode.flush));
  }
  const auto given = [&](Value result, NanBits nan) {
    result.nan = width == 32 ? nan : NanBits::kept;
    return result;
  };
  switch (operation) {
  case FloatOperation::abs:
  case FloatOperation::neg: {
    const Value result = operation == FloatOperation::abs
                             ? magnitude(s[0])
                             : bit_xor(s[0], number(width, sign_mask(width)));
    return given(
        ite(is_nan(s[0]), width == 64 ? quiet(s[0]) : number(width, default_nan(width)), result),
        NanBits::canonical);
  }
  case FloatOperation::copysign:
    return bit_or(magnitude(s[1]), sign_of(s[0]));
  case FloatOperation::min:
  case FloatOperation::max:
    return given(minimum_or_maximum(operation, s[0], s[1], mode.nan), NanBits::canonical);
  default:
    break;
  }
  if (mode.rounding != FloatRounding::nearest_even)
    return width == 32 && !mode.approximate && !mode.flush && operation <= FloatOperation::fma
               ? given(nearly_finish(mode, rounded_to_one_side(operation, mode.rounding, s)),
                       NanBits::any)
               : refuse(width);
  if (operation == FloatOperation::ex2 && width == 32)
    return given(power_of_two(mode, s[0]), NanBits::any);
  const bool is_approximate = mode.approximate || operation == FloatOperation::rsqrt;
  if (is_approximate)
    return width == 32 && (operation == FloatOperation::div || operation == FloatOperation::rcp ||
                           operation == FloatOperation::sqrt || operation == FloatOperation::rsqrt)
               ? given(approximate(operation, mode, s), NanBits::any)
               : refuse(width);
  const Value result = arithmetic(operation, s);
  if (width == 64) {
    // The NaN of the second operand, the third, the first; of a division's first before its second.
    // What is passed on is not saturated.
    static constexpr std::size_t usual[] = {0, 2, 1}, of_division[] = {2, 1, 0};
    Value known = finish(mode, ite(is_nan(result), number(64, default_nan(64)), result));
    for (const std::size_t i : operation == FloatOperation::div ? of_division : usual)
      if (i < s.size())
        known = ite(is_nan(list[i]), quiet(list[i]), known);
    return known;
  }
  // What is flushed depends on how the result was rounded where it is the least normal number.
  if (mode.flush) {
    const Value doubt = eq(magnitude(result), number(32, least_normal(32)));
    doubt_ = doubt_.width == 0 ? doubt : bit_or(doubt_, doubt);
  }
  return given(nearly_finish(mode, result), NanBits::any);
}

IrValue IrDomain::float_comparison(const FloatForm &f, const Value &a, const Value &b) {
  const ScalarType type = f.form.source_type == ScalarType::none ? f.form.type : f.form.source_type;
  if (!is_usual(type))
    return refuse(1);
  static constexpr std::pair<Comparison, std::string_view> predicates[] = {
      {Comparison::eq, "oeq"},  {Comparison::ne, "one"},  {Comparison::lt, "olt"},
      {Comparison::le, "ole"},  {Comparison::gt, "ogt"},  {Comparison::ge, "oge"},
      {Comparison::equ, "ueq"}, {Comparison::neu, "une"}, {Comparison::ltu, "ult"},
      {Comparison::leu, "ule"}, {Comparison::gtu, "ugt"}, {Comparison::geu, "uge"},
      {Comparison::num, "ord"}, {Comparison::nan, "uno"}};
  for (const auto &[comparison, predicate] : predicates)
    if (comparison == f.form.comparison)
      return real_compare(predicate, flushed(a, f.mode.flush), flushed(b, f.mode.flush));
  return refuse(1);
}

IrValue IrDomain::round_to_integral(FloatRounding rounding, Value a) {
  const std::string_view name = rounding == FloatRounding::zero   ? "trunc"
                                : rounding == FloatRounding::down ? "floor"
                                : rounding == FloatRounding::up   ? "ceil"
                                                                  : "rint";
  return real_function(name, std::span(&a, 1));
}

IrValue IrDomain::float_conversion(const FloatForm &f, Value a) {
  const ScalarType to = f.form.type, from = f.form.source_type;
  const unsigned width = f.form.width;
  const FloatMode &mode = f.mode;
  if (mode.relu || mode.rounding == FloatRounding::nearest_away)
    return refuse(width);
  const bool nearest = mode.rounding == FloatRounding::nearest_even;
  if (!is_float(from)) {
    if (!is_usual(to) || !nearest)
      return refuse(width);
    const std::string real =
        text_.define("{} {} {} to {}", f.form.source_signed ? "sitofp" : "uitofp", type_of(a),
                     a.text, real_type(width, a.uniform));
    return finish(mode, from_real(real, width, a.uniform));
  }
  if (!is_float(to)) {
    if (!is_usual(from))
      return refuse(width);
    // Beyond the range IR's conversion clamps, and makes 0 of a NaN.
    const Value integral = round_to_integral(mode.rounding, flushed(a, mode.flush));
    const std::string real = as_real(integral);
    const std::string lanes = a.uniform ? "" : "v32";
    const std::string type = real_type(a.width, a.uniform);
    const std::string function =
        fmt::format("{} @llvm.fpto{}i.sat.{}i{}.{}f{}", type_of(width, a.uniform),
                    f.form.is_signed ? "s" : "u", lanes, width, lanes, a.width);
    text_.declarations.insert(fmt::format("declare {}({})\n", function, type));
    Value result = {text_.define("call {}({} {})", function, type, real), width, a.uniform};
    if (from != ScalarType::f64 && width != 64)
      return result;
    return ite(is_nan(a), number(width, sign_mask(width)), result);
  }
  const bool from_half = from == ScalarType::f16 && is_usual(to) && to == ScalarType::f32;
  const bool to_half = to == ScalarType::f16 && from == ScalarType::f32;
  if ((from_half || to_half) && (!host_.f16c || mode.integral || mode.saturate))
    return refuse(width);
  if (from_half)
    return ite(is_nan(a), number(32, default_nan(32)), real_resized("fpext", a, 32));
  if (to_half)
    return nearest ? ite(is_nan(a), number(16, default_nan(16)), real_resized("fptrunc", a, 16))
                   : refuse(width);
  if (!is_usual(to) || !is_usual(from) || (!nearest && to != from && width == 32))
    return refuse(width);
  const Value nan = is_nan(a), operand = flushed(a, mode.flush);
  const Value whole = mode.integral ? round_to_integral(mode.rounding, operand) : operand;
  FloatMode how = mode;
  how.flush = mode.flush && width != 64;
  const Value result = finish(how, width > a.width   ? real_resized("fpext", whole, width)
                                   : width < a.width ? real_resized("fptrunc", whole, width)
                                                     : whole);
  // What is left of a NaN: convert_nan() of floating.cpp.
  Value of_nan;
  if (mode.saturate)
    of_nan = number(width, 0);
  else if (to == from)
    of_nan = mode.integral || (mode.flush && width == 32)
                 ? (width == 64 ? quiet(a) : number(32, default_nan(32)))
                 : a;
  else if (to == ScalarType::f64)
    of_nan =
        mode.flush
            ? number(64, 0x7fffffffe0000000)
            : bit_or(quiet(shl(zext(bit_and(a, number(32, mask64(23))), 64), number(64, 29))),
                     bit_or(shl(zext(sign_of(a), 64), number(64, 32)), number(64, infinity(64))));
  else
    of_nan = bit_or(quiet(trunc(lshr(bit_and(a, number(64, mask64(52))), number(64, 29)), 32)),
                    bit_or(trunc(lshr(sign_of(a), number(64, 32)), 32), number(32, infinity(32))));
  return ite(nan, of_nan, result);
}

IrValue IrDomain::float_class(const FloatForm &f, const Value &a) {
  const Value size = magnitude(a), limit = number(a.width, infinity(a.width));
  const Opcode &opcode = *f.opcode;
  if (opcode.has(Modifier::finite))
    return ult(size, limit);
  if (opcode.has(Modifier::infinite))
    return eq(size, limit);
  if (opcode.has(Modifier::number))
    return bit_not(ult(limit, size));
  if (opcode.has(Modifier::notanumber))
    return ult(limit, size);
  const Value normal = number(a.width, least_normal(a.width)), zero = number(a.width, 0);
  if (opcode.has(Modifier::normal))
    return bit_or(eq(size, zero), bit_and(bit_not(ult(size, normal)), ult(size, limit)));
  return bit_and(ult(size, normal), bit_not(eq(size, zero)));
}

IrValue IrDomain::float_not_negative(const FloatForm &f, const Value &a) {
  return real_compare("oge", flushed(a, f.mode.flush), number(32, 0));
}

} // namespace ptxasw::emulator
