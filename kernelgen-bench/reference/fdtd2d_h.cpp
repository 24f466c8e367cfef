#include "reference/problem.h"

namespace kernelgen {
namespace {

void fdtd2d_h(Problem &p) {
  const Field hz = p.field("hz"), ex = p.field("ex"), ey = p.field("ey");
  p.interior(1, 1, 0, [&](int i, int j, int) {
    hz(i, j) -= 0.7 * (ex(i, j + 1) - ex(i, j) + ey(i + 1, j) - ey(i, j));
  });
}

const Registered entry("fdtd2d_h", fdtd2d_h);

} // namespace
} // namespace kernelgen
