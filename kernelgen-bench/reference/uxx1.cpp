#include "reference/problem.h"

namespace kernelgen {
namespace {

/// `above` points of halo at the high ends, two at the low ones.
void uxx1(Problem &p, double dth, int above) {
  const Field u0 = p.field("u0"), u1 = p.field("u1"), d1 = p.field("d1");
  const Field xx = p.field("xx"), xy = p.field("xy"), xz = p.field("xz");
  const auto point = [&](int i, int j, int k) {
    const double d = (d1(i, j, k) + d1(i, j - 1, k) + d1(i, j, k - 1) + d1(i, j - 1, k - 1)) / 4;
    const double near = xx(i, j, k) - xx(i - 1, j, k) + xy(i, j, k) - xy(i, j - 1, k) +
                        xz(i, j, k) - xz(i, j, k - 1);
    const double far = xx(i + 1, j, k) - xx(i - 2, j, k) + xy(i, j + 1, k) - xy(i, j - 2, k) +
                       xz(i, j, k + 1) - xz(i, j, k - 2);
    u1(i, j, k) = u0(i, j, k) + dth / d * (p["c1"] * near + p["c2"] * far);
  };
  for (int k = 2; k < p.nz - above; k++)
    for (int j = 2; j < p.ny - above; j++)
      for (int i = 2; i < p.nx - above; i++)
        point(i, j, k);
}

const Registered entry("uxx1", [](Problem &p) { uxx1(p, 1.0 / p.nx, 1); });
const Registered plain("plain/uxx1", [](Problem &p) { uxx1(p, p["dth"], 2); });

} // namespace
} // namespace kernelgen
