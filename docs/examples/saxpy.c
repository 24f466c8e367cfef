/* saxpy.ptx on arrays of this program:  cc saxpy.c -lptxasw_emulate && ./a.out saxpy.ptx */

#include <ptxasw_emulate.h>
#include <stdio.h>
#include <string.h>

enum { count = 1000 };

int main(int argc, char **argv) {
  static char ptx[1 << 16];
  static float x[count], y[count];
  FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
  if (!file || fread(ptx, 1, sizeof ptx - 1, file) == 0) {
    fprintf(stderr, "usage: saxpy saxpy.ptx\n");
    return 2;
  }
  fclose(file);
  for (int i = 0; i < count; ++i) {
    x[i] = (float)i;
    y[i] = 1;
  }

  /* As a harness does it: the parameters' values, a float as its bits. */
  const float a = 2;
  unsigned bits;
  memcpy(&bits, &a, sizeof bits);
  void *values[] = {y, x, (void *)(size_t)bits, (void *)(size_t)count};
  if (ptx_run(ptx, 4, values, 256, 1, 1, 4, 1, 1, 0) != 0)
    return 1;
  printf("y[999] = %g\n", y[999]);

  /* As with cuLaunchKernel: their addresses. Of x only the first 100 elements may be read. */
  float *to = y, *from = x;
  unsigned n = count;
  void *addresses[] = {&to, &from, (void *)&a, &n};
  const unsigned grid[3] = {4, 1, 1}, block[3] = {256, 1, 1};
  ptxasw_allow(y, sizeof y, 1);
  ptxasw_allow(x, 100 * sizeof *x, 0);
  if (ptxasw_launch(ptx, "saxpy", grid, block, 0, addresses) != 1)
    return 1;
  printf("as it should: %s\n", ptxasw_error());
  return 0;
}
