#include "reference/problem.h"

namespace kernelgen {
namespace {

void matvec(Problem &p) {
  const Field a = p.field("a"), x = p.field("x"), y = p.field("y");
  for (int j = 0; j < p.ny; j++) {
    y(j) = 0;
    for (int i = 0; i < p.nx; i++)
      y(j) += a(i, j) * x(i);
  }
}

const Registered entry("matvec", matvec);

} // namespace
} // namespace kernelgen
