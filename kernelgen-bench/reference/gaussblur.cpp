#include "reference/problem.h"

namespace kernelgen {
namespace {

void gaussblur(Problem &p) {
  const Field w0 = p.field("w0"), w1 = p.field("w1");
  const double f = 1 / (p["s0"] + 4 * (p["s1"] + p["s2"] + p["s4"] + p["s8"]) + 8 * p["s5"]);
  p.interior(2, 2, 0, [&](int i, int j, int) {
    double sum = 0;
    for (int m = -2; m <= 2; m++)
      for (int l = -2; l <= 2; l++)
        sum += p("s", l * l + m * m) * w0(i + l, j + m);
    w1(i, j) = f * sum;
  });
}

const Registered entry("gaussblur", gaussblur);

} // namespace
} // namespace kernelgen
