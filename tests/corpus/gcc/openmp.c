// VARIANTS: sm_35 -O2 | sm_75 -O1 | sm_80 -O3
#include <complex.h>
#include <math.h>

struct Point {
  float x, y;
  long id;
};

#pragma omp declare target
static int order(int n) { return n <= 1 ? 1 : n * order(n - 1); }
int global_table[16] = {1, 2, 3};
const char *label = "label";
#pragma omp end declare target

float work(struct Point *p, int n, float _Complex *z) {
  float best = 0;
#pragma omp target teams distribute parallel for map(tofrom                                        \
                                                     : p [0:n], z [0:n]) reduction(max             \
                                                                                   : best)
  for (int i = 0; i < n; ++i) {
    p[i].x = fmaf(p[i].y, (float)order((int)(p[i].id & 7)), tanhf(p[i].x));
    z[i] *= z[i] + p[i].x * I;
    best = fmaxf(best, crealf(z[i]) + global_table[i & 15] + label[i % 5]);
  }
#pragma omp target parallel map(p [0:n])
  {
#pragma omp critical
    p[0].id += 1;
#pragma omp barrier
#pragma omp single
    p[0].x = 0;
  }
  return best;
}

int main(void) {
  static struct Point p[8];
  static float _Complex z[8];
  return (int)work(p, 8, z);
}
