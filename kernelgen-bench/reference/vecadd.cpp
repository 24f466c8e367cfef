#include "reference/problem.h"

namespace kernelgen {
namespace {

void vecadd(Problem &p) {
  const Field w0 = p.field("w0"), w1 = p.field("w1"), w2 = p.field("w2");
  p.interior(0, 0, 0, [&](int i, int j, int k) { w2(i, j, k) = w0(i, j, k) + w1(i, j, k); });
}

const Registered entry("vecadd", vecadd);

} // namespace
} // namespace kernelgen
