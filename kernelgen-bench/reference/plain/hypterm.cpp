#include "reference/problem.h"

namespace kernelgen {
namespace {

void hypterm(Problem &p) {
  const Field cons1 = p.field("cons1"), cons2 = p.field("cons2"), cons3 = p.field("cons3");
  const Field cons4 = p.field("cons4"), q1 = p.field("q1"), q2 = p.field("q2");
  const Field q4 = p.field("q4"), flux1 = p.field("flux1"), flux2 = p.field("flux2");
  const Field flux3 = p.field("flux3"), flux4 = p.field("flux4");
  // The divergence of a flux with components fx and fy, functions of a point.
  const auto divergence = [&](int i, int j, const auto &fx, const auto &fy) {
    const double x = 8 * (fx(i + 1, j) - fx(i - 1, j)) - (fx(i + 2, j) - fx(i - 2, j));
    const double y = 8 * (fy(i, j + 1) - fy(i, j - 1)) - (fy(i, j + 2) - fy(i, j - 2));
    return (p["dxinv"] * x + p["dyinv"] * y) / 12;
  };
  p.interior(2, 2, 0, [&](int x, int y, int k) {
    // A conserved quantity carried by a velocity, with a pressure `weight` times q4 on top.
    const auto flux = [&](const Field &quantity, const Field &velocity, double weight) {
      return [&quantity, &velocity, &q4, weight, k](int i, int j) {
        return quantity(i, j, k) * velocity(i, j, k) + weight * q4(i, j, k);
      };
    };
    const auto energy = [&](const Field &velocity) {
      return [&](int i, int j) { return (cons4(i, j, k) + q4(i, j, k)) * velocity(i, j, k); };
    };
    flux1(x, y, k) = -divergence(x, y, flux(cons1, q1, 0), flux(cons1, q2, 0));
    flux2(x, y, k) = -divergence(x, y, flux(cons2, q1, 1), flux(cons2, q2, 0));
    flux3(x, y, k) = -divergence(x, y, flux(cons3, q1, 0), flux(cons3, q2, 1));
    flux4(x, y, k) = -divergence(x, y, energy(q1), energy(q2));
  });
}

const Registered entry("plain/hypterm", hypterm);

} // namespace
} // namespace kernelgen
