// Jacobi's method on a plate in OpenACC, as people write it for GCC: gangs over rows, a warp over columns. What GCC
// makes of it is PTX that libgomp hands to the driver, so no `ptxas` sees it.
//   openacc [NX NY STEPS]
#include <openacc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void step(int nx, int ny, const float *restrict a, float *restrict b) {
#pragma acc parallel loop gang vector_length(32) deviceptr(a, b)
  for (int j = 1; j < ny - 1; j++)
#pragma acc loop vector
    for (int i = 1; i < nx - 1; i++) {
      const float *p = a + (size_t)j * nx + i;
      b[(size_t)j * nx + i] = 0.5f * p[0] + 0.1f * (p[-1] + p[1] + p[-nx] + p[nx]) +
                              0.025f * (p[-nx - 1] + p[-nx + 1] + p[nx - 1] + p[nx + 1]);
    }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

int main(int argc, char **argv) {
  const int nx = argc > 1 ? atoi(argv[1]) : 4096, ny = argc > 2 ? atoi(argv[2]) : 4096;
  const int steps = argc > 3 ? atoi(argv[3]) : 400;
  if (nx < 3 || ny < 3 || steps < 1)
    return fprintf(stderr, "openacc [NX NY STEPS]: at least 3 3 1\n"), 2;
  const size_t bytes = (size_t)nx * ny * sizeof(float);
  float *host = malloc(bytes), *a = acc_malloc(bytes), *b = acc_malloc(bytes);
  if (!host || !a || !b)
    return fprintf(stderr, "openacc: out of memory\n"), 1;
  for (size_t i = 0; i < (size_t)nx * ny; ++i)
    host[i] = (float)(i * 2654435761u >> 8 & 0xffff) / 65536.0f;
  acc_memcpy_to_device(a, host, bytes);
  acc_memcpy_to_device(b, host, bytes);
  step(nx, ny, a, b); // the driver has the code now
  const double from = now();
  for (int i = 0; i < steps; ++i) {
    step(nx, ny, b, a);
    float *c = a;
    a = b, b = c;
  }
  printf("milliseconds %.3f\n", now() - from);
  acc_memcpy_from_device(host, b, bytes);
  uint64_t hash = 1469598103934665603u;
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ ((const unsigned char *)host)[i]) * 1099511628211u;
  printf("hash %016llx\n", (unsigned long long)hash);
  return acc_get_num_devices(acc_device_nvidia) > 0 ? 0 : 3;
}
