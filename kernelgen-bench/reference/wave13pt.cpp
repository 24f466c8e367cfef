#include "reference/problem.h"

namespace kernelgen {
namespace {

void wave13pt(Problem &p) {
  const Field w0 = p.field("w0"), w1 = p.field("w1"), w2 = p.field("w2");
  p.interior(2, 2, 2, [&](int i, int j, int k) {
    const auto faces = [&](int n) {
      return w1(i - n, j, k) + w1(i + n, j, k) + w1(i, j - n, k) + w1(i, j + n, k) +
             w1(i, j, k - n) + w1(i, j, k + n);
    };
    w2(i, j, k) = p["m0"] * w1(i, j, k) - w0(i, j, k) + p["m1"] * faces(1) + p["m2"] * faces(2);
  });
}

const Registered entry("wave13pt", wave13pt);

} // namespace
} // namespace kernelgen
