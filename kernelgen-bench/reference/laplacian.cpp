#include "reference/problem.h"

namespace kernelgen {
namespace {

void laplacian(Problem &p) {
  const Field w0 = p.field("w0"), w1 = p.field("w1");
  p.interior(1, 1, 1, [&](int i, int j, int k) {
    const double faces = w0(i - 1, j, k) + w0(i + 1, j, k) + w0(i, j - 1, k) + w0(i, j + 1, k) +
                         w0(i, j, k - 1) + w0(i, j, k + 1);
    w1(i, j, k) = p["alpha"] * w0(i, j, k) + p["beta"] * faces;
  });
}

const Registered entry("laplacian", laplacian);

} // namespace
} // namespace kernelgen
