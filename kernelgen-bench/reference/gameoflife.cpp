#include "reference/problem.h"

namespace kernelgen {
namespace {

void gameoflife(Problem &p) {
  const Field u0 = p.field("u0"), u1 = p.field("u1");
  p.interior(1, 1, 0, [&](int i, int j, int) {
    double neighbours = -u0(i, j);
    for (int m = -1; m <= 1; m++)
      for (int l = -1; l <= 1; l++)
        neighbours += u0(i + l, j + m);
    // The rule itself, not the formula: born with three, lives on with two or three.
    u1(i, j) = neighbours == 3 || (neighbours == 2 && u0(i, j) == 1) ? 1 : 0;
  });
}

const Registered entry("gameoflife", gameoflife);

} // namespace
} // namespace kernelgen
