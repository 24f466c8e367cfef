// A sweep along x: one thread per row.

extern "C" __global__ void adi_rows(int nx, int ny, const float *a, float *b, float *x) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= ny)
    return;
  for (int i = 1; i < nx; i++) {
    x[j * nx + i] -= x[j * nx + i - 1] * a[j * nx + i] / b[j * nx + i - 1];
    b[j * nx + i] += a[j * nx + i] * a[j * nx + i];
  }
}
