#include "reference/problem.h"

namespace kernelgen {
namespace {

void fdtd2d_e(Problem &p) {
  const Field hz = p.field("hz"), ex = p.field("ex"), ey = p.field("ey");
  p.interior(1, 1, 0, [&](int i, int j, int) {
    ex(i, j) -= 0.5 * (hz(i, j) - hz(i, j - 1));
    ey(i, j) -= 0.5 * (hz(i, j) - hz(i - 1, j));
  });
}

const Registered entry("fdtd2d_e", fdtd2d_e);

} // namespace
} // namespace kernelgen
