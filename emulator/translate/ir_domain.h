#pragma once

// The domain of LLVM IR for the instruction tables: what they compute becomes text of IR over
// vectors of a warp's 32 lanes, so that translated code and the interpreter have one definition of
// each instruction. A value is the same in all lanes (a scalar of IR), goes up by a constant from
// lane to lane and by another from row to row of the block's threads (a scalar, that of lane 0), or
// has a lane each (a vector).
//
// What IR leaves undefined and PTX does not (shifts by the width, divisions by zero) is taken apart
// here. A form of floating point for which the host's arithmetic would not give the bits that
// emulator/semantics/floating.cpp gives is refused, and the interpreter executes it.

#include "emulator/machine/warp_engine.h"
#include "emulator/semantics/float_instructions.h"

#include <fmt/core.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw::emulator {

/// Which vectors of the host's processor code may use.
enum class HostVectors : std::uint8_t {
  all,  ///< that it has
  avx2, ///< none of AVX-512
  sse2, ///< those that every processor of its kind has
};

/// What the host's processor computes in vectors.
struct HostFeatures {
  bool fma = false, f16c = false;
  bool gathers = false; ///< loads words from addresses in a vector, eight or more at once
};

/// What a 32-bit value says of NaNs.
enum class NanBits : std::uint8_t {
  kept,      ///< its bits are the value's
  canonical, ///< there is none but the one that arithmetic gives
  any,       ///< one of any bits stands for the one that arithmetic gives
};

/// A value of IR.
struct IrValue {
  std::string text;   ///< a name, or a constant of a lane
  unsigned width = 0; ///< bits of a lane
  bool uniform = true;
  bool constant = false;
  /// Not zeros: `text` is lane 0's value, and each lane's is so much more, modulo 2^width. Such a
  /// value is not `uniform`.
  LaneSteps steps;
  NanBits nan = NanBits::kept;
  bool has_steps() const { return steps != LaneSteps{}; }
  bool is_scalar() const { return uniform || has_steps(); }
};

/// A function's text as it grows, and names for values and labels.
class IrText {
public:
  /// `opaque`: pointers have no types (LLVM 15 and later).
  explicit IrText(bool opaque) : opaque_(opaque) {}
  /// A line that defines a value; returns its name.
  template <class... Parts>
  std::string define(fmt::format_string<Parts...> form, Parts &&...parts) {
    std::string name = fmt::format("%v{}", next_++);
    text += fmt::format("  {} = {}\n", name, fmt::format(form, std::forward<Parts>(parts)...));
    return name;
  }
  template <class... Parts> void line(fmt::format_string<Parts...> form, Parts &&...parts) {
    text += fmt::format("  {}\n", fmt::format(form, std::forward<Parts>(parts)...));
  }
  std::string new_label() { return fmt::format("l{}", next_++); }
  void start(const std::string &label) { text += label + ":\n"; }
  std::string pointer(std::string_view type) const {
    return opaque_ ? "ptr" : fmt::format("{}*", type);
  }
  /// As it stands in names of intrinsics: `v32i64` of vectors.
  std::string mangled_pointer(std::string_view type) const {
    return opaque_ ? "p0" : fmt::format("p0{}", type);
  }
  /// A load from, a store to an address that is a number.
  std::string load(std::string_view type, std::string_view address, unsigned alignment);
  void store(std::string_view type, std::string_view value, std::string_view address,
             unsigned alignment);

  /// The same for a variable.
  std::string load_from(std::string_view type, std::string_view variable) {
    return define("load {}, {} {}", type, pointer(type), variable);
  }
  void store_to(std::string_view type, std::string_view value, std::string_view variable) {
    line("store {} {}, {} {}", type, value, pointer(type), variable);
  }

  std::string text;
  std::set<std::string> declarations; ///< of the functions that are called

private:
  const bool opaque_;
  unsigned next_ = 0;
};

class IrDomain {
public:
  using Value = IrValue;

  /// `row_size`: lanes of a row of threads, a power of two.
  IrDomain(IrText &text, const HostFeatures &host, unsigned row_size)
      : text_(text), host_(host), row_size_(row_size) {}

  /// Returns true if something was refused since this was last asked.
  bool take_refusal() { return std::exchange(refused_, false); }
  /// Lanes for which what was computed since this was last asked may be wrong: those that the
  /// interpreter has to do. Width 0: none.
  Value take_doubt() { return std::exchange(doubt_, {}); }
  /// A bit, the same in all lanes, that says if something computed since this was last asked is not
  /// what it is taken for: the interpreter has to do the instruction. Width 0: everything is.
  Value take_mistake() { return std::exchange(mistake_, {}); }
  /// The same value with the bits that an instruction gives.
  Value settled(const Value &a);

  static std::string type_of(const Value &a) { return type_of(a.width, a.is_scalar()); }
  static std::string type_of(unsigned width, bool uniform) {
    return uniform ? fmt::format("i{}", width) : fmt::format("<32 x i{}>", width);
  }
  /// What goes up by `steps`; by zeros: what is the same in all lanes.
  static Value stepping(std::string text, unsigned width, const LaneSteps &steps);
  /// How much more than lane 0's a lane's value is, of one that is a scalar; sign-extended.
  std::int64_t more(const Value &a, unsigned lane) const {
    return static_cast<std::int64_t>(a.steps.at(lane, row_size_));
  }
  /// The least and the most of more() of all lanes.
  std::pair<std::int64_t, std::int64_t> range(const Value &a) const;
  /// The same as a vector.
  Value spread(Value a);

  unsigned width(const Value &a) const { return a.width; }
  Value constant(unsigned width, Bits value);
  Value add(const Value &a, const Value &b) {
    return linear("add", a, b, times(a.steps, 1, b.steps, 1));
  }
  Value sub(const Value &a, const Value &b) {
    return linear("sub", a, b, times(a.steps, 1, b.steps, ~std::uint64_t{0}));
  }
  Value neg(const Value &a) { return sub(constant(a.width, {}), a); }
  Value mul(const Value &a, const Value &b);
  Value udiv(const Value &a, const Value &b) { return divide("udiv", a, b, false); }
  Value urem(const Value &a, const Value &b) { return divide("urem", a, b, false); }
  Value sdiv(const Value &a, const Value &b) { return divide("sdiv", a, b, true); }
  Value srem(const Value &a, const Value &b) { return divide("srem", a, b, true); }
  Value bit_and(const Value &a, const Value &b) { return binary("and", a, b); }
  Value bit_or(const Value &a, const Value &b) { return binary("or", a, b); }
  Value bit_xor(const Value &a, const Value &b) { return binary("xor", a, b); }
  Value bit_not(const Value &a) { return binary("xor", a, constant(a.width, {~0ull, ~0ull})); }
  Value shl(const Value &a, const Value &by);
  Value lshr(const Value &a, const Value &by) { return shift("lshr", a, by); }
  Value ashr(const Value &a, const Value &by);
  Value eq(const Value &a, const Value &b) { return compare("eq", a, b); }
  Value ult(const Value &a, const Value &b) { return compare("ult", a, b); }
  Value slt(const Value &a, const Value &b) { return compare("slt", a, b); }
  Value ite(Value condition, Value yes, Value no);
  Value zext(const Value &a, unsigned width) { return resized("zext", a, width); }
  Value sext(const Value &a, unsigned width) { return resized("sext", a, width); }
  Value trunc(const Value &a, unsigned width) { return resized("trunc", a, width); }
  Value extract(Value a, unsigned low, unsigned width);
  Value concat(const Value &high, const Value &low);
  Value generic_address(std::string_view, Value a) { return a; }

  // Floating point: ir_float.cpp
  Value floating(FloatOperation operation, const FloatForm &f, std::span<const Value> s);
  Value float_comparison(const FloatForm &f, const Value &a, const Value &b);
  Value float_conversion(const FloatForm &f, Value a);
  Value float_class(const FloatForm &f, const Value &a);
  Value float_not_negative(const FloatForm &f, const Value &a);

private:
  Value binary(std::string_view what, Value a, Value b);
  /// Of operands that are scalars: a scalar with these steps.
  Value linear(std::string_view what, const Value &a, const Value &b, const LaneSteps &steps);
  /// One m times and another n times.
  static LaneSteps times(const LaneSteps &a, std::uint64_t m, const LaneSteps &b = {},
                         std::uint64_t n = 0);
  Value compare(std::string_view what, Value a, Value b);
  Value shift(std::string_view what, const Value &a, const Value &by);
  Value divide(std::string_view what, const Value &a, const Value &b, bool is_signed);
  Value resized(std::string_view what, Value a, unsigned width);
  void must_not_wrap(const Value &a, std::int64_t more, bool is_signed);
  Value refuse(unsigned width);
  bool are_uniform(Value &a, Value &b);

  // Floating point
  Value number(unsigned width, std::uint64_t bits) { return constant(width, Bits{bits}); }
  /// The type of IR for floating-point numbers of a width.
  static std::string real_type(unsigned width, bool uniform);
  /// The bits as a number, in a line of IR; and back.
  std::string as_real(const Value &a);
  Value from_real(const std::string &real, unsigned width, bool uniform);
  Value real_operation(std::string_view what, std::span<const Value> s);
  Value real_function(std::string_view name, std::span<const Value> s);
  Value real_compare(std::string_view how, Value a, Value b);
  Value real_resized(std::string_view what, const Value &a, unsigned width);
  Value is_nan(const Value &a);
  Value magnitude(const Value &a);
  Value sign_of(const Value &a);
  Value flushed(const Value &a, bool flush);
  Value quiet(const Value &a);
  /// floating.cpp's finish(): the one NaN, .ftz and .sat of a result.
  Value finish(const FloatMode &mode, const Value &a);
  /// The same, but that a NaN of f32 may have any bits.
  Value nearly_finish(const FloatMode &mode, const Value &a);
  Value round_to_integral(FloatRounding rounding, Value a);
  Value approximate(FloatOperation operation, const FloatMode &mode, std::span<const Value> s);
  /// add, sub, mul, fma of f32, rounded up, down or to zero.
  Value rounded_to_one_side(FloatOperation operation, FloatRounding rounding,
                            std::span<const Value> s);
  Value power_of_two(const FloatMode &mode, const Value &s);
  Value minimum_or_maximum(FloatOperation operation, const Value &a, const Value &b, bool nan);
  Value arithmetic(FloatOperation operation, std::span<const Value> s);

  IrText &text_;
  const HostFeatures host_;
  const unsigned row_size_;
  bool refused_ = false;
  Value doubt_, mistake_;
};

} // namespace ptxasw::emulator
