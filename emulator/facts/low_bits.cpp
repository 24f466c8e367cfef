// a = va modulo 2^ma and b = vb modulo 2^mb: the sum is known modulo 2^min(ma, mb). In the product
// (va + 2^ma x) (vb + 2^mb y) the unknown parts are multiples of 2^(ma + zeros of vb),
// 2^(mb + zeros of va) and 2^(ma + mb), zeros being counted from below, at most as many as are
// known.

#include "emulator/facts/low_bits.h"

#include <algorithm>
#include <bit>

namespace ptxasw::facts {
namespace {

constexpr unsigned most_bits = 64;

LowBits cut(std::uint64_t value, unsigned count) {
  count = std::min(count, most_bits);
  return {count == most_bits ? value : value & ((std::uint64_t{1} << count) - 1), count};
}

unsigned zeros(const LowBits &bits) {
  return std::min(bits.count, static_cast<unsigned>(std::countr_zero(bits.value)));
}

LowBits sum(const LowBits &a, const LowBits &b) {
  return cut(a.value + b.value, std::min(a.count, b.count));
}

LowBits product(const LowBits &a, const LowBits &b) {
  return cut(a.value * b.value, std::min(a.count + zeros(b), b.count + zeros(a)));
}

} // namespace

LowBits LowBitsOf::operator()(Expr expr) {
  if (const auto found = memo_.find(expr->id); found != memo_.end())
    return found->second;
  LowBits result = compute(expr);
  if (result.count < expr->trailing_zeros)
    result = {0, std::min<unsigned>(expr->trailing_zeros, most_bits)};
  result = cut(result.value, std::min<unsigned>(result.count, expr->width));
  memo_.emplace(expr->id, result);
  return result;
}

LowBits LowBitsOf::compute(Expr expr) {
  switch (expr->kind) {
  case ExprKind::constant:
    return cut(expr->value.low, most_bits);
  case ExprKind::symbol:
    return symbol_(expr);
  case ExprKind::sum: {
    LowBits result = cut(expr->value.low, most_bits);
    for (std::uint32_t i = 0; i < expr->child_count; ++i)
      result =
          sum(result, product(cut(expr->coefficients[i], most_bits), (*this)(expr->children[i])));
    return result;
  }
  case ExprKind::product: {
    LowBits result = cut(1, most_bits);
    for (const Expr factor : expr->operands())
      result = product(result, (*this)(factor));
    return result;
  }
  case ExprKind::zext:
  case ExprKind::sext:
    return (*this)(expr->children[0]);
  case ExprKind::extract:
    return expr->index == 0 ? (*this)(expr->children[0]) : LowBits{};
  case ExprKind::concat:
    return (*this)(expr->children[1]);
  default:
    return {};
  }
}

} // namespace ptxasw::facts
