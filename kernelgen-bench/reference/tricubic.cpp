#include "reference/tricubic.h"

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

const Registered entry("tricubic", interpolate_tricubic);

} // namespace

void interpolate_tricubic(Problem &p) {
  const Field u0 = p.field("u0"), u1 = p.field("u1");
  const Field a = p.field("a"), b = p.field("b"), c = p.field("c");
  p.interior(2, 2, 2, [&](int i, int j, int k) {
    const auto x = weights(a(i, j, k)), y = weights(b(i, j, k)), z = weights(c(i, j, k));
    double sum = 0;
    for (int n = 0; n < 4; n++)
      for (int m = 0; m < 4; m++)
        for (int l = 0; l < 4; l++)
          sum += x[l] * y[m] * z[n] * u0(i + l - 1, j + m - 1, k + n - 1);
    u1(i, j, k) = sum;
  });
}

} // namespace kernelgen
