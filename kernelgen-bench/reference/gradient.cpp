#include "reference/problem.h"

namespace kernelgen {
namespace {

void gradient(Problem &p) {
  const Field ux = p.field("ux"), uy = p.field("uy"), uz = p.field("uz"), u = p.field("u");
  p.interior(1, 1, 1, [&](int i, int j, int k) {
    ux(i, j, k) = p["a"] * (u(i + 1, j, k) - u(i - 1, j, k));
    uy(i, j, k) = p["b"] * (u(i, j + 1, k) - u(i, j - 1, k));
    uz(i, j, k) = p["c"] * (u(i, j, k + 1) - u(i, j, k - 1));
  });
}

const Registered entry("gradient", gradient);

} // namespace
} // namespace kernelgen
