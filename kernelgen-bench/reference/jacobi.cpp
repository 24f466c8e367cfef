#include "reference/problem.h"

namespace kernelgen {
namespace {

void jacobi(Problem &p) {
  const Field w0 = p.field("w0"), w1 = p.field("w1");
  p.interior(1, 1, 0, [&](int i, int j, int) {
    double sum = 0;
    for (int m = -1; m <= 1; m++)
      for (int l = -1; l <= 1; l++)
        sum += p("c", l * l + m * m) * w0(i + l, j + m);
    w1(i, j) = sum;
  });
}

const Registered entry("jacobi", jacobi);

} // namespace
} // namespace kernelgen
