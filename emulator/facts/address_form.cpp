// The walk over sums and extensions. What only depends on the lane is left whole, so that it can be
// evaluated with its wrap-arounds; what mixes lane and unknowns is taken apart, as if nothing
// wrapped, and the form says so where the wrap cannot be excluded.
//
// It can be excluded where what all lanes share is a multiple of 2^k and the rest lies for all
// lanes of a warp between the same two multiples of 2^k: the ends of the ranges are such multiples,
// too, so no lane is across one if another is not. ctaid.x * 256 + tid.x is such a sum.

#include "emulator/facts/address_form.h"

#include <algorithm>
#include <bit>

namespace ptxasw::facts {
namespace {

unsigned known_zeros(std::uint64_t value) { return static_cast<unsigned>(std::countr_zero(value)); }

class Walk {
public:
  Walk(Emulation &emulation, LaneValues &lanes, Expr root, BlockId block, bool small_window,
       WrapMemo &memo, AddressForm &form)
      : root_(small_window ? root : nullptr), emulation_(emulation), lanes_(lanes), block_(block),
        in_step_(emulation.in_step(block)), memo_(memo), form_(form) {
    for (LoopId loop = 0; loop < emulation.cfg().loops().size(); ++loop)
      trips_.push_back(emulation.trip_count(loop));
  }

  void add(Expr e, std::int64_t factor) {
    if (factor == 0)
      return;
    if (e->kind == ExprKind::constant) {
      form_.constant += product(factor, as_signed(e->value.low, std::min<unsigned>(e->width, 64)));
      return;
    }
    if (e->width > 64) {
      add_atom(e, factor);
      return;
    }
    if (e->kind == ExprKind::sum) {
      form_.constant += product(factor, as_signed(e->value.low, e->width));
      for (std::uint32_t i = 0; i < e->child_count; ++i)
        add(e->children[i], product(factor, as_signed(e->coefficients[i], e->width)));
      return;
    }
    const bool extension = e->kind == ExprKind::zext || e->kind == ExprKind::sext;
    if (extension && e->children[0]->kind == ExprKind::sum && !lanes_(e)) {
      if (uniform(e)) { // one number, whatever it is made of; the parts show loops
        add_shared_extension(e, factor);
        return;
      }
      if (may_wrap(e)) {
        // What is cut to fewer bits, as by a mask, is meant to wrap around.
        if (e->children[0]->width < 32) {
          add_atom(e, factor);
          return;
        }
        form_.may_wrap = true;
      }
      add(e->children[0], factor);
      return;
    }
    if (extension && !lanes_(e)) { // of one atom: it does not wrap
      add_atom(e, factor);
      return;
    }
    add_atom(e, factor);
  }

private:
  static std::int64_t product(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }

  bool uniform(Expr e) const { return in_step_ && emulation_.uniform(e, block_); }
  bool of_lane(Expr e) { return lanes_(e) != nullptr; }

  // The parts of ext(sum) where all lanes share the sum: each a term of its own, so that loop
  // counters can be seen. That the sum wraps alike for all lanes is no obstacle to comparing them.
  void add_shared_extension(Expr e, std::int64_t factor) {
    const Expr sum = e->children[0];
    form_.constant += product(factor, as_signed(sum->value.low, sum->width));
    for (std::uint32_t i = 0; i < sum->child_count; ++i)
      add_atom(sum->children[i], product(factor, as_signed(sum->coefficients[i], sum->width)));
  }

  // True if lanes of one warp may lie on different sides of a wrap-around of the sum in `e`.
  bool may_wrap(Expr e) {
    if (e == root_)
      return work_out_wrap(e);
    const auto [known, is_new] = memo_.try_emplace({e, block_}, false);
    if (is_new)
      known->second = work_out_wrap(e);
    return known->second;
  }

  bool work_out_wrap(Expr e) {
    const Expr sum = e->children[0];
    const Layout &layout = lanes_.layout();
    std::vector<std::int64_t> own(layout.threads.size(), as_signed(sum->value.low, sum->width));
    unsigned zeros = sum->width - 1; // of the part that all lanes share
    for (std::uint32_t i = 0; i < sum->child_count; ++i) {
      const Expr child = sum->children[i];
      const std::int64_t factor = as_signed(sum->coefficients[i], sum->width);
      if (const auto *values = lanes_(child)) {
        for (std::size_t t = 0; t < own.size(); ++t)
          own[t] += product(factor, as_signed((*values)[t], child->width));
      } else if (uniform(child)) {
        zeros = std::min(zeros, trailing_zeros(lanes_, child) +
                                    known_zeros(static_cast<std::uint64_t>(factor)));
      } else {
        return true;
      }
    }
    return std::any_of(layout.warps.begin(), layout.warps.end(), [&](const WarpThreads &warp) {
      const auto begin = own.begin() + warp.first, end = begin + warp.count;
      const auto [least, most] = std::minmax_element(begin, end);
      if (e == root_)
        return *most - *least >= std::int64_t{1} << 31;
      return *least >> zeros != *most >> zeros;
    });
  }

  void add_atom(Expr e, std::int64_t factor) {
    if (lanes_.is_lane_symbol(e)) {
      (e == lanes_.tid(0)   ? form_.tid[0]
       : e == lanes_.tid(1) ? form_.tid[1]
       : e == lanes_.tid(2) ? form_.tid[2]
                            : form_.laneid) += factor;
      return;
    }
    // An extension of a lane's number that has no sign to spread is that number.
    if ((e->kind == ExprKind::zext || e->kind == ExprKind::sext) &&
        lanes_.is_lane_symbol(e->children[0])) {
      add_atom(e->children[0], factor);
      return;
    }
    if (of_lane(e)) {
      form_.of_lane.push_back({e, factor});
    } else if (uniform(e)) {
      (is_trip(e) ? form_.loops : form_.uniform).push_back({e, factor});
    } else if ((e->kind == ExprKind::product || is_extended_product(e)) && add_stride(e, factor)) {
      return;
    } else if (in_step_ && emulation_.uniform_but_lane(e, block_)) {
      if (!add_by_lane(e, factor))
        form_.mixed.push_back({e, factor});
    } else {
      form_.varying.push_back({e, factor});
    }
  }

  static bool is_extended_product(Expr e) {
    return (e->kind == ExprKind::zext || e->kind == ExprKind::sext) &&
           e->children[0]->kind == ExprKind::product;
  }

  // A product of lane and shared factors.
  bool add_stride(Expr e, std::int64_t factor) {
    const bool extended = e->kind != ExprKind::product;
    const Expr body = extended ? e->children[0] : e;
    ExprPool &pool = emulation_.pool();
    Expr lane = nullptr, by = nullptr;
    for (const Expr child : body->operands()) {
      const bool is_lane = of_lane(child);
      if (!is_lane && !uniform(child))
        return false;
      Expr &side = is_lane ? lane : by;
      side = side ? pool.mul(side, child) : child;
    }
    if (!lane || !by)
      return false;
    form_.may_wrap = form_.may_wrap || extended;
    form_.strides.push_back({lane, by, factor});
    return true;
  }

  // What is the sum of something that the warp shares and something of the lane alone once the
  // lane's bits stand apart.
  bool add_by_lane(Expr e, std::int64_t factor) {
    const Expr apart = bits_apart(emulation_.by_lane(e));
    if (apart == e)
      return false;
    AddressForm own;
    Walk walk(emulation_, lanes_, root_, block_, false, memo_, own);
    walk.add(apart, factor);
    if (!own.is_linear())
      return false;
    form_.constant += own.constant;
    for (int axis = 0; axis < 3; ++axis)
      form_.tid[axis] += own.tid[axis];
    form_.laneid += own.laneid;
    const auto append = [](auto &to, const auto &from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(form_.of_lane, own.of_lane);
    append(form_.strides, own.strides);
    append(form_.loops, own.loops);
    append(form_.uniform, own.uniform);
    form_.may_wrap = form_.may_wrap || own.may_wrap;
    return true;
  }

  // A bit operation, or its extension, as what it does to the five bits in which the lanes of a
  // warp differ and what it does above them.
  Expr bits_apart(Expr e) {
    ExprPool &pool = emulation_.pool();
    if (e->kind == ExprKind::zext || e->kind == ExprKind::sext) {
      const Expr inner = bits_apart(e->children[0]);
      return inner == e->children[0]     ? e
             : e->kind == ExprKind::zext ? pool.zext(inner, e->width)
                                         : pool.sext(inner, e->width);
    }
    if (!is_bitwise(e))
      return e;
    const unsigned low =
        5u + std::min(e->children[0]->trailing_zeros, e->children[1]->trailing_zeros);
    if (e->width <= low || e->width > 64)
      return e;
    return pool.add(pool.mul(pool.constant(e->width, std::uint64_t{1} << low),
                             pool.zext(bits_of(e, low, e->width - low), e->width)),
                    pool.zext(bits_of(e, 0, low), e->width));
  }

  static bool is_bitwise(Expr e) {
    return e->kind == ExprKind::bit_and || e->kind == ExprKind::bit_or ||
           e->kind == ExprKind::bit_xor;
  }

  // Some bits of an expression; of an operation on each bit by itself, of what it is done to.
  Expr bits_of(Expr e, unsigned low, unsigned width) {
    ExprPool &pool = emulation_.pool();
    if (!is_bitwise(e))
      return pool.extract(e, low, width);
    const Expr children[] = {bits_of(e->children[0], low, width),
                             bits_of(e->children[1], low, width)};
    return pool.rebuild(e, children);
  }

  // A loop's counter, in whatever width.
  bool is_trip(Expr e) const {
    while (e->kind == ExprKind::zext || e->kind == ExprKind::sext ||
           (e->kind == ExprKind::extract && e->index == 0))
      e = e->children[0];
    return std::find(trips_.begin(), trips_.end(), e) != trips_.end();
  }

  const Expr root_; ///< an address that does not wrap around anywhere a lane may be
  Emulation &emulation_;
  LaneValues &lanes_;
  const BlockId block_;
  const bool in_step_;
  WrapMemo &memo_;
  AddressForm &form_;
  std::vector<Expr> trips_;
};

} // namespace

unsigned trailing_zeros(const LaneValues &lanes, Expr expr) {
  unsigned zeros = expr->trailing_zeros;
  if (lanes.layout().symbolic && expr == lanes.row_extent())
    zeros = std::max(zeros, 5u); // rows are whole warps
  if (expr->kind == ExprKind::product) {
    unsigned sum = 0;
    for (const Expr child : expr->operands())
      sum += trailing_zeros(lanes, child);
    zeros = std::max(zeros, sum);
  } else if (expr->kind == ExprKind::sum) {
    unsigned least = expr->value.is_zero() ? expr->width : known_zeros(expr->value.low);
    for (std::uint32_t i = 0; i < expr->child_count; ++i)
      least = std::min(least, known_zeros(expr->coefficients[i]) +
                                  trailing_zeros(lanes, expr->children[i]));
    zeros = std::max(zeros, least);
  } else if (expr->kind == ExprKind::zext || expr->kind == ExprKind::sext) {
    zeros = std::max(zeros, trailing_zeros(lanes, expr->children[0]));
  }
  return std::min<unsigned>(zeros, expr->width);
}

// The addition of the offset happens in the width of the register.
Expr address_at(Emulation &emulation, const Module &module, const AccessSite &site, Expr base) {
  ExprPool &pool = emulation.pool();
  const Operand &operand = module.children(*site.address)[0];
  if (operand.kind == Operand::Kind::symbol)
    base = emulation.symbol_address(module.symbol(operand).name);
  else if (operand.kind == Operand::Kind::integer)
    base = pool.constant(64, 0);
  if (!base || (base->width != 32 && base->width != 64))
    return nullptr;
  const std::int64_t offset =
      site.address->value + (operand.kind == Operand::Kind::reg ? 0 : operand.value);
  const Expr sum = pool.add(base, pool.constant(base->width, static_cast<std::uint64_t>(offset)));
  return emulation.expand(pool.zext(sum, 64));
}

AddressForm address_form(Emulation &emulation, LaneValues &lanes, Expr address, BlockId block,
                         bool small_window, WrapMemo *memo) {
  AddressForm form;
  WrapMemo own;
  Walk(emulation, lanes, address, block, small_window, memo ? *memo : own, form).add(address, 1);
  return form;
}

} // namespace ptxasw::facts
