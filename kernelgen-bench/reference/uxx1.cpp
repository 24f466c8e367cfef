#include "reference/problem.h"

namespace kernelgen {
namespace {

void uxx1(Problem &p) {
  const Field u0 = p.field("u0"), u1 = p.field("u1"), d1 = p.field("d1");
  const Field xx = p.field("xx"), xy = p.field("xy"), xz = p.field("xz");
  p.interior(2, 2, 2, [&](int i, int j, int k) {
    const double d = (d1(i, j, k) + d1(i, j - 1, k) + d1(i, j, k - 1) + d1(i, j - 1, k - 1)) / 4;
    const double near = xx(i, j, k) - xx(i - 1, j, k) + xy(i, j, k) - xy(i, j - 1, k) +
                        xz(i, j, k) - xz(i, j, k - 1);
    const double far = xx(i + 1, j, k) - xx(i - 2, j, k) + xy(i, j + 1, k) - xy(i, j - 2, k) +
                       xz(i, j, k + 1) - xz(i, j, k - 2);
    u1(i, j, k) = u0(i, j, k) + p["dth"] / d * (p["c1"] * near + p["c2"] * far);
  });
}

const Registered entry("uxx1", uxx1);

} // namespace
} // namespace kernelgen
