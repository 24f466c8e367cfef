// The right-hand side of the elastic wave equation in the seismic code SW4, fourth order, on a
// Cartesian grid with stretching: the displacement u_0, u_1, u_2, Lame parameters mu and la, one
// stretching function per axis. One thread a point. As in the benchmark of the paper, data are
// float and fractions double, and the step of the grid is a constant.
//
// For each component: second differences with variable coefficients along the three axes (the
// own axis with 2 mu + la, the others with mu) and mixed differences with the other two.
#include "launch.cuh"

/// The products of parameter and stretching at the five points around a point along one axis,
/// combined as the summation-by-parts scheme wants them.
struct Coefficients {
  float m[4];

  /// f(n) is the parameter n points along the axis, stretch[n] the stretching.
  template <class F> __device__ __forceinline__ Coefficients(const F &f, const float *stretch) {
    const float a = f(-2) * stretch[-2], b = f(-1) * stretch[-1], c = f(0) * stretch[0];
    const float d = f(1) * stretch[1], e = f(2) * stretch[2];
    m[0] = b - 0.75 * (c + a);
    m[1] = a + d + 3 * (c + b);
    m[2] = b + e + 3 * (d + c);
    m[3] = d - 0.75 * (c + e);
  }
};

/// 2 mu + la, for a component along its own axis.
__device__ __forceinline__ Coefficients both(Coefficients mu, const Coefficients &la) {
#pragma unroll
  for (int n = 0; n < 4; n++)
    mu.m[n] = 2 * mu.m[n] + la.m[n];
  return mu;
}

/// Second difference of f under the coefficients w; f(n) is the value n points along the axis.
template <class F> __device__ __forceinline__ float second(const Coefficients &w, const F &f) {
  const float centre = f(0);
  return w.m[0] * (f(-2) - centre) + w.m[1] * (f(-1) - centre) + w.m[2] * (f(1) - centre) +
         w.m[3] * (f(2) - centre);
}

/// Twelve times the first difference of f, a function as for second().
template <class F> __device__ __forceinline__ float first(const F &f) {
  return f(-2) - f(2) + 8 * (f(1) - f(-1));
}

/// 144 times the mixed difference: of coefficient(n) times the difference of u(n, m) in m, in n.
template <class C, class U>
__device__ __forceinline__ float mixed(const C &coefficient, const U &u) {
  return first([=](int n) { return coefficient(n) * first([=](int m) { return u(n, m); }); });
}

extern "C" __global__ void rhs4th3fort(int nx, int ny, int nz, float *__restrict__ uacc_0,
                                       float *__restrict__ uacc_1, float *__restrict__ uacc_2,
                                       const float *__restrict__ u_0, const float *__restrict__ u_1,
                                       const float *__restrict__ u_2, const float *__restrict__ mu,
                                       const float *__restrict__ la, const float *__restrict__ strx,
                                       const float *__restrict__ stry,
                                       const float *__restrict__ strz) {
  const int i = THREAD(x), j = THREAD(y), k = THREAD(z);
  if (i < 2 || j < 2 || k < 2 || i > nx - 3 || j > ny - 3 || k > nz - 3)
    return;
  const int a1 = 1;
  const float h = 3.7, cof = 1. / (h * h);
  const int here = AT3(i, j, k);

  // Values n points along an axis, and n and m points along two of them.
  const auto x = [=](const float *f) { return [=](int n) { return f[AT3(i + n, j, k)]; }; };
  const auto y = [=](const float *f) { return [=](int n) { return f[AT3(i, j + n, k)]; }; };
  const auto z = [=](const float *f) { return [=](int n) { return f[AT3(i, j, k + n)]; }; };
  const auto xy = [=](const float *f) {
    return [=](int n, int m) { return f[AT3(i + n, j + m, k)]; };
  };
  const auto yx = [=](const float *f) {
    return [=](int n, int m) { return f[AT3(i + m, j + n, k)]; };
  };
  const auto xz = [=](const float *f) {
    return [=](int n, int m) { return f[AT3(i + n, j, k + m)]; };
  };
  const auto zx = [=](const float *f) {
    return [=](int n, int m) { return f[AT3(i + m, j, k + n)]; };
  };
  const auto yz = [=](const float *f) {
    return [=](int n, int m) { return f[AT3(i, j + n, k + m)]; };
  };
  const auto zy = [=](const float *f) {
    return [=](int n, int m) { return f[AT3(i, j + m, k + n)]; };
  };

  const Coefficients mu_x(x(mu), strx + i), la_x(x(la), strx + i);
  const Coefficients mu_y(y(mu), stry + j), la_y(y(la), stry + j);
  const Coefficients mu_z(z(mu), strz + k), la_z(z(la), strz + k);
  const float sx = strx[i], sy = stry[j], sz = strz[k];
  const double i6 = 1. / 6, i144 = 1. / 144;

  const float r1 = i6 * (sx * second(both(mu_x, la_x), x(u_0)) + sy * second(mu_y, y(u_0)) +
                         sz * second(mu_z, z(u_0))) +
                   i144 * (sx * sy * (mixed(x(la), xy(u_1)) + mixed(y(mu), yx(u_1))) +
                           sx * sz * (mixed(x(la), xz(u_2)) + mixed(z(mu), zx(u_2))));
  const float r2 = i6 * (sx * second(mu_x, x(u_1)) + sy * second(both(mu_y, la_y), y(u_1)) +
                         sz * second(mu_z, z(u_1))) +
                   i144 * (sx * sy * (mixed(x(mu), xy(u_0)) + mixed(y(la), yx(u_0))) +
                           sy * sz * (mixed(y(la), yz(u_2)) + mixed(z(mu), zy(u_2))));
  const float r3 = i6 * (sx * second(mu_x, x(u_2)) + sy * second(mu_y, y(u_2)) +
                         sz * second(both(mu_z, la_z), z(u_2))) +
                   i144 * (sx * sz * (mixed(x(mu), xz(u_0)) + mixed(z(la), zx(u_0))) +
                           sy * sz * (mixed(y(mu), yz(u_1)) + mixed(z(la), zy(u_1))));

  uacc_0[here] = a1 * uacc_0[here] + cof * r1;
  uacc_1[here] = a1 * uacc_1[here] + cof * r2;
  uacc_2[here] = a1 * uacc_2[here] + cof * r3;
}
