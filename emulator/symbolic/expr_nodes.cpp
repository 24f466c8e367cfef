// The nodes of expressions: each is made once. The table of nodes is searched by kind, width,
// children and coefficients. Ids count up in order of creation; no address and no seed decides
// anything.

#include "emulator/symbolic/expr.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace ptxasw::emulator {
namespace {

constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

std::size_t combine(std::size_t seed, std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15;
  value ^= value >> 32;
  return (seed ^ value) * 0x100000001b3;
}

std::uint8_t known_zeros(std::uint64_t value, unsigned width) {
  return static_cast<std::uint8_t>(std::min<unsigned>(std::countr_zero(value), width));
}

std::uint32_t hash_of(const ExprNode *node) {
  std::size_t seed = combine(static_cast<std::size_t>(node->kind) * 131 + node->width, node->index);
  seed = combine(seed, node->value.low);
  seed = combine(seed, node->value.high);
  for (std::uint32_t i = 0; i < node->child_count; ++i) {
    seed = combine(seed, node->children[i]->id);
    if (node->coefficients)
      seed = combine(seed, node->coefficients[i]);
  }
  return static_cast<std::uint32_t>(seed ^ seed >> 32);
}

bool same(const ExprNode *a, const ExprNode *b) {
  if (a->kind != b->kind || a->width != b->width || a->index != b->index ||
      a->child_count != b->child_count || a->value != b->value)
    return false;
  if (!std::equal(a->children, a->children + a->child_count, b->children))
    return false;
  return !a->coefficients ||
         std::equal(a->coefficients, a->coefficients + a->child_count, b->coefficients);
}

} // namespace

ExprPool::ExprPool() : slots_(256) {}

void ExprPool::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot &slot : old)
    if (slot.node) {
      std::size_t at = slot.hash & mask;
      while (slots_[at].node)
        at = (at + 1) & mask;
      slots_[at] = slot;
    }
}

void *ExprPool::allocate(std::size_t bytes) {
  bytes = (bytes + 15) & ~std::size_t{15};
  if (chunk_used_ + bytes > chunk_size_) {
    // Small kernels stay small, large ones do not allocate often.
    chunk_size_ = std::max<std::size_t>(bytes, chunks_.empty() ? 16384 : 262144);
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk_size_));
    chunk_used_ = 0;
  }
  void *result = chunks_.back().get() + chunk_used_;
  chunk_used_ += bytes;
  return result;
}

Expr ExprPool::intern(ExprNode node, std::span<const Expr> children,
                      std::span<const std::uint64_t> coefficients) {
  node.child_count = static_cast<std::uint32_t>(children.size());
  node.children = children.data();
  node.coefficients = coefficients.empty() ? nullptr : coefficients.data();
  if (std::size_t{count_} * 2 >= slots_.size())
    grow();
  const std::uint32_t hash = hash_of(&node);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].node; at = (at + 1) & mask)
    if (slots_[at].hash == hash && same(slots_[at].node, &node))
      return slots_[at].node;
  if (!children.empty()) {
    auto *copy = static_cast<Expr *>(allocate(children.size_bytes()));
    std::copy(children.begin(), children.end(), copy);
    node.children = copy;
  }
  if (!coefficients.empty()) {
    auto *copy = static_cast<std::uint64_t *>(allocate(coefficients.size_bytes()));
    std::copy(coefficients.begin(), coefficients.end(), copy);
    node.coefficients = copy;
  }
  node.id = count_++;
  node.depth = 0;
  for (const Expr child : children)
    node.depth = std::max(node.depth, child->depth);
  if (!children.empty() && node.depth < std::numeric_limits<std::uint16_t>::max())
    ++node.depth;
  bound(node);
  auto *result = new (allocate(sizeof(ExprNode))) ExprNode(node);
  slots_[at] = {hash, result};
  return result;
}

// Trailing zeros and an upper bound, from the children's. Both may be weaker than the truth.
void ExprPool::bound(ExprNode &node) const {
  const auto child = [&](std::size_t i) { return node.children[i]; };
  const unsigned width = node.width;
  const std::uint64_t all = width > 64 ? unbounded : mask64(width);
  if (node.kind == ExprKind::symbol) {
    node.maximum = std::min(node.maximum, all);
    node.trailing_zeros = 0;
    return;
  }
  node.maximum = all;
  node.trailing_zeros = 0;
  switch (node.kind) {
  case ExprKind::constant:
    node.maximum = node.value.high ? unbounded : node.value.low;
    node.trailing_zeros = node.value.low ? known_zeros(node.value.low, width)
                                         : static_cast<std::uint8_t>(node.value.high ? 64 : width);
    break;
  case ExprKind::sum: {
    unsigned zeros = known_zeros(node.value.low, width);
    std::uint64_t total = node.value.low;
    bool fits = true;
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      zeros = std::min<unsigned>(zeros,
                                 std::countr_zero(node.coefficients[i]) + child(i)->trailing_zeros);
      std::uint64_t most = 0;
      fits = fits && !__builtin_mul_overflow(node.coefficients[i], child(i)->maximum, &most) &&
             !__builtin_add_overflow(total, most, &total);
    }
    node.trailing_zeros = static_cast<std::uint8_t>(std::min(zeros, width));
    if (fits && total <= all) // otherwise it may wrap around
      node.maximum = total;
    break;
  }
  case ExprKind::product: {
    unsigned zeros = 0;
    std::uint64_t total = 1;
    bool fits = true;
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      zeros += child(i)->trailing_zeros;
      fits = fits && !__builtin_mul_overflow(total, child(i)->maximum, &total);
    }
    node.trailing_zeros = static_cast<std::uint8_t>(std::min(zeros, width));
    if (fits && total <= all)
      node.maximum = total;
    break;
  }
  case ExprKind::zext:
    node.trailing_zeros = child(0)->trailing_zeros == child(0)->width
                              ? static_cast<std::uint8_t>(width)
                              : child(0)->trailing_zeros;
    node.maximum = child(0)->maximum;
    break;
  case ExprKind::sext:
    node.trailing_zeros = child(0)->trailing_zeros;
    if (child(0)->width <= 64 && child(0)->maximum <= mask64(child(0)->width) / 2)
      node.maximum = child(0)->maximum;
    break;
  case ExprKind::extract:
    if (node.index == 0)
      node.trailing_zeros = std::min<std::uint8_t>(child(0)->trailing_zeros, node.width);
    if (child(0)->width <= 64)
      node.maximum = std::min(all, child(0)->maximum >> node.index);
    break;
  case ExprKind::bit_and:
    node.maximum = std::min(child(0)->maximum, child(1)->maximum);
    node.trailing_zeros = std::max(child(0)->trailing_zeros, child(1)->trailing_zeros);
    break;
  case ExprKind::bit_or:
  case ExprKind::bit_xor: {
    const std::uint64_t either = child(0)->maximum | child(1)->maximum;
    node.maximum = either == 0 ? 0 : mask64(64 - std::countl_zero(either));
    node.trailing_zeros = std::min(child(0)->trailing_zeros, child(1)->trailing_zeros);
    break;
  }
  case ExprKind::lshr:
  case ExprKind::udiv:
    // Division by zero gives all ones, so only a constant divisor bounds the quotient.
    if (node.kind == ExprKind::lshr ||
        (child(1)->kind == ExprKind::constant && !child(1)->value.is_zero()))
      node.maximum = child(0)->maximum;
    break;
  case ExprKind::urem: // by zero: all ones
    if (child(1)->kind == ExprKind::constant && !child(1)->value.is_zero())
      node.maximum = std::min(child(0)->maximum, child(1)->maximum - 1);
    break;
  case ExprKind::shl:
    node.trailing_zeros = child(0)->trailing_zeros;
    break;
  case ExprKind::ite:
    node.maximum = std::max(child(1)->maximum, child(2)->maximum);
    node.trailing_zeros = std::min(child(1)->trailing_zeros, child(2)->trailing_zeros);
    break;
  default:
    break;
  }
  if (width > 64)
    node.maximum = node.kind == ExprKind::zext ? node.maximum : unbounded;
}

Expr ExprPool::constant(unsigned width, Bits value) {
  ExprNode node{};
  node.kind = ExprKind::constant;
  node.width = static_cast<std::uint8_t>(width);
  node.value = ptxasw::emulator::truncate(value, width);
  return intern(node, {});
}

Expr ExprPool::symbol(std::string name, unsigned width, std::uint64_t maximum) {
  ExprNode node{};
  node.kind = ExprKind::symbol;
  node.width = static_cast<std::uint8_t>(width);
  node.index = static_cast<std::uint32_t>(symbols_.size());
  node.maximum = maximum;
  symbols_.push_back({std::move(name), width});
  return intern(node, {});
}

Expr ExprPool::binary(ExprKind kind, unsigned width, Expr a, Expr b) {
  ExprNode node{};
  node.kind = kind;
  node.width = static_cast<std::uint8_t>(width);
  const Expr children[] = {a, b};
  return intern(node, children);
}

Expr ExprPool::unary(ExprKind kind, unsigned width, Expr a, std::uint32_t index) {
  ExprNode node{};
  node.kind = kind;
  node.width = static_cast<std::uint8_t>(width);
  node.index = index;
  const Expr children[] = {a};
  return intern(node, children);
}

} // namespace ptxasw::emulator
