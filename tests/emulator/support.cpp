#include "support.h"

#include <fmt/core.h>

#include <cstdlib>

namespace ptxasw::emulator_test {

std::uint64_t Random::next() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

Bits Random::bits(unsigned width) {
  const Bits one = bits::shl({1}, {below(width)}, width);
  const Bits ones = bits::sub({}, {1}, width);
  switch (below(10)) {
  case 0:
    return {};
  case 1:
    return ones;
  case 2: // a power of two
    return one;
  case 3: // ones up to it
    return bits::sub(one, {1}, width);
  case 4: // ones from it on
    return bits::sub({}, one, width);
  case 5: // a neighbour of it
    return bits::add(one, {1}, width);
  case 6:
    return bits::sub({}, {below(40)}, width);
  case 7:
    return ptxasw::emulator::truncate({below(140)}, width);
  default:
    return ptxasw::emulator::truncate({next(), next()}, width);
  }
}

std::uint64_t from_environment(const char *name, std::uint64_t usual) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : usual;
}

std::size_t size_of(Expr expr) {
  std::size_t count = 0;
  for_each_node(expr, [&](Expr) { ++count; });
  return count;
}

std::string to_text(Bits bits) { return fmt::format("0x{:x}'{:016x}", bits.high, bits.low); }

} // namespace ptxasw::emulator_test
