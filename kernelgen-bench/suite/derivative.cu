// Mixed derivatives in the first component of the elastic operator of the seismic code SW4, fourth
// order, on a curvilinear grid with stretching: the displacement u1, u2, u3, Lame parameters mu and
// la, metric coefficients met1 to met4, one stretching function for each of two axes. The axes p, q
// and r of the grid are z, y and x here. A thread goes along p, as in the benchmark of the paper.
#include "launch.cuh"

/// First difference of f, a function of the number of points along an axis; the benchmark has c1 =
/// 2/3 and c2 = -1/12.
template <class F> __device__ __forceinline__ float first(float c1, float c2, const F &f) {
  return c2 * (f(2) - f(-2)) + c1 * (f(1) - f(-1));
}

extern "C" __global__ void
derivative(int nx, int ny, int nz, float c1, float c2, float *__restrict__ r1,
           const float *__restrict__ u1, const float *__restrict__ u2, const float *__restrict__ u3,
           const float *__restrict__ mu, const float *__restrict__ la,
           const float *__restrict__ met1, const float *__restrict__ met2,
           const float *__restrict__ met3, const float *__restrict__ met4,
           const float *__restrict__ strx, const float *__restrict__ stry) {
  const int i = THREAD(x), j = THREAD(y);
  if (i < 2 || j < 2 || i > nx - 3 || j > ny - 3)
    return;
  for (int k = 2; k <= nz - 3; k++) {
    const int here = AT3(i, j, k), q = nx, p = nx * ny;
    const float sx = strx[k], sy = stry[j];
    // The first difference of u around a point, along the axis of that step.
    const auto d = [=](const float *u, int point, int step) {
      return first(c1, c2, [=](int n) { return u[point + n * step]; });
    };
    const auto both = [=](int point) { return 2 * mu[point] + la[point]; };

    float sum = r1[here];
    sum += first(c1, c2, [=](int n) {
      const int at = here + n * q;
      return mu[at] * met1[at] * met1[at] * d(u2, at, p);
    });
    sum += first(c1, c2, [=](int n) {
      const int at = here + n * p;
      return la[at] * met1[at] * met1[at] * d(u2, at, q);
    });
    sum += first(c1, c2, [=](int n) {
      const int at = here + n;
      return both(at) * met2[at] * met1[at] * d(u1, at, p) * sx * sy +
             mu[at] * met3[at] * met1[at] * d(u2, at, p) +
             mu[at] * met4[at] * met1[at] * d(u3, at, p) * sy;
    });
    sum += sy * first(c1, c2, [=](int n) {
             const int at = here + n * p;
             return both(at) * met2[at] * met1[at] * d(u1, at, 1) * sx +
                    la[at] * met3[at] * met1[at] * d(u2, at, 1) * sy +
                    la[at] * met4[at] * met1[at] * d(u3, at, 1);
           });
    sum += first(c1, c2, [=](int n) {
      const int at = here + n * q;
      return mu[at] * met3[at] * met1[at] * d(u1, at, 1) * sy * sx +
             mu[at] * met2[at] * met1[at] * d(u2, at, 1);
    });
    sum += first(c1, c2, [=](int n) {
      const int at = here + n;
      return mu[at] * met3[at] * met1[at] * d(u1, at, q) * sy * sx +
             la[at] * met2[at] * met1[at] * d(u2, at, q);
    });
    r1[here] = sum;
  }
}
