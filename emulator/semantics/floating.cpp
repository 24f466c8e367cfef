// Floating point on bit patterns.
//
// f32 and f64 to nearest are what the host computes. Everything else goes through one idea: a
// result computed in double and *rounded to odd* (towards zero, and the last bit set if anything
// was lost) can be rounded once more to any format of at most 51 bits in any direction, and the
// result is as if it had been rounded once. Directed rounding of f64 sets the host's own mode.
// The file is compiled with -frounding-math.

#include "emulator/semantics/floating.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace ptxasw::emulator {

FloatMode decode_float_mode(const Opcode &opcode) {
  FloatMode mode;
  for (const std::string_view word : opcode.modifiers) {
    if (word == "rz" || word == "rzi")
      mode.rounding = FloatRounding::zero;
    else if (word == "rm" || word == "rmi")
      mode.rounding = FloatRounding::down;
    else if (word == "rp" || word == "rpi")
      mode.rounding = FloatRounding::up;
    else if (word == "rna")
      mode.rounding = FloatRounding::nearest_away;
    mode.integral |= word == "rni" || word == "rzi" || word == "rmi" || word == "rpi";
    mode.flush |= word == "ftz";
    mode.saturate |= word == "sat";
    mode.approximate |= word == "approx" || word == "full";
    mode.full_range |= word == "full";
    mode.nan |= word == "NaN";
    mode.relu |= word == "relu";
    mode.absolute |= word == "xorsign";
  }
  return mode;
}

namespace floating {
namespace {

struct Format {
  unsigned exponent_bits;
  unsigned mantissa_bits;
  unsigned width;
  std::uint64_t nan; ///< what an invalid operation gives
};

constexpr Format format_of(ScalarType type) {
  switch (type) {
  case ScalarType::f16:
    return {5, 10, 16, 0x7fff};
  case ScalarType::bf16:
    return {8, 7, 16, 0x7fff};
  case ScalarType::f64:
    return {11, 52, 64, 0xfff8000000000000};
  case ScalarType::e4m3:
    return {4, 3, 8, 0x7f};
  case ScalarType::e5m2:
    return {5, 2, 8, 0x7f};
  default: // tf32 is an f32 whose low 13 bits are zero
    return {8, 23, 32, 0x7fffffff};
  }
}

std::uint64_t sign_bit(const Format &format) { return std::uint64_t{1} << (format.width - 1); }

/// Sets the host's rounding mode and puts nearest back.
class HostRounding {
public:
  explicit HostRounding(int mode) { std::fesetround(mode); }
  ~HostRounding() { std::fesetround(FE_TONEAREST); }
  HostRounding(const HostRounding &) = delete;
  HostRounding &operator=(const HostRounding &) = delete;
};

int host_mode(FloatRounding rounding) {
  switch (rounding) {
  case FloatRounding::zero:
    return FE_TOWARDZERO;
  case FloatRounding::down:
    return FE_DOWNWARD;
  case FloatRounding::up:
    return FE_UPWARD;
  default:
    return FE_TONEAREST;
  }
}

/// The operation in double in the host's current mode.
double host_compute(FloatOperation operation, double a, double b, double c) {
  const volatile double x = a, y = b, z = c; // keeps the compiler from moving it across fesetround
  volatile double result = 0;
  switch (operation) {
  case FloatOperation::add:
    result = x + y;
    break;
  case FloatOperation::sub:
    result = x - y;
    break;
  case FloatOperation::mul:
    result = x * y;
    break;
  case FloatOperation::fma:
    result = std::fma(x, y, z);
    break;
  case FloatOperation::div:
    result = x / y;
    break;
  case FloatOperation::rcp:
    result = 1.0 / x;
    break;
  default: // sqrt
    result = std::sqrt(x);
    break;
  }
  return result;
}

double rounded_to_odd(FloatOperation operation, double a, double b, double c) {
  std::feclearexcept(FE_INEXACT);
  double result;
  {
    HostRounding mode(FE_TOWARDZERO);
    result = host_compute(operation, a, b, c);
  }
  if (std::fetestexcept(FE_INEXACT) && std::isfinite(result))
    result = std::bit_cast<double>(std::bit_cast<std::uint64_t>(result) | 1);
  return result;
}

double approximate_function(FloatOperation operation, double a, double b) {
  switch (operation) {
  case FloatOperation::div:
    return a / b;
  case FloatOperation::rcp:
    return 1.0 / a;
  case FloatOperation::sqrt:
    return std::sqrt(a);
  case FloatOperation::rsqrt:
    return 1.0 / std::sqrt(a);
  case FloatOperation::sin:
    return std::sin(a);
  case FloatOperation::cos:
    return std::cos(a);
  case FloatOperation::lg2:
    return std::log2(a);
  case FloatOperation::ex2:
    return std::exp2(a);
  default:
    return std::tanh(a);
  }
}

std::uint64_t flushed(const Format &format, std::uint64_t value, bool flush) {
  const std::uint64_t magnitude = value & (sign_bit(format) - 1);
  if (flush && magnitude < (std::uint64_t{1} << format.mantissa_bits))
    return value & sign_bit(format);
  return value;
}

bool is_nan(const Format &format, std::uint64_t value) {
  if (format.width == 8) // e4m3 has one NaN and numbers below it, e5m2 is only ever given this one
    return (value & 0x7f) == 0x7f;
  const std::uint64_t infinity = mask64(format.exponent_bits) << format.mantissa_bits;
  return (value & (sign_bit(format) - 1)) > infinity;
}

std::uint64_t quiet(const Format &format, std::uint64_t nan) {
  return nan | std::uint64_t{1} << (format.mantissa_bits - 1);
}

std::uint64_t one(const Format &format) {
  return (mask64(format.exponent_bits - 1)) << format.mantissa_bits;
}

/// .ftz, .sat and the one NaN of a result.
std::uint64_t finish(const Format &format, const FloatMode &mode, std::uint64_t value) {
  if (is_nan(format, value)) {
    if (mode.saturate)
      return 0;
    return format.width == 64 ? value : format.nan;
  }
  value = flushed(format, value, mode.flush);
  if (mode.relu && (value & sign_bit(format)))
    return 0;
  if (!mode.saturate)
    return value;
  if (value & sign_bit(format))
    return 0;
  return std::min(value, one(format));
}

std::uint64_t minimum_or_maximum(ScalarType type, FloatOperation operation, const FloatMode &mode,
                                 std::uint64_t a, std::uint64_t b) {
  const Format format = format_of(type);
  const bool a_nan = is_nan(format, a), b_nan = is_nan(format, b);
  if ((a_nan && b_nan) || (mode.nan && (a_nan || b_nan)))
    return format.width == 64 ? quiet(format, b) : format.nan;
  const std::uint64_t sign = (a ^ b) & sign_bit(format);
  if (mode.absolute) {
    a &= ~sign_bit(format);
    b &= ~sign_bit(format);
  }
  std::uint64_t result;
  if (a_nan || b_nan) {
    result = a_nan ? b : a;
  } else {
    const int order = compare(type, false, a, b);
    // -0 counts as less than +0
    const bool a_less = order == 0 ? (a & sign_bit(format)) != 0 : order < 0;
    result = (operation == FloatOperation::min) == a_less ? a : b;
  }
  return mode.absolute ? result | sign : result;
}

} // namespace

double to_double(ScalarType type, std::uint64_t value) {
  if (type == ScalarType::e4m3 || type == ScalarType::e5m2) {
    const Format format = format_of(type);
    const auto exponent =
        static_cast<int>(value >> format.mantissa_bits & mask64(format.exponent_bits));
    const auto mantissa = static_cast<double>(value & mask64(format.mantissa_bits));
    const auto m = static_cast<int>(format.mantissa_bits);
    const int bias = static_cast<int>(mask64(format.exponent_bits - 1));
    double magnitude = exponent == 0 ? std::ldexp(mantissa, 1 - bias - m)
                                     : std::ldexp(mantissa + (1 << m), exponent - bias - m);
    if (type == ScalarType::e4m3 && (value & 0x7f) == 0x7f)
      magnitude = NAN; // the only one, and no infinity
    else if (type == ScalarType::e5m2 && exponent == 31)
      magnitude = mantissa == 0 ? INFINITY : NAN;
    return value >> 7 & 1 ? -magnitude : magnitude;
  }
  if (type == ScalarType::f64)
    return std::bit_cast<double>(value);
  if (type == ScalarType::bf16)
    return std::bit_cast<float>(static_cast<std::uint32_t>(value << 16));
  if (type != ScalarType::f16)
    return std::bit_cast<float>(static_cast<std::uint32_t>(value));
  const auto exponent = static_cast<int>(value >> 10 & 31);
  const auto mantissa = static_cast<double>(value & 1023);
  double magnitude;
  if (exponent == 31)
    magnitude = mantissa == 0 ? INFINITY : NAN;
  else
    magnitude =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  return value >> 15 & 1 ? -magnitude : magnitude;
}

std::uint64_t from_double(ScalarType type, double value, FloatRounding rounding) {
  Format format = format_of(type);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  if (type == ScalarType::f64)
    return bits;
  if (std::isnan(value))
    return format.nan;
  // tf32 has 10 bits of mantissa at the place of f32's upper ones.
  const unsigned spare = type == ScalarType::tf32 ? 13 : 0;
  const unsigned m = format.mantissa_bits - spare;
  const bool negative = bits >> 63;
  const std::uint64_t sign = negative ? sign_bit(format) : 0;
  // The first pattern that is not a number. Formats of 8 bits saturate below it.
  const std::uint64_t infinity =
      type == ScalarType::e4m3 ? 0x7f : mask64(format.exponent_bits) << m;
  const bool saturates = format.width == 8;
  const int bias = static_cast<int>(mask64(format.exponent_bits - 1));
  if (std::isinf(value))
    return sign | (infinity - saturates) << spare;
  const auto biased = static_cast<int>(bits >> 52 & 2047);
  std::uint64_t mantissa = bits & mask64(52);
  int exponent = biased - 1023;
  if (biased == 0)
    exponent = -1022;
  else
    mantissa |= std::uint64_t{1} << 52;
  if (mantissa == 0)
    return sign;
  const int below = std::max(0, 1 - bias - exponent); // how far under the smallest normal exponent
  const unsigned drop = std::min(62u, 52 - m + static_cast<unsigned>(below));
  const std::uint64_t rest = mantissa & mask64(drop), half = std::uint64_t{1} << (drop - 1);
  std::uint64_t kept = mantissa >> drop;
  bool up = false;
  switch (rounding) {
  case FloatRounding::nearest_even:
    up = rest > half || (rest == half && (kept & 1));
    break;
  case FloatRounding::nearest_away:
    up = rest >= half;
    break;
  case FloatRounding::zero:
    break;
  case FloatRounding::down:
    up = negative && rest != 0;
    break;
  case FloatRounding::up:
    up = !negative && rest != 0;
    break;
  }
  kept += up;
  // A carry out of the mantissa moves into the exponent by itself.
  std::uint64_t result = kept;
  if (below == 0)
    result += static_cast<std::uint64_t>(exponent + bias - 1) << m;
  if (result >= infinity) {
    const bool stays = rounding == FloatRounding::zero ||
                       rounding == (negative ? FloatRounding::up : FloatRounding::down);
    result = stays || saturates ? infinity - 1 : infinity;
  }
  return sign | result << spare;
}

int compare(ScalarType type, bool flush, std::uint64_t a, std::uint64_t b) {
  const Format format = format_of(type);
  const double x = to_double(type, flushed(format, a, flush));
  const double y = to_double(type, flushed(format, b, flush));
  if (std::isnan(x) || std::isnan(y))
    return 2;
  return x < y ? -1 : x > y;
}

namespace {

/// The NaN of 64 bits that an operation passes on: of the second operand, the third, the first; of
/// a division's first before its second.
std::optional<std::uint64_t> passed_on(FloatOperation operation,
                                       std::span<const std::uint64_t> arguments) {
  const Format format = format_of(ScalarType::f64);
  static constexpr std::size_t usual[] = {1, 2, 0}, of_division[] = {0, 1, 2};
  for (const std::size_t i : operation == FloatOperation::div ? of_division : usual)
    if (i < arguments.size() && is_nan(format, arguments[i]))
      return quiet(format, arguments[i]);
  return std::nullopt;
}

/// rcp and rsqrt .approx.ftz.f64: of the upper word, to the upper word.
std::uint64_t upper_word_function(FloatOperation operation, std::uint64_t argument) {
  const Format format = format_of(ScalarType::f64);
  const double x = std::bit_cast<double>(argument & ~mask64(32));
  const double result = approximate_function(operation, x, 0);
  if (std::isnan(result))
    return 0x7fffffff00000000;
  return flushed(format, std::bit_cast<std::uint64_t>(result) & ~mask64(32), true);
}

/// Rounds to as many bits as an f32 has, whatever the exponent.
double to_24_bits(double number) {
  int exponent = 0;
  const double fraction = std::frexp(number, &exponent);
  return std::isfinite(number)
             ? std::ldexp(static_cast<double>(static_cast<float>(fraction)), exponent)
             : number;
}

/// An approximate function of one format below f64.
double approximate(FloatOperation operation, const FloatMode &mode, double a, double b) {
  switch (operation) {
  case FloatOperation::sin:
  case FloatOperation::cos: {
    // First turns are made of radians, in f32 and cut off; whole ones do not count.
    constexpr double turns_per_radian = 0.15915493667125701904296875;
    const double odd = rounded_to_odd(FloatOperation::mul, a, turns_per_radian, 0);
    const double turns =
        to_double(ScalarType::f32, from_double(ScalarType::f32, odd, FloatRounding::zero));
    return approximate_function(operation, (turns - std::trunc(turns)) * 2 * std::numbers::pi, 0);
  }
  case FloatOperation::div: {
    // The product with the reciprocal, which .approx loses where it is subnormal.
    const double reciprocal = to_24_bits(1.0 / b);
    if (!mode.full_range && std::abs(reciprocal) < std::numeric_limits<float>::min())
      return a * std::copysign(0.0, reciprocal);
    return a * reciprocal;
  }
  default:
    return approximate_function(operation, a, b);
  }
}

/// True if a result is flushed: it would be below the normal numbers if it were rounded to as many
/// digits as they have.
bool is_tiny(ScalarType type, double result, FloatRounding rounding) {
  const Format format = format_of(type);
  const double normal = to_double(type, std::uint64_t{1} << format.mantissa_bits);
  if (std::abs(result) >= normal)
    return false;
  return std::abs(to_double(type, from_double(type, result / normal, rounding))) < 1;
}

} // namespace

std::uint64_t compute(FloatOperation operation, ScalarType type, const FloatMode &mode,
                      std::span<const std::uint64_t> arguments) {
  const Format format = format_of(type);
  std::uint64_t s[3] = {};
  for (std::size_t i = 0; i < std::min<std::size_t>(3, arguments.size()); ++i)
    s[i] = flushed(format, arguments[i], mode.flush);
  switch (operation) {
  case FloatOperation::abs:
  case FloatOperation::neg:
    if (is_nan(format, s[0]))
      return format.width == 64 ? quiet(format, s[0]) : format.nan;
    return operation == FloatOperation::abs ? s[0] & ~sign_bit(format) : s[0] ^ sign_bit(format);
  case FloatOperation::copysign:
    return (s[1] & ~sign_bit(format)) | (s[0] & sign_bit(format));
  case FloatOperation::min:
  case FloatOperation::max:
    return minimum_or_maximum(type, operation, mode, s[0], s[1]);
  default:
    break;
  }
  const bool nearest = mode.rounding == FloatRounding::nearest_even;
  if (type == ScalarType::f32 && nearest && operation <= FloatOperation::fma) {
    const auto a = std::bit_cast<float>(static_cast<std::uint32_t>(s[0]));
    const auto b = std::bit_cast<float>(static_cast<std::uint32_t>(s[1]));
    const auto c = std::bit_cast<float>(static_cast<std::uint32_t>(s[2]));
    const float result = operation == FloatOperation::add   ? a + b
                         : operation == FloatOperation::sub ? a - b
                         : operation == FloatOperation::mul ? a * b
                                                            : std::fma(a, b, c);
    // At the smallest normal number, where is_tiny() has to look, the long way is taken.
    if (!mode.flush || std::abs(result) != std::numeric_limits<float>::min())
      return finish(format, mode, std::bit_cast<std::uint32_t>(result));
  }
  const bool is_approximate =
      mode.approximate || (operation >= FloatOperation::rsqrt && operation <= FloatOperation::tanh);
  if (type == ScalarType::f64 && is_approximate && mode.flush)
    return upper_word_function(operation, s[0]);
  if (type == ScalarType::f64)
    if (const auto nan = passed_on(operation, arguments))
      return *nan;
  const double a = to_double(type, s[0]), b = to_double(type, s[1]), c = to_double(type, s[2]);
  if (type == ScalarType::f64) {
    HostRounding host(host_mode(mode.rounding));
    const double result =
        is_approximate ? approximate_function(operation, a, b) : host_compute(operation, a, b, c);
    return finish(format, mode,
                  std::isnan(result) ? format.nan : std::bit_cast<std::uint64_t>(result));
  }
  if (is_approximate)
    return finish(
        format, mode,
        from_double(type, approximate(operation, mode, a, b), FloatRounding::nearest_even));
  double odd = rounded_to_odd(operation, a, b, c);
  if (odd == 0 && mode.rounding == FloatRounding::down) { // the sign of an exact zero
    HostRounding host(FE_DOWNWARD);
    odd = host_compute(operation, a, b, c);
  }
  if (mode.flush && is_tiny(type, odd, mode.rounding))
    odd = std::copysign(0.0, odd);
  return finish(format, mode, from_double(type, odd, mode.rounding));
}

std::uint64_t from_integer(ScalarType to, const FloatMode &mode, std::uint64_t value,
                           unsigned width, bool is_signed) {
  const std::int64_t number = as_signed(value, width);
  const bool negative = is_signed && number < 0;
  std::uint64_t magnitude = negative ? 0 - static_cast<std::uint64_t>(number) : value;
  const Format format = format_of(to);
  std::uint64_t result;
  if (to == ScalarType::f64) {
    HostRounding host(host_mode(mode.rounding));
    const volatile std::uint64_t from = value;
    const volatile double rounded =
        is_signed ? static_cast<double>(number) : static_cast<double>(from);
    result = std::bit_cast<std::uint64_t>(static_cast<double>(rounded));
  } else {
    // To 53 bits, rounded to odd.
    const int excess = std::max(0, 11 - std::countl_zero(magnitude));
    const bool lost = (magnitude & mask64(static_cast<unsigned>(excess))) != 0 && excess > 0;
    const double odd =
        std::ldexp(static_cast<double>((magnitude >> excess) | (lost ? 1 : 0)), excess);
    result = from_double(to, negative ? -odd : odd, mode.rounding);
  }
  return finish(format, mode, result);
}

std::uint64_t to_integer(ScalarType from, const FloatMode &mode, std::uint64_t value,
                         unsigned width, bool is_signed) {
  const double number = to_double(from, flushed(format_of(from), value, mode.flush));
  const std::uint64_t lowest = is_signed ? std::uint64_t{1} << (width - 1) : 0;
  const std::uint64_t highest = is_signed ? mask64(width - 1) : mask64(width);
  if (std::isnan(number))
    return from == ScalarType::f64 || width == 64 ? std::uint64_t{1} << (width - 1) : 0;
  const double integral = mode.rounding == FloatRounding::zero   ? std::trunc(number)
                          : mode.rounding == FloatRounding::down ? std::floor(number)
                          : mode.rounding == FloatRounding::up   ? std::ceil(number)
                                                                 : std::nearbyint(number);
  const double limit = std::ldexp(1.0, static_cast<int>(is_signed ? width - 1 : width));
  if (integral >= limit)
    return highest;
  if (integral < (is_signed ? -limit : 0.0))
    return lowest;
  const std::uint64_t bits = is_signed
                                 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(integral))
                                 : static_cast<std::uint64_t>(integral);
  return bits & mask64(width);
}

namespace {

/// What a NaN becomes. Formats differ in what they keep of it.
std::uint64_t convert_nan(ScalarType to, ScalarType from, const FloatMode &mode,
                          std::uint64_t value) {
  const Format target = format_of(to), source = format_of(from);
  if (mode.saturate)
    return 0;
  const std::uint64_t sign = value & sign_bit(source) ? sign_bit(target) : 0;
  const std::uint64_t infinity = mask64(target.exponent_bits) << target.mantissa_bits;
  const std::uint64_t payload = value & mask64(source.mantissa_bits);
  if (to == ScalarType::f64) {
    if (from == ScalarType::f32 && mode.flush) // made the one NaN of f32 first
      return 0x7fffffffe0000000;
    if (from == ScalarType::f64 && !mode.integral)
      return value;
    return quiet(target, sign | infinity | payload << (52 - source.mantissa_bits));
  }
  if (from == ScalarType::f64)
    return quiet(target, sign | infinity | payload >> (52 - target.mantissa_bits));
  if (to == ScalarType::f32 && from == ScalarType::bf16 && !mode.flush)
    return value << 16;
  if (to == ScalarType::f32 && from == ScalarType::f32 && !mode.integral && !mode.flush)
    return value;
  if (to == ScalarType::tf32)
    return mode.rounding == FloatRounding::nearest_away ? value & ~mask64(13) : 0x7fffe000;
  return target.nan;
}

} // namespace

std::uint64_t convert(ScalarType to, ScalarType from, const FloatMode &mode, std::uint64_t value) {
  if (is_nan(format_of(from), value) && from != ScalarType::e4m3 && from != ScalarType::e5m2)
    return convert_nan(to, from, mode, value);
  // .ftz is about f32; the steps to and from f16 have room for its subnormals.
  FloatMode how = mode;
  how.flush = mode.flush && to != ScalarType::f16 && from != ScalarType::f16;
  const std::uint64_t operand = flushed(format_of(from), value, how.flush);
  double number = to_double(from, operand);
  if (mode.integral && std::isfinite(number)) {
    HostRounding host(host_mode(mode.rounding));
    const volatile double volatile_number = number;
    number = std::nearbyint(volatile_number);
  }
  if (to == ScalarType::f64) {
    how.flush = false;
    return finish(format_of(to), how, std::bit_cast<std::uint64_t>(number));
  }
  return finish(format_of(to), how, from_double(to, number, mode.rounding));
}

NumberClass classify(ScalarType type, std::uint64_t value) {
  const Format format = format_of(type);
  const std::uint64_t magnitude = value & (sign_bit(format) - 1);
  const std::uint64_t infinity = mask64(format.exponent_bits) << format.mantissa_bits;
  if (magnitude == 0)
    return NumberClass::zero;
  if (magnitude < (std::uint64_t{1} << format.mantissa_bits))
    return NumberClass::subnormal;
  if (magnitude < infinity)
    return NumberClass::normal;
  return magnitude == infinity ? NumberClass::infinite : NumberClass::nan;
}

} // namespace floating
} // namespace ptxasw::emulator
