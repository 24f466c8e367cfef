#include "reference/problem.h"

#include <array>

namespace kernelgen {
namespace {

/// Lagrange weights for a point at `t` between the second and third of the nodes -1, 0, 1, 2.
std::array<double, 4> weights(double t) {
  std::array<double, 4> result{1, 1, 1, 1};
  for (int n = 0; n < 4; n++)
    for (int other = 0; other < 4; other++)
      if (other != n)
        result[n] *= (t - (other - 1)) / (n - other);
  return result;
}

/// Interpolates u0 at the offsets a, b, c of every point that is at least `low` from the low ends
/// and `high` from the high ones, into u1. Offsets count in the direction of the axes if `sign` is
/// 1 and against it if it is -1, which is how the suite has them.
void interpolate_tricubic(Problem &p, int low, int high, int sign) {
  const Field u0 = p.field("u0"), u1 = p.field("u1");
  const Field a = p.field("a"), b = p.field("b"), c = p.field("c");
  const auto point = [&](int i, int j, int k) {
    const auto x = weights(sign * a(i, j, k)), y = weights(sign * b(i, j, k));
    const auto z = weights(sign * c(i, j, k));
    double sum = 0;
    for (int n = 0; n < 4; n++)
      for (int m = 0; m < 4; m++)
        for (int l = 0; l < 4; l++)
          sum += x[l] * y[m] * z[n] * u0(i + l - 1, j + m - 1, k + n - 1);
    u1(i, j, k) = sum;
  };
  for (int k = low; k < p.nz - high; k++)
    for (int j = low; j < p.ny - high; j++)
      for (int i = low; i < p.nx - high; i++)
        point(i, j, k);
}

const Registered entry("tricubic", [](Problem &p) { interpolate_tricubic(p, 1, 2, -1); });
const Registered entry2("tricubic2", [](Problem &p) { interpolate_tricubic(p, 2, 2, -1); });
const Registered plain("plain/tricubic", [](Problem &p) { interpolate_tricubic(p, 2, 2, 1); });
const Registered plain2("plain/tricubic2", [](Problem &p) { interpolate_tricubic(p, 2, 2, 1); });

} // namespace
} // namespace kernelgen
