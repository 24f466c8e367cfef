// VARIANTS: sm_35 -O2 | sm_75 -O2 | sm_80 -O0 | sm_70 -O3 -g
#include <math.h>

#pragma acc routine seq
static double curve(double x) { return x > 0 ? sqrt(x) + sin(x) : -x; }

double jacobi(int n, float *restrict a, const float *restrict b, double *sums) {
  double total = 0;
#pragma acc parallel loop gang reduction(+ : total) copyin(b [0:n * n]) copy(a [0:n * n])
  for (int i = 1; i < n - 1; ++i) {
    double row = 0;
#pragma acc loop vector reduction(+ : row)
    for (int j = 1; j < n - 1; ++j) {
      a[i * n + j] =
          0.25f * (b[i * n + j - 1] + b[i * n + j + 1] + b[(i - 1) * n + j] + b[(i + 1) * n + j]);
      row += curve(a[i * n + j]);
    }
    total += row;
  }
#pragma acc parallel loop copyout(sums [0:n])
  for (int i = 0; i < n; ++i) {
#pragma acc atomic
    sums[i % 7] += i;
  }
  return total;
}

int main(void) {
  static float a[64], b[64];
  static double s[8];
  return (int)jacobi(8, a, b, s);
}
