#pragma once

// When are two addresses the same, and which indices must not wrap around for that? Detection
// guesses by linear_form() which loads to compare. It and the proof then ask what follows, and have
// the conditions tested or assumed:
//   equal_unless_wrapped(pool, emulation.shift_lane(source, delta), load)

#include "emulator/symbolic/expr.h"

#include <optional>
#include <utility>
#include <vector>

namespace ptxasw::emulator {

/// An address taken as a linear form over its atoms, as if no extension in it ever wrapped. Only a
/// guess at what two addresses have in common; `equal_unless_wrapped` decides.
struct LinearForm {
  std::vector<std::pair<Expr, std::uint64_t>> terms; ///< sorted by node id; without lane symbols
  std::uint64_t constant = 0;
  std::int64_t lane_stride = 0; ///< bytes from one lane to the next: the factor of tid.x and laneid

  bool same_but_constant(const LinearForm &other) const {
    return lane_stride == other.lane_stride && terms == other.terms;
  }
  std::size_t hash() const; ///< of everything but the constant
};

/// `is_lane` says which symbols step by one per lane.
template <class IsLane> LinearForm linear_form(Expr address, IsLane is_lane);

/// value + offset must not leave the range of value's width, signed or unsigned. That a divisor is
/// not zero is said so, too: subtracting 1 does not wrap.
struct WrapCondition {
  Expr value = nullptr;
  bool is_signed = false;
  std::int64_t offset = 0;
  bool is_divisor = false;
  bool operator==(const WrapCondition &) const = default;
};

/// Shows a == b over all 64 bits (soundness.md, rule 3): outright if the result is empty, under the
/// given conditions on b's parts otherwise. Nothing if it cannot be shown.
///
/// Addresses differ by wrap-around where one extends e + 1 and the other adds 1 to an extended e:
/// the two agree unless e + 1 wraps. Where one has x / y * y + x % y and the other x, they agree
/// unless y is zero.
std::optional<std::vector<WrapCondition>> equal_unless_wrapped(ExprPool &pool, Expr a, Expr b);

/// Parts of a and b that differ: if they are equal, so are a and b. What both have in common, a
/// base and a factor, is gone, and extensions of both are; a solver has that much less to do.
std::pair<Expr, Expr> what_differs(ExprPool &pool, Expr a, Expr b);

/// The address of what lies `bytes` behind the start of an access, within it. As accesses are
/// aligned as a whole (PTX ISA 6.4.1), an address of 32 bits does not wrap there.
Expr within_access(ExprPool &pool, Expr address, std::uint64_t bytes);

/// True if a condition holds for every value the expression's known bounds allow.
bool always_holds(const WrapCondition &condition);

// ---------------------------------------------------------------------------------------------

namespace detail {
template <class IsLane>
void add_linear(Expr e, std::uint64_t factor, LinearForm &form, IsLane &is_lane) {
  switch (e->kind) {
  case ExprKind::constant:
    form.constant +=
        factor * static_cast<std::uint64_t>(e->width <= 64 ? as_signed(e->value.low, e->width) : 0);
    break;
  case ExprKind::sum:
    form.constant += factor * static_cast<std::uint64_t>(as_signed(e->value.low, e->width));
    for (std::uint32_t i = 0; i < e->child_count; ++i)
      add_linear(e->children[i],
                 factor * static_cast<std::uint64_t>(as_signed(e->coefficients[i], e->width)), form,
                 is_lane);
    break;
  case ExprKind::zext:
  case ExprKind::sext:
    add_linear(e->children[0], factor, form, is_lane);
    break;
  default:
    if (e->kind == ExprKind::symbol && is_lane(e))
      form.lane_stride += static_cast<std::int64_t>(factor);
    else
      form.terms.emplace_back(e, factor);
  }
}
void normalize(LinearForm &form);
} // namespace detail

template <class IsLane> LinearForm linear_form(Expr address, IsLane is_lane) {
  LinearForm form;
  detail::add_linear(address, 1, form, is_lane);
  detail::normalize(form);
  return form;
}

/// The summands of an expression but for its number, with their factors modulo 2^64.
std::vector<std::pair<Expr, std::uint64_t>> summands(Expr expr);

} // namespace ptxasw::emulator
