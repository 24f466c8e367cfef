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
    return ptxasw::truncate({below(140)}, width);
  default:
    return ptxasw::truncate({next(), next()}, width);
  }
}

std::uint64_t from_environment(const char *name, std::uint64_t usual) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : usual;
}

Bits Evaluator::operator()(Expr root) {
  std::vector<Expr> work{root};
  while (!work.empty()) {
    const Expr expr = work.back();
    bool ready = true;
    for (const Expr child : expr->operands())
      if (!memo_.contains(child)) {
        work.push_back(child);
        ready = false;
      }
    if (!ready)
      continue;
    work.pop_back();
    memo_.emplace(expr, node(expr));
  }
  return memo_.at(root);
}

// Straight from the names of SMT-LIB, on numbers that bits_test.cpp checks.
Bits Evaluator::node(Expr e) {
  const unsigned width = e->width;
  const auto child = [&](std::size_t i) { return memo_.at(e->children[i]); };
  const auto child_width = [&](std::size_t i) { return unsigned{e->children[i]->width}; };
  switch (e->kind) {
  case ExprKind::constant:
    return e->value;
  case ExprKind::symbol:
    return symbols_.at(e->index);
  case ExprKind::sum: {
    Bits total = e->value;
    for (std::uint32_t i = 0; i < e->child_count; ++i)
      total = bits::add(total, bits::mul({e->coefficients[i]}, child(i), width), width);
    return total;
  }
  case ExprKind::product: {
    Bits total{1};
    for (std::uint32_t i = 0; i < e->child_count; ++i)
      total = bits::mul(total, child(i), width);
    return total;
  }
  case ExprKind::zext:
    return child(0);
  case ExprKind::sext:
    return bits::sext(child(0), child_width(0), width);
  case ExprKind::extract:
    return bits::extract(child(0), e->index, width);
  case ExprKind::concat:
    return bits::concat(child(0), child(1), child_width(1));
  case ExprKind::bit_and:
    return {child(0).low & child(1).low, child(0).high & child(1).high};
  case ExprKind::bit_or:
    return {child(0).low | child(1).low, child(0).high | child(1).high};
  case ExprKind::bit_xor:
    return {child(0).low ^ child(1).low, child(0).high ^ child(1).high};
  case ExprKind::shl:
    return bits::shl(child(0), child(1), width);
  case ExprKind::lshr:
    return bits::lshr(child(0), child(1), width);
  case ExprKind::ashr:
    return bits::ashr(child(0), child(1), width);
  case ExprKind::udiv:
    return bits::udiv(child(0), child(1), width);
  case ExprKind::urem:
    return bits::urem(child(0), child(1), width);
  case ExprKind::sdiv:
    return bits::sdiv(child(0), child(1), width);
  case ExprKind::srem:
    return bits::srem(child(0), child(1), width);
  case ExprKind::eq0:
    return {child(0).is_zero()};
  case ExprKind::ult:
    return {bits::ult(child(0), child(1))};
  case ExprKind::slt:
    return {bits::slt(child(0), child(1), child_width(0))};
  case ExprKind::ite:
    return child(0).is_zero() ? child(2) : child(1);
  case ExprKind::uf: {
    Random random(e->index);
    for (std::uint32_t i = 0; i < e->child_count; ++i)
      random = Random(random.next() ^ child(i).low ^ child(i).high * 3);
    return ptxasw::truncate({random.next(), random.next()}, width);
  }
  case ExprKind::add2:
    return bits::add(child(0), child(1), width);
  }
  return {};
}

std::size_t size_of(Expr expr) {
  std::size_t count = 0;
  for_each_node(expr, [&](Expr) { ++count; });
  return count;
}

std::string to_text(Bits bits) { return fmt::format("0x{:x}'{:016x}", bits.high, bits.low); }

} // namespace ptxasw::emulator_test
