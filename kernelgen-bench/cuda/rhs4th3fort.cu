// Right-hand side of the elastic wave equation, fourth order, constant metric with stretching: the
// displacement u1, u2, u3, Lame parameters mu and la, one stretching function per dimension.
//
// For each component: second differences with variable coefficients along the three axes (the
// own axis with 2 mu + la, the others with mu) and mixed differences with the other two.
#include "grid.cuh"

/// The products of parameter and stretching at the five points around a point along one axis,
/// combined as the summation-by-parts scheme wants them.
struct Coefficients {
  float m[4];

  /// f(n) is the parameter n points along the axis, stretch[n] the stretching.
  template <class F> __device__ __forceinline__ Coefficients(const F &f, const float *stretch) {
    const float a = f(-2) * stretch[-2], b = f(-1) * stretch[-1], c = f(0) * stretch[0];
    const float d = f(1) * stretch[1], e = f(2) * stretch[2];
    m[0] = b - 0.75f * (c + a);
    m[1] = a + d + 3.0f * (c + b);
    m[2] = b + e + 3.0f * (d + c);
    m[3] = d - 0.75f * (c + e);
  }
};

/// 2 mu + la, for a component along its own axis.
__device__ __forceinline__ Coefficients both(Coefficients mu, const Coefficients &la) {
#pragma unroll
  for (int n = 0; n < 4; n++)
    mu.m[n] = 2.0f * mu.m[n] + la.m[n];
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
  return f(-2) - f(2) + 8.0f * (f(1) - f(-1));
}

/// 144 times the mixed difference: of coefficient(n) times the difference of u(n, m) in m, in n.
template <class C, class U>
__device__ __forceinline__ float mixed(const C &coefficient, const U &u) {
  return first([=](int n) { return coefficient(n) * first([=](int m) { return u(n, m); }); });
}

extern "C" __global__ void rhs4th3fort(int nx, int ny, int nz, float a1, float cof, const float *mu,
                                       const float *la, const float *strx, const float *stry,
                                       const float *strz, const float *u1, const float *u2,
                                       const float *u3, float *uacc1, float *uacc2, float *uacc3) {
  GRID_LOOP(k, z, 2, nz) {
    GRID_LOOP(j, y, 2, ny) {
      GRID_LOOP(i, x, 2, nx) {
        const int here = at(nx, ny, i, j, k);
        // Values n points along an axis, and n and m points along two of them.
        const auto x = [=](const float *f) {
          return [=](int n) { return f[at(nx, ny, i + n, j, k)]; };
        };
        const auto y = [=](const float *f) {
          return [=](int n) { return f[at(nx, ny, i, j + n, k)]; };
        };
        const auto z = [=](const float *f) {
          return [=](int n) { return f[at(nx, ny, i, j, k + n)]; };
        };
        const auto xy = [=](const float *f) {
          return [=](int n, int m) { return f[at(nx, ny, i + n, j + m, k)]; };
        };
        const auto yx = [=](const float *f) {
          return [=](int n, int m) { return f[at(nx, ny, i + m, j + n, k)]; };
        };
        const auto xz = [=](const float *f) {
          return [=](int n, int m) { return f[at(nx, ny, i + n, j, k + m)]; };
        };
        const auto zx = [=](const float *f) {
          return [=](int n, int m) { return f[at(nx, ny, i + m, j, k + n)]; };
        };
        const auto yz = [=](const float *f) {
          return [=](int n, int m) { return f[at(nx, ny, i, j + n, k + m)]; };
        };
        const auto zy = [=](const float *f) {
          return [=](int n, int m) { return f[at(nx, ny, i, j + m, k + n)]; };
        };

        const Coefficients mu_x(x(mu), strx + i), la_x(x(la), strx + i);
        const Coefficients mu_y(y(mu), stry + j), la_y(y(la), stry + j);
        const Coefficients mu_z(z(mu), strz + k), la_z(z(la), strz + k);
        const float sx = strx[i], sy = stry[j], sz = strz[k];
        const float i6 = 1.0f / 6.0f, i144 = 1.0f / 144.0f;

        const float r1 = i6 * (sx * second(both(mu_x, la_x), x(u1)) + sy * second(mu_y, y(u1)) +
                               sz * second(mu_z, z(u1))) +
                         i144 * (sx * sy * (mixed(x(la), xy(u2)) + mixed(y(mu), yx(u2))) +
                                 sx * sz * (mixed(x(la), xz(u3)) + mixed(z(mu), zx(u3))));
        const float r2 = i6 * (sx * second(mu_x, x(u2)) + sy * second(both(mu_y, la_y), y(u2)) +
                               sz * second(mu_z, z(u2))) +
                         i144 * (sx * sy * (mixed(x(mu), xy(u1)) + mixed(y(la), yx(u1))) +
                                 sy * sz * (mixed(y(la), yz(u3)) + mixed(z(mu), zy(u3))));
        const float r3 = i6 * (sx * second(mu_x, x(u3)) + sy * second(mu_y, y(u3)) +
                               sz * second(both(mu_z, la_z), z(u3))) +
                         i144 * (sx * sz * (mixed(x(mu), xz(u1)) + mixed(z(la), zx(u1))) +
                                 sy * sz * (mixed(y(mu), yz(u2)) + mixed(z(la), zy(u2))));

        uacc1[here] = a1 * uacc1[here] + cof * r1;
        uacc2[here] = a1 * uacc2[here] + cof * r2;
        uacc3[here] = a1 * uacc3[here] + cof * r3;
      }
    }
  }
}
