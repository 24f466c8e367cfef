#include <cmath>

#include "reference/problem.h"

namespace kernelgen {
namespace {

void sobel(Problem &p) {
  const Field in = p.field("in"), out = p.field("out");
  p.interior(1, 1, 0, [&](int i, int j, int) {
    double x = 0, y = 0;
    for (int n = -1; n <= 1; n++) {
      const double smooth = n == 0 ? 2 : 1;
      x += smooth * (in(i + 1, j + n) - in(i - 1, j + n));
      y += smooth * (in(i + n, j + 1) - in(i + n, j - 1));
    }
    out(i, j) = std::hypot(x, y);
  });
}

const Registered entry("sobel", sobel);

} // namespace
} // namespace kernelgen
