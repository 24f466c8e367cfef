#pragma once

#include "emulator/symbolic/evaluation.h"
#include "emulator/symbolic/expr.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptxasw::emulator_test {

/// Numbers that look random and are the same on every machine (splitmix64).
class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  bool one_in(unsigned n) { return below(n) == 0; }
  template <class List> const auto &pick(const List &list) { return list[below(std::size(list))]; }
  /// A pattern of that width, usually one for which something overflows or is empty.
  Bits bits(unsigned width);

private:
  std::uint64_t state_;
};

/// A whole number from the environment, for longer runs than the usual one.
std::uint64_t from_environment(const char *name, std::uint64_t usual);

/// Distinct nodes of an expression.
std::size_t size_of(Expr expr);
std::string to_text(Bits bits);

} // namespace ptxasw::emulator_test
