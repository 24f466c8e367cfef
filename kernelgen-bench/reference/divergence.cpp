#include "reference/problem.h"

namespace kernelgen {
namespace {

void divergence(Problem &p) {
  const Field ux = p.field("ux"), uy = p.field("uy"), uz = p.field("uz"), u = p.field("u");
  p.interior(1, 1, 1, [&](int i, int j, int k) {
    u(i, j, k) = p["a"] * (ux(i + 1, j, k) - ux(i - 1, j, k)) +
                 p["b"] * (uy(i, j + 1, k) - uy(i, j - 1, k)) +
                 p["c"] * (uz(i, j, k + 1) - uz(i, j, k - 1));
  });
}

const Registered entry("divergence", divergence);

} // namespace
} // namespace kernelgen
