// A sweep along y: one thread per column.

extern "C" __global__ void adi_columns(int nx, int ny, const float *a, float *b, float *x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx)
    return;
  for (int j = 1; j < ny; j++) {
    x[j * nx + i] -= x[(j - 1) * nx + i] * a[j * nx + i] / b[(j - 1) * nx + i];
    b[j * nx + i] += a[j * nx + i] * a[j * nx + i];
  }
}
