#include "reference/problem.h"

namespace kernelgen {
namespace {

void conv2d_9(Problem &p) {
  const Field weights = p.field("weights", 9), in = p.field("in"), out = p.field("out");
  constexpr int radius = 4;
  p.interior(radius, radius, 0, [&](int i, int j, int) {
    double sum = 0;
    for (int m = 0; m < 9; m++)
      for (int l = 0; l < 9; l++)
        sum += weights(l, m) * in(i + l - radius, j + m - radius);
    out(i, j) = sum;
  });
}

const Registered entry("conv2d_9", conv2d_9);

} // namespace
} // namespace kernelgen
