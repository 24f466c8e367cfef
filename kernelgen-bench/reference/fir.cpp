#include "reference/problem.h"

namespace kernelgen {
namespace {

void fir(Problem &p) {
  const Field taps = p.field("taps"), in = p.field("in"), out = p.field("out");
  for (int i = 0; i < p.nx - 15; i++) {
    out(i) = 0;
    for (int t = 0; t < 16; t++)
      out(i) += taps(t) * in(i + t);
  }
}

const Registered entry("fir", fir);

} // namespace
} // namespace kernelgen
