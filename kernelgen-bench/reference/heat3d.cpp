#include "reference/problem.h"

namespace kernelgen {
namespace {

void heat3d(Problem &p) {
  const Field t0 = p.field("t0"), t1 = p.field("t1");
  p.interior(1, 1, 1, [&](int i, int j, int k) {
    const double around = t0(i - 1, j, k) + t0(i + 1, j, k) + t0(i, j - 1, k) + t0(i, j + 1, k) +
                          t0(i, j, k - 1) + t0(i, j, k + 1);
    t1(i, j, k) = t0(i, j, k) + p["alpha"] * (around - 6 * t0(i, j, k));
  });
}

const Registered entry("heat3d", heat3d);

} // namespace
} // namespace kernelgen
