// Building expressions in a normal form, so that most equalities are equality of pointers.
//
// Arithmetic is kept as a sum of products modulo 2^w: coefficients collected, products sorted and
// multiplied out as long as they stay short, shifts by constants and `or` without common bits
// turned into it. Sums and products modulo 2^w form a commutative ring, so for what is built from
// +, -, and * alone the form is canonical as long as nothing stayed factored. Everything else is an
// atom: extensions (`sext(e + 1)` is not `sext(e) + 1`), divisions, shifts by registers,
// comparisons, bit operations. For atoms only local rules hold: constants fold, truncations go
// inside rings, a mask of low bits is a truncation, an order of non-negative numbers is the
// unsigned one, `ite` takes the positive condition. Not normalised: de Morgan's laws, comparisons
// of sums with each other, divisions of products, anything beyond 64 bits except addition.
// Equalities hidden there go to ranges (path.cpp) and to Z3 (solver.cpp).
//
// A node is made once (expr_nodes.cpp). Ids count up in order of creation and decide the order of
// sums; no address and no seed does.

#include "emulator/symbolic/expr.h"

#include <algorithm>
#include <bit>

namespace ptxasw::emulator {
namespace {

/// Products are multiplied out up to this many terms; beyond it they stay factored.
constexpr std::size_t distribution_limit = 32;

bool is_constant(Expr a) { return a->kind == ExprKind::constant; }
unsigned zeros(std::uint64_t value) { return static_cast<unsigned>(std::countr_zero(value)); }

/// The most that the terms of a sum which are not multiples of 2^low can add up to, with the bits
/// of its constant below that; all ones if it may be more than the width holds.
std::uint64_t most_below(Expr sum, unsigned low) {
  std::uint64_t total = sum->value.low & mask64(low), most = 0;
  for (std::uint32_t i = 0; i < sum->child_count; ++i)
    if (zeros(sum->coefficients[i]) < low &&
        (__builtin_mul_overflow(sum->coefficients[i], sum->children[i]->maximum, &most) ||
         __builtin_add_overflow(total, most, &total)))
      return ~std::uint64_t{0};
  return total;
}

bool is_constant(Expr a, std::uint64_t value) { return is_constant(a) && a->value == Bits{value}; }

} // namespace

std::vector<ExprPool::Term> ExprPool::terms(Expr a) {
  std::vector<Term> result;
  if (a->kind == ExprKind::sum)
    for (std::uint32_t i = 0; i < a->child_count; ++i)
      result.push_back({a->children[i], a->coefficients[i]});
  else if (!is_constant(a))
    result.push_back({a, 1});
  return result;
}

Expr ExprPool::sum(unsigned width, std::uint64_t constant_part, std::vector<Term> list) {
  std::sort(list.begin(), list.end(),
            [](const Term &a, const Term &b) { return a.atom->id < b.atom->id; });
  std::vector<Expr> atoms;
  std::vector<std::uint64_t> coefficients;
  for (const Term &term : list) {
    if (!atoms.empty() && atoms.back() == term.atom) {
      coefficients.back() = (coefficients.back() + term.coefficient) & mask64(width);
    } else {
      if (!coefficients.empty() && coefficients.back() == 0) {
        coefficients.pop_back();
        atoms.pop_back();
      }
      atoms.push_back(term.atom);
      coefficients.push_back(term.coefficient & mask64(width));
    }
  }
  if (!coefficients.empty() && coefficients.back() == 0) {
    coefficients.pop_back();
    atoms.pop_back();
  }
  constant_part &= mask64(width);
  if (atoms.empty())
    return constant(width, constant_part);
  if (atoms.size() == 1 && coefficients[0] == 1 && constant_part == 0)
    return atoms[0];
  ExprNode node{};
  node.kind = ExprKind::sum;
  node.width = static_cast<std::uint8_t>(width);
  node.value = constant_part;
  return intern(node, atoms, coefficients);
}

Expr ExprPool::add(Expr a, Expr b) {
  if (is_constant(a) && is_constant(b))
    return constant(a->width, bits::add(a->value, b->value, a->width));
  if (a->width > 64) {
    if (is_constant(a, 0))
      return b;
    if (is_constant(b, 0))
      return a;
    return a->id < b->id ? binary(ExprKind::add2, a->width, a, b)
                         : binary(ExprKind::add2, a->width, b, a);
  }
  std::vector<Term> list = terms(a);
  const std::vector<Term> more = terms(b);
  list.insert(list.end(), more.begin(), more.end());
  const auto constant_of = [](Expr e) {
    return e->kind == ExprKind::sum || is_constant(e) ? e->value.low : 0;
  };
  return sum(a->width, constant_of(a) + constant_of(b), std::move(list));
}

// The parts of a sum: what is a multiple of 2^low, term by term, and the rest.
std::pair<Expr, Expr> ExprPool::split(Expr a, unsigned low) {
  std::vector<Term> above, below;
  for (const Term &term : terms(a))
    (zeros(term.coefficient) >= low ? above : below).push_back(term);
  const std::uint64_t rest = a->value.low & mask64(low);
  return {sum(a->width, a->value.low - rest, std::move(above)),
          sum(a->width, rest, std::move(below))};
}

Expr ExprPool::scale(Expr a, std::uint64_t factor) {
  std::vector<Term> list = terms(a);
  for (Term &term : list)
    term.coefficient *= factor;
  const std::uint64_t constant_part = a->kind == ExprKind::sum || is_constant(a) ? a->value.low : 0;
  return sum(a->width, constant_part * factor, std::move(list));
}

Expr ExprPool::neg(Expr a) {
  if (a->width > 64)
    return add(bit_not(a), constant(a->width, 1));
  return scale(a, ~std::uint64_t{0});
}

Expr ExprPool::sub(Expr a, Expr b) { return add(a, neg(b)); }

// The product of two atoms or products: the sorted list of all factors.
Expr ExprPool::monomial(Expr a, Expr b) {
  std::vector<Expr> factors;
  for (const Expr part : {a, b}) {
    if (part->kind == ExprKind::product)
      factors.insert(factors.end(), part->children, part->children + part->child_count);
    else
      factors.push_back(part);
  }
  std::sort(factors.begin(), factors.end(), [](Expr x, Expr y) { return x->id < y->id; });
  ExprNode node{};
  node.kind = ExprKind::product;
  node.width = a->width;
  return intern(node, factors);
}

Expr ExprPool::mul(Expr a, Expr b) {
  if (is_constant(a) && is_constant(b))
    return constant(a->width, bits::mul(a->value, b->value, a->width));
  if (is_constant(b))
    std::swap(a, b);
  if (is_constant(a)) {
    if (a->value.is_zero())
      return a;
    if (is_constant(a, 1))
      return b;
    if (a->width <= 64)
      return scale(b, a->value.low);
  }
  if (a->width > 64 || a->width == 1)
    return a->width == 1 ? bit_and(a, b) : monomial(a, b);
  const auto size = [](Expr e) {
    return e->kind == ExprKind::sum ? e->child_count + (e->value.is_zero() ? 0 : 1) : 1u;
  };
  if (std::size_t{size(a)} * size(b) > distribution_limit)
    return monomial(a, b);
  const std::vector<Term> left = terms(a), right = terms(b);
  const std::uint64_t left_constant = a->kind == ExprKind::sum ? a->value.low : 0;
  const std::uint64_t right_constant = b->kind == ExprKind::sum ? b->value.low : 0;
  std::vector<Term> list;
  for (const Term &x : left) {
    for (const Term &y : right)
      list.push_back({monomial(x.atom, y.atom), x.coefficient * y.coefficient});
    list.push_back({x.atom, x.coefficient * right_constant});
  }
  for (const Term &y : right)
    list.push_back({y.atom, y.coefficient * left_constant});
  return sum(a->width, left_constant * right_constant, std::move(list));
}

Expr ExprPool::bit_not(Expr a) {
  if (a->width > 64)
    return bit_xor(a, constant(a->width, bits::sub({}, {1}, a->width)));
  return sub(constant(a->width, mask64(a->width)), a); // -1 - a
}

Expr ExprPool::bit_and(Expr a, Expr b) {
  if (is_constant(a) && is_constant(b))
    return constant(a->width, {a->value.low & b->value.low, a->value.high & b->value.high});
  if (a == b)
    return a;
  if (is_constant(a))
    std::swap(a, b);
  const unsigned width = a->width;
  if (is_constant(b) && width <= 64) {
    const std::uint64_t mask = b->value.low;
    if (mask == 0)
      return b;
    if (mask == mask64(width))
      return a;
    // Of a sum only what reaches the mask counts.
    if (a->kind == ExprKind::sum)
      if (const Expr below = split(a, static_cast<unsigned>(std::bit_width(mask))).second;
          below != a)
        return bit_and(below, b);
    // A mask of low bits is a truncation, its complement what is left.
    if ((mask & (mask + 1)) == 0)
      return zext(truncate(a, static_cast<unsigned>(std::popcount(mask))), width);
    const std::uint64_t rest = ~mask & mask64(width);
    if ((rest & (rest + 1)) == 0)
      return sub(a, zext(truncate(a, static_cast<unsigned>(std::popcount(rest))), width));
  }
  if (width == 1 && (is_constant(add(a, b)))) // p and not p
    return constant(1, 0);
  return a->id < b->id ? binary(ExprKind::bit_and, width, a, b)
                       : binary(ExprKind::bit_and, width, b, a);
}

Expr ExprPool::bit_or(Expr a, Expr b) {
  if (is_constant(a) && is_constant(b))
    return constant(a->width, {a->value.low | b->value.low, a->value.high | b->value.high});
  if (a == b)
    return a;
  if (is_constant(a, 0))
    return b;
  if (is_constant(b, 0))
    return a;
  const unsigned width = a->width;
  if (width == 1)
    return bit_not(bit_and(bit_not(a), bit_not(b)));
  if (width <= 64) {
    if (is_constant(a, mask64(width)))
      return a;
    if (is_constant(b, mask64(width)))
      return b;
    if (is_constant(a))
      std::swap(a, b);
    if (is_constant(b) && a->kind == ExprKind::sum)
      if (const auto [above, below] = split(a, static_cast<unsigned>(std::bit_width(b->value.low)));
          below != a)
        return add(above, bit_or(below, b));
    // Without common bits it is an addition.
    if ((a->maximum >> std::min<unsigned>(b->trailing_zeros, 63)) == 0 ||
        (b->maximum >> std::min<unsigned>(a->trailing_zeros, 63)) == 0)
      return add(a, b);
  }
  return a->id < b->id ? binary(ExprKind::bit_or, width, a, b)
                       : binary(ExprKind::bit_or, width, b, a);
}

Expr ExprPool::bit_xor(Expr a, Expr b) {
  if (is_constant(a) && is_constant(b))
    return constant(a->width, {a->value.low ^ b->value.low, a->value.high ^ b->value.high});
  const unsigned width = a->width;
  if (a == b)
    return constant(width, 0);
  if (width == 1)
    return add(a, b);
  if (is_constant(a))
    std::swap(a, b);
  if (is_constant(b, 0))
    return a;
  if (width <= 64 && is_constant(b)) {
    if (b->value.low == mask64(width))
      return bit_not(a);
    if (a->kind == ExprKind::sum)
      if (const auto [above, below] = split(a, static_cast<unsigned>(std::bit_width(b->value.low)));
          below != a)
        return add(above, bit_xor(below, b));
    // Known bits become others: a difference.
    const Expr low = truncate(a, static_cast<unsigned>(std::bit_width(b->value.low)));
    if (is_constant(low))
      return add(a, constant(width, (low->value.low ^ b->value.low) - low->value.low));
  }
  return a->id < b->id ? binary(ExprKind::bit_xor, width, a, b)
                       : binary(ExprKind::bit_xor, width, b, a);
}

Expr ExprPool::shl(Expr a, Expr amount) {
  const unsigned width = a->width;
  if (is_constant(amount)) {
    if (amount->value.high || amount->value.low >= width)
      return constant(width, 0);
    return mul(a, constant(width, bits::shl({1}, amount->value, width)));
  }
  if (is_constant(a, 0))
    return a;
  return binary(ExprKind::shl, width, a, amount);
}

Expr ExprPool::lshr(Expr a, Expr amount) {
  const unsigned width = a->width;
  if (is_constant(amount)) {
    if (amount->value.high || amount->value.low >= width)
      return constant(width, 0);
    const auto by = static_cast<unsigned>(amount->value.low);
    return by == 0 ? a : zext(extract(a, by, width - by), width);
  }
  if (is_constant(a, 0))
    return a;
  return binary(ExprKind::lshr, width, a, amount);
}

Expr ExprPool::ashr(Expr a, Expr amount) {
  const unsigned width = a->width;
  if (is_constant(amount)) {
    const bool out = amount->value.high || amount->value.low >= width;
    const unsigned by = out ? width - 1 : static_cast<unsigned>(amount->value.low);
    return by == 0 ? a : sext(extract(a, by, width - by), width);
  }
  if (is_constant(a, 0))
    return a;
  return binary(ExprKind::ashr, width, a, amount);
}

// Division by zero is unspecified in PTX: never folded, and no rule below applies to it.
Expr ExprPool::udiv(Expr a, Expr b) {
  if (is_constant(b) && !b->value.is_zero()) {
    if (is_constant(a))
      return constant(a->width, bits::udiv(a->value, b->value, a->width));
    if (b->value.high == 0 && std::has_single_bit(b->value.low))
      return lshr(a, constant(a->width, std::countr_zero(b->value.low)));
  }
  return binary(ExprKind::udiv, a->width, a, b);
}

Expr ExprPool::urem(Expr a, Expr b) {
  if (is_constant(b) && !b->value.is_zero()) {
    if (is_constant(a))
      return constant(a->width, bits::urem(a->value, b->value, a->width));
    if (b->value.high == 0 && std::has_single_bit(b->value.low) && a->width <= 64)
      return bit_and(a, constant(a->width, b->value.low - 1));
  }
  return binary(ExprKind::urem, a->width, a, b);
}

Expr ExprPool::sdiv(Expr a, Expr b) {
  if (is_constant(a) && is_constant(b) && !b->value.is_zero())
    return constant(a->width, bits::sdiv(a->value, b->value, a->width));
  return binary(ExprKind::sdiv, a->width, a, b);
}

Expr ExprPool::srem(Expr a, Expr b) {
  if (is_constant(a) && is_constant(b) && !b->value.is_zero())
    return constant(a->width, bits::srem(a->value, b->value, a->width));
  return binary(ExprKind::srem, a->width, a, b);
}

Expr ExprPool::eq(Expr a, Expr b) {
  if (a == b)
    return constant(1, 1);
  if (a->width == 1)
    return bit_not(bit_xor(a, b));
  if (a->width > 64) {
    if (is_constant(a) && is_constant(b))
      return constant(1, 0);
    return unary(ExprKind::eq0, 1, bit_xor(a, b));
  }
  Expr difference = sub(a, b);
  if (is_constant(difference))
    return constant(1, difference->value.is_zero());
  // a - b and b - a mean the same; the one created first stands for both.
  if (const Expr other = neg(difference); other->id < difference->id)
    difference = other;
  return unary(ExprKind::eq0, 1, difference);
}

Expr ExprPool::ult(Expr a, Expr b) {
  if (a == b || is_constant(b, 0))
    return constant(1, 0);
  if (is_constant(a) && is_constant(b))
    return constant(1, bits::ult(a->value, b->value));
  if (is_constant(b) && b->value.high == 0 && a->maximum < b->value.low)
    return constant(1, 1);
  if (is_constant(a) && a->value.high == 0 && a->width <= 64 && b->maximum <= a->value.low)
    return constant(1, 0);
  return binary(ExprKind::ult, 1, a, b);
}

Expr ExprPool::slt(Expr a, Expr b) {
  if (a == b)
    return constant(1, 0);
  if (is_constant(a) && is_constant(b))
    return constant(1, bits::slt(a->value, b->value, a->width));
  if (a->width <= 64) {
    // Of two numbers without sign bit the order is the unsigned one.
    const std::uint64_t positive = mask64(a->width) / 2;
    if (a->maximum <= positive && b->maximum <= positive)
      return ult(a, b);
    if (a->maximum <= positive && is_constant(b)) // b is negative
      return constant(1, 0);
    if (b->maximum <= positive && is_constant(a))
      return constant(1, 1);
  }
  return binary(ExprKind::slt, 1, a, b);
}

Expr ExprPool::ite(Expr condition, Expr yes, Expr no) {
  if (is_constant(condition))
    return condition->value.is_zero() ? no : yes;
  if (yes == no)
    return yes;
  // The condition that is not a negation.
  if (condition->kind == ExprKind::sum && condition->value.low == 1) {
    condition = bit_not(condition);
    std::swap(yes, no);
  }
  if (yes->width == 1 && is_constant(yes) && is_constant(no))
    return yes->value.is_zero() ? bit_not(condition) : condition;
  ExprNode node{};
  node.kind = ExprKind::ite;
  node.width = yes->width;
  const Expr children[] = {condition, yes, no};
  return intern(node, children);
}

Expr ExprPool::zext(Expr a, unsigned width) {
  if (width == a->width)
    return a;
  if (is_constant(a))
    return constant(width, a->value);
  if (a->kind == ExprKind::zext)
    return zext(a->children[0], width);
  // Nothing was cut off.
  if (a->kind == ExprKind::extract && a->index == 0 && a->children[0]->width == width &&
      width <= 64 && a->children[0]->maximum <= mask64(a->width))
    return a->children[0];
  return unary(ExprKind::zext, width, a);
}

Expr ExprPool::sext(Expr a, unsigned width) {
  if (width == a->width)
    return a;
  if (is_constant(a))
    return constant(width, bits::sext(a->value, a->width, width));
  if (a->kind == ExprKind::sext)
    return sext(a->children[0], width);
  if (a->width <= 64 && a->maximum <= mask64(a->width) / 2)
    return zext(a, width);
  return unary(ExprKind::sext, width, a);
}

// The lowest bits: truncation goes through sums, products and extensions, since all of these are
// computed modulo a power of two.
Expr ExprPool::low_bits(Expr a, unsigned width) {
  const std::uint64_t key = std::uint64_t{a->id} << 8 | width;
  if (const auto found = low_bits_.find(key); found != low_bits_.end())
    return found->second;
  Expr result = nullptr;
  switch (a->kind) {
  case ExprKind::sum: {
    std::vector<Term> list;
    std::uint64_t constant_part = a->value.low;
    for (std::uint32_t i = 0; i < a->child_count; ++i) {
      const Expr part = extract(a->children[i], 0, width);
      for (const Term &term : terms(part))
        list.push_back({term.atom, term.coefficient * a->coefficients[i]});
      if (part->kind == ExprKind::sum || is_constant(part))
        constant_part += part->value.low * a->coefficients[i];
    }
    result = sum(width, constant_part, std::move(list));
    break;
  }
  case ExprKind::product:
    if (width <= 64 && width > 1) {
      result = extract(a->children[0], 0, width);
      for (std::uint32_t i = 1; i < a->child_count; ++i)
        result = mul(result, extract(a->children[i], 0, width));
    }
    break;
  case ExprKind::zext:
  case ExprKind::sext: {
    const Expr inner = a->children[0];
    if (width <= inner->width)
      result = extract(inner, 0, width);
    else
      result = a->kind == ExprKind::zext ? zext(inner, width) : sext(inner, width);
    break;
  }
  case ExprKind::concat:
    if (width <= a->children[1]->width)
      result = extract(a->children[1], 0, width);
    break;
  case ExprKind::extract:
    result = extract(a->children[0], a->index, width);
    break;
  case ExprKind::add2:
    if (width <= 64)
      result = add(extract(a->children[0], 0, width), extract(a->children[1], 0, width));
    break;
  default:
    break;
  }
  if (!result)
    result = unary(ExprKind::extract, width, a, 0);
  low_bits_.emplace(key, result);
  return result;
}

Expr ExprPool::extract(Expr a, unsigned low, unsigned width) {
  if (low == 0 && width == a->width)
    return a;
  if (is_constant(a))
    return constant(width, bits::extract(a->value, low, width));
  if (low == 0)
    return low_bits(a, width);
  switch (a->kind) {
  case ExprKind::extract:
    return extract(a->children[0], a->index + low, width);
  case ExprKind::zext: {
    const Expr inner = a->children[0];
    if (low >= inner->width)
      return constant(width, 0);
    const unsigned have = std::min(width, inner->width - low);
    return zext(extract(inner, low, have), width);
  }
  case ExprKind::sext: {
    const Expr inner = a->children[0];
    if (low + width <= inner->width)
      return extract(inner, low, width);
    if (low < inner->width)
      return sext(extract(inner, low, inner->width - low), width);
    return sext(extract(inner, inner->width - 1, 1), width);
  }
  case ExprKind::concat: {
    const Expr high = a->children[0], below = a->children[1];
    if (low >= below->width)
      return extract(high, low - below->width, width);
    if (low + width <= below->width)
      return extract(below, low, width);
    break;
  }
  case ExprKind::sum: {
    // What is a multiple of 2^low, term by term, is shifted by itself, and the rest is: nothing
    // carries out of the bits below `low` of the one. Not where the rest may be anything.
    const std::uint64_t all = mask64(a->width);
    const bool any_above = std::any_of(a->coefficients, a->coefficients + a->child_count,
                                       [&](std::uint64_t c) { return zeros(c) >= low; });
    if (any_above && most_below(a, low) < all) {
      const auto [above, below] = split(a, low);
      std::vector<Term> list = terms(above);
      for (Term &term : list)
        term.coefficient >>= low;
      const std::uint64_t constant_part = (a->value.low & ~mask64(low)) >> low;
      const unsigned left = a->width - low;
      const Expr shifted = truncate(sum(a->width, constant_part, std::move(list)), left);
      return truncate(add(shifted, extract(below, low, left)), width);
    }
    // What is less than 2^k does not reach beyond, where the rest is a multiple of 2^k.
    for (std::uint32_t i = 0; i < a->child_count; ++i)
      if (const unsigned k = zeros(a->coefficients[i]);
          k > 0 && k < low && (most_below(a, k) >> k) == 0)
        return extract(extract(split(a, k).first, k, a->width - k), low - k, width);
    break;
  }
  default:
    break;
  }
  if (a->width <= 64 && (a->maximum >> low) == 0)
    return constant(width, 0);
  return unary(ExprKind::extract, width, a, low);
}

Expr ExprPool::concat(Expr high, Expr low) {
  const unsigned width = high->width + low->width;
  if (is_constant(high) && is_constant(low))
    return constant(width, bits::concat(high->value, low->value, low->width));
  if (is_constant(high, 0))
    return zext(low, width);
  // Two neighbouring pieces of one value.
  if (high->kind == ExprKind::extract && low->kind == ExprKind::extract &&
      high->children[0] == low->children[0] && high->index == low->index + low->width)
    return extract(high->children[0], low->index, width);
  if (high->kind == ExprKind::extract && high->children[0]->width == width &&
      high->index == low->width && truncate(high->children[0], low->width) == low)
    return high->children[0];
  return binary(ExprKind::concat, width, high, low);
}

Expr ExprPool::uninterpreted(std::string_view name, unsigned width,
                             std::span<const Expr> arguments) {
  const auto [entry, is_new] =
      name_ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new)
    names_.emplace_back(name);
  ExprNode node{};
  node.kind = ExprKind::uf;
  node.width = static_cast<std::uint8_t>(width);
  node.index = entry->second;
  return intern(node, arguments);
}

Expr ExprPool::generic_address(std::string_view opcode, Expr address) {
  if (opcode.find("global") != std::string_view::npos)
    return address;
  const Expr arguments[] = {address};
  return uninterpreted(opcode, address->width, arguments);
}

Expr ExprPool::rebuild(Expr node, std::span<const Expr> c) {
  switch (node->kind) {
  case ExprKind::constant:
  case ExprKind::symbol:
    return node;
  case ExprKind::sum: {
    Expr result = constant(node->width, node->value);
    for (std::size_t i = 0; i < c.size(); ++i)
      result = add(result, scale(c[i], node->coefficients[i]));
    return result;
  }
  case ExprKind::product: {
    Expr result = c[0];
    for (const Expr factor : c.subspan(1))
      result = mul(result, factor);
    return result;
  }
  case ExprKind::zext:
    return zext(c[0], node->width);
  case ExprKind::sext:
    return sext(c[0], node->width);
  case ExprKind::extract:
    return extract(c[0], node->index, node->width);
  case ExprKind::concat:
    return concat(c[0], c[1]);
  case ExprKind::bit_and:
    return bit_and(c[0], c[1]);
  case ExprKind::bit_or:
    return bit_or(c[0], c[1]);
  case ExprKind::bit_xor:
    return bit_xor(c[0], c[1]);
  case ExprKind::shl:
    return shl(c[0], c[1]);
  case ExprKind::lshr:
    return lshr(c[0], c[1]);
  case ExprKind::ashr:
    return ashr(c[0], c[1]);
  case ExprKind::udiv:
    return udiv(c[0], c[1]);
  case ExprKind::urem:
    return urem(c[0], c[1]);
  case ExprKind::sdiv:
    return sdiv(c[0], c[1]);
  case ExprKind::srem:
    return srem(c[0], c[1]);
  case ExprKind::eq0:
    return eq(c[0], constant(c[0]->width, 0));
  case ExprKind::ult:
    return ult(c[0], c[1]);
  case ExprKind::slt:
    return slt(c[0], c[1]);
  case ExprKind::ite:
    return ite(c[0], c[1], c[2]);
  case ExprKind::uf:
    return uninterpreted(names_[node->index], node->width, c);
  case ExprKind::add2:
    return add(c[0], c[1]);
  }
  return node;
}

Expr Substitution::operator()(Expr root) {
  // By hand rather than by recursion: expressions may be deep.
  std::vector<Expr> work{root};
  std::vector<Expr> children;
  while (!work.empty()) {
    const Expr node = work.back();
    if (memo_.contains(node->id)) {
      work.pop_back();
      continue;
    }
    children.clear();
    bool ready = true, changed = false;
    for (const Expr child : node->operands()) {
      const auto found = memo_.find(child->id);
      if (found == memo_.end() && child->child_count == 0) {
        children.push_back(child);
      } else if (found == memo_.end()) {
        work.push_back(child);
        ready = false;
      } else {
        children.push_back(found->second);
        changed |= found->second != child;
      }
    }
    if (!ready)
      continue;
    work.pop_back();
    memo_.emplace(node->id, changed ? pool_.rebuild(node, children) : node);
  }
  return memo_.at(root->id);
}

} // namespace ptxasw::emulator
