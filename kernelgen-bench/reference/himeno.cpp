#include "reference/problem.h"

namespace kernelgen {
namespace {

void himeno(Problem &p) {
  const Field a = p.field("a"), b = p.field("b"), c = p.field("c"), pressure = p.field("p");
  const Field wrk1 = p.field("wrk1"), bnd = p.field("bnd"), wrk2 = p.field("wrk2");
  p.interior(1, 1, 1, [&](int i, int j, int k) {
    // Planes of a coefficient lie one grid apart; twice the mixed difference along two axes.
    const auto plane = [&](const Field &f, int n) { return f(i, j, n * p.nz + k); };
    const auto mixed = [&](int ai, int aj, int ak, int bi, int bj, int bk) {
      double sum = 0;
      for (int n = -1; n <= 1; n += 2)
        for (int m = -1; m <= 1; m += 2)
          sum += n * m * pressure(i + n * ai + m * bi, j + n * aj + m * bj, k + n * ak + m * bk);
      return sum;
    };
    const double s0 = plane(a, 0) * pressure(i + 1, j, k) + plane(a, 1) * pressure(i, j + 1, k) +
                      plane(a, 2) * pressure(i, j, k + 1) + plane(b, 0) * mixed(1, 0, 0, 0, 1, 0) +
                      plane(b, 1) * mixed(0, 1, 0, 0, 0, 1) +
                      plane(b, 2) * mixed(0, 0, 1, 1, 0, 0) + plane(c, 0) * pressure(i - 1, j, k) +
                      plane(c, 1) * pressure(i, j - 1, k) + plane(c, 2) * pressure(i, j, k - 1) +
                      wrk1(i, j, k);
    const double ss = (s0 * plane(a, 3) - pressure(i, j, k)) * bnd(i, j, k);
    wrk2(i, j, k) = pressure(i, j, k) + p["omega"] * ss;
  });
}

const Registered entry("himeno", himeno);

} // namespace
} // namespace kernelgen
