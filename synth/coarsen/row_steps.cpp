// A row's address is base + 4 * sext(nx * y + x) in many kernels, and its neighbourhood is reached
// by adding 4 * sext(nx) again and again. The next copy's is base + 4 * sext(nx * (y + 1) + x), and
// that is 4 * sext(nx) more only if the 32 bits do not wrap around in between.
//
// A test makes it right: that the last row's address lies R - 1 times 4 * sext(nx) behind the first
// one's. Both extensions are below 2^32 in magnitude, coefficients and R are small, so nothing
// wraps around in 64 bits and e(R - 1) = e(0) + (R - 1) * s holds in whole numbers, e(r) being the
// extension in row r and s that of the step. Each e(0) + r * s lies between these two, so it is in
// the range of what is extended, and congruent to e(r): it is e(r).
//
// That is so for each column of which the test is made; of one column alone, if in each row the
// others are known to lie beside it (wide.cpp).

#include "synth/coarsen/row_steps.h"

#include <algorithm>

namespace ptxasw::synth {
namespace {

constexpr std::uint64_t largest_coefficient = 65536;

/// An extension from 32 to 64 bits in a sum, and its coefficient.
struct Extended {
  Expr extension = nullptr;
  std::uint64_t coefficient = 1;
  bool operator==(const Extended &) const = default;
};

std::vector<Extended> extensions_in(Expr address) {
  std::vector<Extended> all;
  const auto add = [&](Expr one, std::uint64_t coefficient) {
    if ((one->kind == ExprKind::sext || one->kind == ExprKind::zext) && one->width == 64 &&
        one->children[0]->width == 32)
      all.push_back({one, coefficient});
  };
  if (address->kind == ExprKind::sum)
    for (std::uint32_t i = 0; i < address->child_count; ++i)
      add(address->children[i], address->coefficients[i]);
  else
    add(address, 1);
  return all;
}

/// The one that `other` has not.
std::optional<Extended> only_in(const std::vector<Extended> &all,
                                const std::vector<Extended> &other) {
  std::optional<Extended> found;
  for (const Extended &one : all) {
    if (std::find(other.begin(), other.end(), one) != other.end())
      continue;
    if (found)
      return std::nullopt;
    found = one;
  }
  return found;
}

} // namespace

std::optional<SteppedAddress> stepped_address(CopyViews &views, const CoarsenForm &form,
                                              Expr address) {
  ExprPool &pool = views.emulation().pool();
  SteppedAddress found;
  found.of.resize(form.total());
  Expr step = nullptr;
  for (unsigned column = 0; column < form.along_x; ++column) {
    const Expr first = views.of(address, column), next = views.of(address, form.along_x + column);
    const auto in_first = extensions_in(first), in_next = extensions_in(next);
    const auto own = only_in(in_first, in_next), others = only_in(in_next, in_first);
    if (!own || !others || own->extension->kind != others->extension->kind ||
        own->coefficient != others->coefficient || own->coefficient == 0 ||
        own->coefficient > largest_coefficient)
      return std::nullopt;
    const Expr number = own->extension->children[0];
    const Expr by = pool.sub(others->extension->children[0], number);
    const bool is_signed = own->extension->kind == ExprKind::sext;
    if (step &&
        (by != step || own->coefficient != found.by.coefficient || is_signed != found.by.is_signed))
      return std::nullopt;
    step = by;
    found.by.coefficient = own->coefficient;
    found.by.is_signed = is_signed;
    found.by.numbers.push_back(number->id);
    found.numbers.push_back(number);
    const auto extended = [&](Expr value) {
      return is_signed ? pool.sext(value, 64) : pool.zext(value, 64);
    };
    const Expr coefficient = pool.constant(64, own->coefficient);
    found.bytes = pool.mul(coefficient, extended(by));
    const Expr without = pool.sub(first, pool.mul(coefficient, own->extension));
    for (unsigned row = 0; row < form.copies; ++row) {
      const Expr there = pool.add(number, pool.mul(pool.constant(32, row), by));
      const unsigned k = row * form.along_x + column;
      if (views.of(address, k) != pool.add(without, pool.mul(coefficient, extended(there))))
        return std::nullopt;
      found.of[k] = pool.add(first, pool.mul(pool.constant(64, row), found.bytes));
    }
  }
  found.by.step = step->id;
  found.step = step;
  return found;
}

} // namespace ptxasw::synth
