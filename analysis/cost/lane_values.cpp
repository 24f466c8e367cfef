// Operands always precede what is made from them, so one pass over the list computes everything.
// All values are kept as 64 bits with zeros above the expression's width; what is wider than 64
// bits counts as not known.

#include "analysis/cost/lane_values.h"

#include "analysis/cost/join_values.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::analysis::cost {
namespace {

constexpr unsigned joins_depth = 64;
constexpr LoopId last_bit = 63; ///< of the loops from the 64th on

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// A node of two operands, of values within the width of the operands.
std::uint64_t combine(Expr expr, std::uint64_t a, std::uint64_t b) {
  const unsigned width = expr->operands()[0]->width;
  switch (expr->kind) {
  case ExprKind::bit_and:
    return a & b;
  case ExprKind::bit_or:
    return a | b;
  case ExprKind::bit_xor:
    return a ^ b;
  case ExprKind::shl:
    return bits::shl(a, b, width).low;
  case ExprKind::lshr:
    return bits::lshr(a, b, width).low;
  case ExprKind::ashr:
    return bits::ashr(a, b, width).low;
  case ExprKind::udiv:
    return bits::udiv(a, b, width).low;
  case ExprKind::urem:
    return bits::urem(a, b, width).low;
  case ExprKind::sdiv:
    return bits::sdiv(a, b, width).low;
  case ExprKind::srem:
    return bits::srem(a, b, width).low;
  case ExprKind::ult:
    return a < b;
  case ExprKind::slt:
    return as_signed(a, width) < as_signed(b, width);
  case ExprKind::concat:
    return bits::concat(a, b, expr->operands()[1]->width).low;
  default:
    return 0;
  }
}

} // namespace

LaneValues::LaneValues(Emulation &emulation, const Arguments &arguments)
    : emulation_(emulation), arguments_(arguments) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    const auto name = [&](const char *what) { return fmt::format("%{}.{}", what, "xyz"[axis]); };
    special_[emulation.special(name("tid"))] = {Source::tid, axis};
    special_[emulation.special(name("ctaid"))] = {Source::block_index, axis};
    extents_[emulation.special(name("ntid"))] = {false, axis};
    extents_[emulation.special(name("nctaid"))] = {true, axis};
  }
  special_[emulation.special("%laneid")] = {Source::lane, 0};
  for (LoopId loop = 0; loop < emulation.cfg().loops().size(); ++loop)
    special_[emulation.trip_count(loop)] = {Source::loop, loop};
}

std::uint32_t LaneValues::add(Expr expr) {
  std::vector<Expr> list;
  for_each_node(expr, [&](Expr node) {
    if (!slots_.contains(node))
      list.push_back(node);
  });
  std::sort(list.begin(), list.end(), [](Expr a, Expr b) { return a->id < b->id; });
  for (const Expr node : list) {
    if (slots_.contains(node)) // a join's value had it
      continue;
    Node made;
    made.expr = node;
    for (const Expr child : node->operands()) {
      const std::uint32_t slot = slots_.at(child);
      made.operands.push_back(slot);
      made.guessed |= nodes_[slot].guessed;
      made.loops |= nodes_[slot].loops;
    }
    classify(made);
    slots_.emplace(node, static_cast<std::uint32_t>(nodes_.size()));
    nodes_.push_back(std::move(made));
  }
  values_.resize(nodes_.size() * warp_lanes);
  return slots_.at(expr);
}

// A loop that does not go on where flows meet was left there: its symbols are numbers then.
void LaneValues::resolve_join(Node &node) {
  const auto join = emulation_.join_register(node.expr);
  const Expr value = joins_within_ < joins_depth ? value_at_join(emulation_, node.expr) : nullptr;
  if (!value)
    return;
  ++joins_within_;
  const std::uint32_t slot = add(emulation_.expand(value));
  const ControlFlowGraph &cfg = emulation_.cfg();
  std::uint64_t loops = nodes_[slot].loops;
  bool known = !nodes_[slot].guessed && (loops >> last_bit) == 0;
  for (LoopId loop = 0; known && loop < std::min<std::size_t>(cfg.loops().size(), last_bit); ++loop)
    if ((loops >> loop & 1) != 0 && !cfg.contains(loop, join->block)) {
      loops &= ~(std::uint64_t{1} << loop);
      known = is_known_how_often(loop);
    }
  --joins_within_;
  if (!known)
    return;
  node.source = Source::join;
  node.operands = {slot};
  node.loops = loops;
}

bool LaneValues::is_known_how_often(LoopId loop) {
  const ControlFlowGraph &cfg = emulation_.cfg();
  for (const BlockId block : cfg.reverse_postorder()) {
    const auto &next = cfg.blocks()[block].successors;
    if (!cfg.contains(loop, block) || !emulation_.feasible(block) ||
        std::all_of(next.begin(), next.end(), [&](BlockId to) { return cfg.contains(loop, to); }))
      continue;
    const Expr choice = emulation_.branch_choice(block);
    if (!choice || nodes_[add(emulation_.expand(choice))].guessed)
      return false;
  }
  return true;
}

// What is known of a field, from its first byte on.
std::optional<Argument> LaneValues::argument_of(const ParameterField &field) const {
  const auto after = arguments_.upper_bound({std::string(field.parameter), field.offset});
  if (after == arguments_.begin())
    return std::nullopt;
  const auto &[key, argument] = *std::prev(after);
  const std::int64_t begin = field.offset - key.second;
  if (key.first != field.parameter || begin + (field.width + 7) / 8 > argument.bytes)
    return std::nullopt;
  if (argument.threads_along && begin != 0)
    return std::nullopt;
  Argument found = argument;
  found.bits >>= 8 * begin;
  return found;
}

void LaneValues::classify(Node &node) {
  const Expr expr = node.expr;
  if (expr->width > 64 || expr->kind == ExprKind::uf || expr->kind == ExprKind::add2) {
    node.source = Source::unknown;
  } else if (expr->kind == ExprKind::constant) {
    node.source = Source::number;
    node.number = expr->value.low;
  } else if (expr->kind == ExprKind::symbol) {
    if (const auto found = special_.find(expr); found != special_.end()) {
      std::tie(node.source, node.which) = found->second;
      if (node.source == Source::loop)
        node.loops = std::uint64_t{1} << std::min(node.which, 63u);
    } else if (const auto extent = extents_.find(expr); extent != extents_.end()) {
      node.source = Source::number;
      node.which = extent->second.second;
      (extent->second.first ? node.extent_of_grid : node.extent_of_block) = true;
    } else {
      node.source = Source::unknown;
      if (const auto field = emulation_.parameter_field(expr)) {
        if (const auto argument = argument_of(*field)) {
          node.source = Source::number;
          node.number = argument->bits & mask64(field->width);
          node.which = argument->threads_along.value_or(0);
          node.extent_of_grid = node.extent_of_block = argument->threads_along.has_value();
        } else {
          missing_.push_back(*field);
        }
      } else {
        resolve_join(node);
      }
    }
  }
  node.guessed |= node.source == Source::unknown;
}

std::vector<std::uint32_t> LaneValues::needed_for(const std::vector<std::uint32_t> &slots) const {
  std::vector<bool> needed(nodes_.size());
  for (const std::uint32_t slot : slots)
    needed[slot] = true;
  std::vector<std::uint32_t> list;
  for (auto i = static_cast<std::uint32_t>(nodes_.size()); i-- > 0;) {
    if (!needed[i])
      continue;
    list.push_back(i);
    for (const std::uint32_t operand : nodes_[i].operands)
      needed[operand] = true;
  }
  std::reverse(list.begin(), list.end());
  return list;
}

void LaneValues::compute(const Moment &moment, const std::vector<std::uint32_t> &slots) {
  for (const std::uint32_t slot : slots)
    compute_node(nodes_[slot], &values_[std::size_t{slot} * warp_lanes], moment);
}

void LaneValues::compute_node(const Node &node, std::uint64_t *out, const Moment &moment) const {
  const Expr expr = node.expr;
  const std::uint64_t mask = mask64(expr->width);
  const auto each = [&](auto value) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      out[lane] = value(lane) & mask;
  };
  const auto in = [&](std::size_t i) {
    return &values_[std::size_t{node.operands[i]} * warp_lanes];
  };
  const Extents &block = moment.block;
  switch (node.source) {
  case Source::number: {
    const int axis = static_cast<int>(node.which);
    std::uint64_t number = node.number;
    if (node.extent_of_grid || node.extent_of_block)
      number = (node.extent_of_grid ? std::uint64_t{moment.grid[axis]} : 1) *
               (node.extent_of_block ? block[axis] : 1);
    return each([&](unsigned) { return number; });
  }
  case Source::tid:
    return each([&](unsigned lane) {
      const std::uint64_t thread = moment.first + lane;
      return node.which == 0   ? thread % block.x
             : node.which == 1 ? thread / block.x % block.y
                               : thread / block.x / block.y;
    });
  case Source::block_index:
    return each([&](unsigned) { return moment.at[static_cast<int>(node.which)]; });
  case Source::loop:
    return each([&](unsigned lane) { return moment.iteration[node.which][lane]; });
  case Source::lane:
    return each([](unsigned lane) { return lane; });
  case Source::join:
    return each([&](unsigned lane) { return in(0)[lane]; });
  case Source::unknown:
    return each([&](unsigned lane) {
      std::uint64_t bits = expr->id * 0x9e3779b97f4a7c15 + moment.first + lane;
      bits = mixed(bits + (std::uint64_t{moment.at.x} << 20) + (std::uint64_t{moment.at.y} << 40));
      for (const Lanes &iteration : moment.iteration)
        bits = mixed(bits + iteration[lane]);
      return expr->maximum < mask ? bits % (expr->maximum + 1) : bits;
    });
  case Source::expression:
    break;
  }
  switch (expr->kind) {
  case ExprKind::sum:
    each([&](unsigned) { return expr->value.low; });
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      for (unsigned lane = 0; lane < warp_lanes; ++lane)
        out[lane] = (out[lane] + expr->coefficients[i] * in(i)[lane]) & mask;
    return;
  case ExprKind::product:
    each([&](unsigned lane) { return in(0)[lane]; });
    for (std::size_t i = 1; i < node.operands.size(); ++i)
      for (unsigned lane = 0; lane < warp_lanes; ++lane)
        out[lane] = out[lane] * in(i)[lane] & mask;
    return;
  case ExprKind::zext:
    return each([&](unsigned lane) { return in(0)[lane]; });
  case ExprKind::sext:
    return each([&](unsigned lane) {
      return static_cast<std::uint64_t>(as_signed(in(0)[lane], expr->operands()[0]->width));
    });
  case ExprKind::extract:
    return each([&](unsigned lane) { return expr->index >= 64 ? 0 : in(0)[lane] >> expr->index; });
  case ExprKind::eq0:
    return each([&](unsigned lane) { return std::uint64_t{in(0)[lane] == 0}; });
  case ExprKind::ite:
    return each([&](unsigned lane) { return in(0)[lane] ? in(1)[lane] : in(2)[lane]; });
  default:
    return each([&](unsigned lane) { return combine(expr, in(0)[lane], in(1)[lane]); });
  }
}

std::vector<ParameterField> LaneValues::parameters_of(std::uint32_t slot) const {
  std::vector<ParameterField> fields;
  for (const std::uint32_t part : needed_for({slot}))
    if (const Expr expr = nodes_[part].expr; expr->kind == ExprKind::symbol)
      if (const auto field = emulation_.parameter_field(expr))
        fields.push_back(*field);
  return fields;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>>
LaneValues::comparisons_in(std::uint32_t slot) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for_each_node(nodes_[slot].expr, [&](Expr node) {
    if (node->kind == ExprKind::eq0)
      found.emplace_back(slots_.at(node), slots_.at(node->operands()[0]));
  });
  return found;
}

} // namespace ptxasw::analysis::cost
