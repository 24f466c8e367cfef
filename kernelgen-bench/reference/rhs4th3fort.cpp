#include <array>

#include "reference/problem.h"

namespace kernelgen {
namespace {

using Point = std::array<int, 3>;

Point moved(Point point, int axis, int n) {
  point[axis] += n;
  return point;
}

double value(const Field &field, const Point &point) { return field(point[0], point[1], point[2]); }

/// Fourth-order first difference of f(n), n points along an axis.
template <class F> double first(const F &f) { return (f(-2) - f(2) + 8 * (f(1) - f(-1))) / 12; }

/// Six times the summation-by-parts second difference of u(n) under the coefficient c(n).
template <class C, class U> double second(const C &c, const U &u) {
  return (c(-1) - 0.75 * (c(0) + c(-2))) * (u(-2) - u(0)) +
         (c(-2) + c(1) + 3 * (c(0) + c(-1))) * (u(-1) - u(0)) +
         (c(-1) + c(2) + 3 * (c(1) + c(0))) * (u(1) - u(0)) +
         (c(1) - 0.75 * (c(0) + c(2))) * (u(2) - u(0));
}

/// The fields are called u and uacc with the numbers from that `first` name on: "_0" or "1".
void rhs4th3fort(Problem &p, std::string first_name, double a1, double cof) {
  const Field parameters[2] = {p.field("mu"), p.field("la")};
  std::vector<Field> u, uacc;
  for (int c = 0; c < 3; c++, first_name.back()++) {
    u.push_back(p.field("u" + first_name));
    uacc.push_back(p.field("uacc" + first_name));
  }
  const Field stretch[3] = {p.field("strx"), p.field("stry"), p.field("strz")};
  p.interior(2, 2, 2, [&](int i, int j, int k) {
    const Point here{i, j, k};
    for (int c = 0; c < 3; c++) {
      double r = 0;
      for (int axis = 0; axis < 3; axis++) {
        // Along its own axis a component sees 2 mu + la, along the others mu.
        const auto coefficient = [&](int n) {
          const Point at = moved(here, axis, n);
          const double mu = value(parameters[0], at), la = value(parameters[1], at);
          return (axis == c ? 2 * mu + la : mu) * stretch[axis](here[axis] + n);
        };
        const auto u_at = [&](int n) { return value(u[c], moved(here, axis, n)); };
        r += stretch[axis](here[axis]) * second(coefficient, u_at) / 6;
        if (axis == c)
          continue;
        // d/dc (la du_axis/daxis) + d/daxis (mu du_axis/dc)
        const auto mixed = [&](const Field &parameter, int outer, int inner) {
          return first([&](int n) {
            return value(parameter, moved(here, outer, n)) * first([&](int m) {
                     return value(u[axis], moved(moved(here, outer, n), inner, m));
                   });
          });
        };
        r += stretch[c](here[c]) * stretch[axis](here[axis]) *
             (mixed(parameters[1], c, axis) + mixed(parameters[0], axis, c));
      }
      uacc[c](i, j, k) = a1 * uacc[c](i, j, k) + cof * r;
    }
  });
}

const Registered entry("rhs4th3fort", [](Problem &p) { rhs4th3fort(p, "_0", 1, 1 / (3.7 * 3.7)); });
const Registered plain("plain/rhs4th3fort",
                       [](Problem &p) { rhs4th3fort(p, "1", p["a1"], p["cof"]); });

} // namespace
} // namespace kernelgen
