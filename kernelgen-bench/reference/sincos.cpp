#include <cmath>

#include "reference/problem.h"

namespace kernelgen {
namespace {

void sincos(Problem &p) {
  const Field x = p.field("x"), y = p.field("y"), xy = p.field("xy");
  p.interior(0, 0, 0, [&](int i, int j, int k) {
    xy(i, j, k) = std::sin(x(i, j, k)) + std::cos(y(i, j, k));
  });
}

const Registered entry("sincos", sincos);

} // namespace
} // namespace kernelgen
