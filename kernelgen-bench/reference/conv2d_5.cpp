#include "reference/problem.h"

namespace kernelgen {
namespace {

void conv2d_5(Problem &p) {
  const Field weights = p.field("weights", 5), in = p.field("in"), out = p.field("out");
  constexpr int radius = 2;
  p.interior(radius, radius, 0, [&](int i, int j, int) {
    double sum = 0;
    for (int m = 0; m < 5; m++)
      for (int l = 0; l < 5; l++)
        sum += weights(l, m) * in(i + l - radius, j + m - radius);
    out(i, j) = sum;
  });
}

const Registered entry("conv2d_5", conv2d_5);

} // namespace
} // namespace kernelgen
