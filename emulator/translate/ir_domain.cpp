// Bit-vectors in IR. Operands that are the same in all lanes are spread where they meet one that is
// not; what is made of such operands alone stays a scalar. So do sums and multiples of values that
// go up by a constant from lane to lane, as indices and addresses do. All of this is modulo
// 2^width; where such a value is extended, it must not have wrapped around between lane 0 and lane
// 31, which is noted as a mistake if it has.

#include "emulator/translate/ir_domain.h"

#include <algorithm>
#include <utility>

namespace ptxasw::emulator {

std::string IrText::load(std::string_view type, std::string_view address, unsigned alignment) {
  const std::string at = define("inttoptr i64 {} to {}", address, pointer(type));
  return define("load {}, {} {}, align {}", type, pointer(type), at, alignment);
}

void IrText::store(std::string_view type, std::string_view value, std::string_view address,
                   unsigned alignment) {
  const std::string at = define("inttoptr i64 {} to {}", address, pointer(type));
  line("store {} {}, {} {}, align {}", type, value, pointer(type), at, alignment);
}

IrValue IrDomain::spread(Value a) {
  if (a.has_steps()) {
    std::string steps;
    for (unsigned lane = 0; lane < 32; ++lane)
      steps += fmt::format("{}i{} {}", lane ? ", " : "", a.width,
                           as_signed(a.steps.at(lane, row_size_) & mask64(a.width), a.width));
    const Value first = spread(Value{a.text, a.width});
    return {text_.define("add {} {}, <{}>", type_of(first), first.text, steps), a.width, false};
  }
  if (!a.uniform)
    return a;
  if (a.constant) {
    std::string text = "<";
    for (unsigned lane = 0; lane < 32; ++lane)
      text += fmt::format("{}i{} {}", lane ? ", " : "", a.width, a.text);
    return {a.text == "0" ? "zeroinitializer" : text + ">", a.width, false, false};
  }
  const std::string vector = type_of(a.width, false);
  const std::string first =
      text_.define("insertelement {} undef, i{} {}, i32 0", vector, a.width, a.text);
  return {
      text_.define("shufflevector {0} {1}, {0} undef, <32 x i32> zeroinitializer", vector, first),
      a.width, false, false};
}

IrValue IrDomain::constant(unsigned width, Bits value) {
  const Bits bits = truncate(value, width);
  const bool ones = width > 64 && bits.low == ~0ull && bits.high == mask64(width - 64);
  if (width > 64 && bits.high != 0 && !ones)
    refused_ = true;
  if (width == 1)
    return {bits.low ? "true" : "false", 1, true, true};
  const std::int64_t number = ones ? -1 : as_signed(bits.low, std::min(width, 64u));
  if (width > 64 && number < 0 && !ones)
    refused_ = true; // it would be extended by its sign
  return {std::to_string(number), width, true, true};
}

bool IrDomain::are_uniform(Value &a, Value &b) {
  if (a.uniform && b.uniform)
    return true;
  a = spread(a);
  b = spread(b);
  return false;
}

IrValue IrDomain::binary(std::string_view what, Value a, Value b) {
  const bool uniform = are_uniform(a, b);
  return {text_.define("{} {} {}, {}", what, type_of(a), a.text, b.text), a.width, uniform};
}

IrValue IrDomain::compare(std::string_view what, Value a, Value b) {
  const bool uniform = are_uniform(a, b);
  return {text_.define("icmp {} {} {}, {}", what, type_of(a), a.text, b.text), 1, uniform};
}

IrValue IrDomain::stepping(std::string text, unsigned width, const LaneSteps &steps) {
  const auto within = [&](std::int64_t step) {
    return as_signed(static_cast<std::uint64_t>(step) & mask64(width), width);
  };
  Value result{std::move(text), width};
  result.steps = {within(steps.lane), within(steps.row)};
  result.uniform = !result.has_steps();
  return result;
}

LaneSteps IrDomain::times(const LaneSteps &a, std::uint64_t m, const LaneSteps &b,
                          std::uint64_t n) {
  const auto sum = [&](std::int64_t x, std::int64_t y) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) * m +
                                     static_cast<std::uint64_t>(y) * n);
  };
  return {sum(a.lane, b.lane), sum(a.row, b.row)};
}

std::pair<std::int64_t, std::int64_t> IrDomain::range(const Value &a) const {
  std::pair<std::int64_t, std::int64_t> result;
  for (unsigned lane = 1; lane < warp_lanes; ++lane)
    result = {std::min(result.first, more(a, lane)), std::max(result.second, more(a, lane))};
  return result;
}

IrValue IrDomain::linear(std::string_view what, const Value &a, const Value &b,
                         const LaneSteps &steps) {
  if (!a.is_scalar() || !b.is_scalar() || a.width > 64 || a.width < 16)
    return binary(what, a, b);
  return stepping(text_.define("{} {} {}, {}", what, type_of(a), a.text, b.text), a.width, steps);
}

IrValue IrDomain::mul(const Value &a, const Value &b) {
  if (a.has_steps() && b.constant)
    return linear("mul", a, b, times(a.steps, static_cast<std::uint64_t>(std::stoll(b.text))));
  if (b.has_steps() && a.constant)
    return mul(b, a);
  return binary("mul", a, b);
}

IrValue IrDomain::shl(const Value &a, const Value &by) {
  if (a.has_steps() && by.constant)
    if (const auto amount = std::stoll(by.text); amount >= 0 && amount < a.width)
      return linear("shl", a, by, times(a.steps, std::uint64_t{1} << amount));
  return shift("shl", a, by);
}

// A shift by the width or more is poison in IR: it is made, and not chosen.
IrValue IrDomain::shift(std::string_view what, const Value &a, const Value &by) {
  const Value shifted = binary(what, a, by);
  return ite(ult(by, constant(a.width, {a.width})), shifted, constant(a.width, {}));
}

IrValue IrDomain::ashr(const Value &a, const Value &by) {
  const Value most = constant(a.width, {a.width - 1});
  return binary("ashr", a, ite(ult(by, most), by, most));
}

// By zero, the result is all ones (concrete.h); what overflows gives itself, and no remainder.
IrValue IrDomain::divide(std::string_view what, const Value &a, const Value &b, bool is_signed) {
  const Value one = constant(a.width, {1}), ones = bit_not(constant(a.width, {}));
  const Value by_zero = eq(b, constant(a.width, {}));
  Value avoided = by_zero;
  if (is_signed)
    avoided =
        bit_or(avoided, bit_and(eq(b, ones), eq(a, shl(one, constant(a.width, {a.width - 1})))));
  return ite(by_zero, ones, binary(what, a, ite(avoided, one, b)));
}

IrValue IrDomain::ite(Value condition, Value yes, Value no) {
  if (condition.uniform && yes.has_steps() && yes.steps == no.steps)
    return stepping(text_.define("select i1 {}, {} {}, {} {}", condition.text, type_of(yes),
                                 yes.text, type_of(no), no.text),
                    yes.width, yes.steps);
  const bool uniform = are_uniform(yes, no);
  if (!condition.uniform && uniform) {
    yes = spread(yes);
    no = spread(no);
  }
  return {text_.define("select {} {}, {} {}, {} {}", type_of(condition), condition.text,
                       type_of(yes), yes.text, type_of(no), no.text),
          yes.width, uniform && condition.uniform};
}

// Notes a mistake if a value, which is a scalar, and so much more is beyond what its bits can hold.
void IrDomain::must_not_wrap(const Value &a, std::int64_t more, bool is_signed) {
  const std::string scalar = type_of(a);
  const bool goes_down = !is_signed && more < 0;
  const std::string function = fmt::format("@llvm.{}{}.with.overflow.{}", is_signed ? "s" : "u",
                                           goes_down ? "sub" : "add", scalar);
  text_.declarations.insert(fmt::format("declare {{{0}, i1}} {1}({0}, {0})\n", scalar, function));
  const std::string sum = text_.define("call {{{0}, i1}} {1}({0} {2}, {0} {3})", scalar, function,
                                       a.text, goes_down ? -more : more);
  const Value wraps{text_.define("extractvalue {{{}, i1}} {}, 1", scalar, sum), 1};
  mistake_ = mistake_.width == 0 ? wraps : bit_or(mistake_, wraps);
}

IrValue IrDomain::resized(std::string_view what, Value a, unsigned width) {
  if (a.width == width)
    return a;
  // A constant stays one: multiples by it have steps.
  if (a.constant && a.width > 1 && a.width <= 64 && width > 1 && width <= 64) {
    const auto bits = static_cast<std::uint64_t>(std::stoll(a.text));
    return constant(width, {what == "sext" ? bits : bits & mask64(a.width)});
  }
  if (a.has_steps()) {
    const std::string scalar = type_of(a);
    if (what == "trunc")
      return stepping(text_.define("trunc {} {} to i{}", scalar, a.text, width), width, a.steps);
    constexpr std::int64_t most = std::int64_t{1} << 24;
    const auto is_small = [](std::int64_t step) { return step <= most && step >= -most; };
    const std::int64_t limit = std::int64_t{1} << (std::min(a.width, 63u) - 1);
    if (width > 64 || a.width > 32 || !is_small(a.steps.lane) || !is_small(a.steps.row))
      return resized(what, spread(a), width);
    const auto [least, greatest] = range(a);
    if (greatest >= limit || least <= -limit)
      return resized(what, spread(a), width);
    // Nothing leaves the range if neither the least nor the greatest does.
    for (const std::int64_t extreme : {least, greatest})
      if (extreme != 0)
        must_not_wrap(a, extreme, what == "sext");
    return stepping(text_.define("{} {} {} to i{}", what, scalar, a.text, width), width, a.steps);
  }
  return {text_.define("{} {} {} to {}", what, type_of(a), a.text, type_of(width, a.uniform)),
          width, a.uniform};
}

IrValue IrDomain::extract(Value a, unsigned low, unsigned width) {
  if (low != 0)
    a = binary("lshr", a, constant(a.width, {low}));
  return trunc(a, width);
}

IrValue IrDomain::concat(const Value &high, const Value &low) {
  const unsigned width = high.width + low.width;
  return bit_or(binary("shl", zext(high, width), constant(width, {low.width})), zext(low, width));
}

IrValue IrDomain::refuse(unsigned width) {
  refused_ = true;
  return constant(width, {});
}

} // namespace ptxasw::emulator
