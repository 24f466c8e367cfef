// The mixed derivatives of SW4's curvilinear operator, first component, from the formula: each term
// is a derivative of coefficient times derivative, the metric's factors in the coefficient.
#include <array>

#include "reference/problem.h"

namespace kernelgen {
namespace {

using Point = std::array<int, 3>;

void derivative(Problem &p) {
  const Field r1 = p.field("r1"), mu = p.field("mu"), la = p.field("la");
  const Field u[4] = {r1, p.field("u1"), p.field("u2"), p.field("u3")};
  const Field met[5] = {r1, p.field("met1"), p.field("met2"), p.field("met3"), p.field("met4")};
  const Field strx = p.field("strx"), stry = p.field("stry");
  constexpr int x = 0, y = 1, z = 2; // the axes r, q and p of the grid
  const auto value = [](const Field &f, const Point &at) { return f(at[0], at[1], at[2]); };
  const auto first = [&](int axis, const Point &at, const auto &f) {
    const auto moved = [&](int n) {
      Point to = at;
      to[static_cast<std::size_t>(axis)] += n;
      return f(to);
    };
    return p["c2"] * (moved(2) - moved(-2)) + p["c1"] * (moved(1) - moved(-1));
  };
  p.interior(2, 2, 2, [&](int i, int j, int k) {
    const Point here{i, j, k};
    const double sx = strx(k), sy = stry(j);
    // d/d outer of (parameter * met[a] * met[1] * du[component]/d inner).
    const auto term = [&](int outer, int inner, const auto &parameter, std::size_t a,
                          int component) {
      return first(outer, here, [&](const Point &at) {
        const auto shift = [&](const Point &to) { return value(u[component], to); };
        return parameter(at) * value(met[a], at) * value(met[1], at) * first(inner, at, shift);
      });
    };
    const auto m = [&](const Point &at) { return value(mu, at); };
    const auto l = [&](const Point &at) { return value(la, at); };
    const auto both = [&](const Point &at) { return 2 * m(at) + l(at); };
    r1(i, j, k) +=
        term(y, z, m, 1, 2) + term(z, y, l, 1, 2) + sx * sy * term(x, z, both, 2, 1) +
        term(x, z, m, 3, 2) + sy * term(x, z, m, 4, 3) +
        sy * (sx * term(z, x, both, 2, 1) + sy * term(z, x, l, 3, 2) + term(z, x, l, 4, 3)) +
        sx * sy * term(y, x, m, 3, 1) + term(y, x, m, 2, 2) + sx * sy * term(x, y, m, 3, 1) +
        term(x, y, l, 2, 2);
  });
}

const Registered entry("derivative", derivative);

} // namespace
} // namespace kernelgen
