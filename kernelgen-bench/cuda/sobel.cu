// Sobel edge filter: magnitude of the two smoothed differences over the 3x3 neighbourhood.
#include "grid.cuh"

extern "C" __global__ void sobel(int nx, int ny, const float *in, float *out) {
  GRID_LOOP(j, y, 1, ny) {
    GRID_LOOP(i, x, 1, nx) {
      const float sw = in[at(nx, i - 1, j - 1)], s = in[at(nx, i, j - 1)];
      const float se = in[at(nx, i + 1, j - 1)], w = in[at(nx, i - 1, j)];
      const float e = in[at(nx, i + 1, j)], nw = in[at(nx, i - 1, j + 1)];
      const float n = in[at(nx, i, j + 1)], ne = in[at(nx, i + 1, j + 1)];
      const float gx = (se - sw) + 2.0f * (e - w) + (ne - nw);
      const float gy = (nw - sw) + 2.0f * (n - s) + (ne - se);
      out[at(nx, i, j)] = sqrtf(gx * gx + gy * gy);
    }
  }
}
