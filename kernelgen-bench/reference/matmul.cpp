#include "reference/problem.h"

namespace kernelgen {
namespace {

void matmul(Problem &p) {
  const Field a = p.field("a", p.nx), b = p.field("b", p.nz), c = p.field("c", p.nx);
  for (int j = 0; j < p.ny; j++)
    for (int i = 0; i < p.nx; i++)
      for (int k = 0; k < p.nz; k++)
        c(i, j) += a(i, k) * b(k, j);
}

const Registered entry("matmul", matmul);

} // namespace
} // namespace kernelgen
