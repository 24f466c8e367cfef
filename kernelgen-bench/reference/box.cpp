#include "reference/problem.h"

namespace kernelgen {
namespace {

void box(Problem &p) {
  const Field in = p.field("in"), out = p.field("out");
  p.interior(3, 3, 0, [&](int i, int j, int) {
    double sum = 0;
    for (int m = -3; m <= 3; m++)
      for (int l = -3; l <= 3; l++)
        sum += in(i + l, j + m);
    out(i, j) = sum / 49;
  });
}

const Registered entry("box", box);

} // namespace
} // namespace kernelgen
