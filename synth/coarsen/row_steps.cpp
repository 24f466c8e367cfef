// A row's address is base + 4 * sext(nx * y + x) in many kernels, and its neighbourhood is reached
// by adding 4 * sext(nx) again and again. The next copy's is base + 4 * sext(nx * (y + 1) + x), and
// that is 4 * sext(nx) more only if the 32 bits do not wrap around in between. The proof takes from
// here that it is, in launches that keep the index from that; so this says of which values that is
// claimed, and why.
//
// For every launch, thread and iteration, and for each column c of copies, an address of row r is
//
//   w(c) + C * e(c, r),   e(c, r) = the extension of n(c) + r * s, a sum in 32 bits,
//
// with one C of 1 to 65536, one s and one kind of extension for all columns. That is no assumption:
// stepped_address() builds these expressions, and they must be those of all copies. What is claimed
// is e(c, r) = e(c, 0) + r * e', e' being the extension of s. So row r's address is that of row 0
// plus r times C * e', and it is said in terms of row 0's number.
//
// The launch makes it right, of R rows: that n(c) + (R - 1) * s, in whole numbers, and s are sums
// of products without a minus that are less than 2^31 there (needs.cpp). Then so is each n(c) + r
// * s, whose extension, with a sign or without, is itself, as is that of s.
//
// That columns of row 0 lie beside each other is another question, asked in the same way
// (wide.cpp).

#include "synth/coarsen/copies.h"

#include <algorithm>

namespace ptxasw::synth {
namespace {

constexpr std::uint64_t largest_coefficient = 65536;

/// The one extension from 32 to 64 bits in a sum, with its coefficient, that another sum has not.
std::optional<std::pair<Expr, std::uint64_t>> only_in(Expr address, Expr other) {
  const auto others = summands(other);
  std::optional<std::pair<Expr, std::uint64_t>> found;
  for (const auto &one : summands(address)) {
    if ((one.first->kind != ExprKind::sext && one.first->kind != ExprKind::zext) ||
        one.first->width != 64 || one.first->children[0]->width != 32 ||
        std::find(others.begin(), others.end(), one) != others.end())
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
  for (unsigned column = 0; column < form.along_x; ++column) {
    const Expr first = views.of(address, column), next = views.of(address, form.along_x + column);
    const auto own = only_in(first, next), others = only_in(next, first);
    if (!own || !others || own->first->kind != others->first->kind ||
        own->second != others->second || own->second == 0 || own->second > largest_coefficient)
      return std::nullopt;
    const Expr number = own->first->children[0];
    RowStep by{own->second, own->first->kind == ExprKind::sext,
               pool.sub(others->first->children[0], number), found.by.numbers};
    if (column > 0 && by != found.by)
      return std::nullopt;
    by.numbers.push_back(number);
    const auto extended = [&](Expr value) {
      return by.is_signed ? pool.sext(value, 64) : pool.zext(value, 64);
    };
    const Expr coefficient = pool.constant(64, by.coefficient);
    const Expr bytes = pool.mul(coefficient, extended(by.step)); // from a row to the next one
    const Expr without = pool.sub(first, pool.mul(coefficient, own->first));
    for (unsigned row = 0; row < form.copies; ++row) {
      const Expr there = pool.add(number, pool.mul(pool.constant(32, row), by.step));
      const unsigned k = row * form.along_x + column;
      if (views.of(address, k) != pool.add(without, pool.mul(coefficient, extended(there))))
        return std::nullopt;
      found.of[k] = pool.add(first, pool.mul(pool.constant(64, row), bytes));
    }
    found.by = std::move(by);
  }
  return found;
}

} // namespace ptxasw::synth
