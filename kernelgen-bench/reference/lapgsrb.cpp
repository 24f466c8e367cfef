#include "reference/problem.h"

namespace kernelgen {
namespace {

void lapgsrb(Problem &p) {
  const Field w0 = p.field("w0"), w1 = p.field("w1");
  p.interior(2, 2, 2, [&](int i, int j, int k) {
    double sum = 0;
    for (int n = -2; n <= 2; n++)
      for (int m = -2; m <= 2; m++)
        for (int l = -2; l <= 2; l++) {
          const int squared = l * l + m * m + n * n;
          const bool face_at_two = squared == 4 && l * m == 0 && m * n == 0 && l * n == 0;
          if (squared <= 2)
            sum += p("c", squared) * w0(i + l, j + m, k + n);
          else if (face_at_two)
            sum += p["c3"] * w0(i + l, j + m, k + n);
        }
    w1(i, j, k) = sum;
  });
}

const Registered entry("lapgsrb", lapgsrb);

} // namespace
} // namespace kernelgen
