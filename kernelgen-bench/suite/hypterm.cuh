#pragma once

// The hyperbolic term of the compressible Navier-Stokes equations, as the mini-app CNS of the ExaCT
// centre has it: differences of eighth order, one kernel an axis, one thread a point. Density,
// momenta and energy are cons_0 to cons_4, of which cons_0 is not needed; q_1 to q_3 are the
// velocities, q_4 is the pressure. As in the benchmark of the paper, data are float and
// coefficients double.

/// Four points of halo at each end of each axis.
#define IN_CORE(i, j, k)                                                                           \
  ((i) >= 4 && (j) >= 4 && (k) >= 4 && (i) <= nx - 5 && (j) <= ny - 5 && (k) <= nz - 5)

/// Eighth-order first difference of f, a function of the number of points along the axis.
template <class F> __device__ __forceinline__ double difference(const F &f) {
  return 0.8 * (f(1) - f(-1)) - 0.2 * (f(2) - f(-2)) + 4. / 105 * (f(3) - f(-3)) -
         1. / 280 * (f(4) - f(-4));
}
