#pragma once

// Which low bits of an expression are known: what an address is a multiple of, and beside what.
//   LowBitsOf(symbol)(address).known(2) // whether it is a multiple of 4 can be told

#include "emulator/symbolic/expr.h"

#include <cstdint>
#include <functional>
#include <unordered_map>

namespace ptxasw::facts {

/// The lowest `count` bits of an expression, up to 64, are those of `value`; the bits of `value`
/// above them are zero.
struct LowBits {
  std::uint64_t value = 0;
  unsigned count = 0;
  /// Returns true if the lowest `bits` bits are known.
  bool known(unsigned bits) const { return count >= bits; }
};

/// What is known of the low bits of expressions, given what is known of symbols: sums, products and
/// extensions keep them, since carries only go up.
class LowBitsOf {
public:
  /// `symbol`: what is known of an expression of kind symbol.
  explicit LowBitsOf(std::function<LowBits(Expr)> symbol) : symbol_(std::move(symbol)) {}
  LowBits operator()(Expr expr);

private:
  LowBits compute(Expr expr);

  std::function<LowBits(Expr)> symbol_;
  std::unordered_map<std::uint32_t, LowBits> memo_;
};

} // namespace ptxasw::facts
