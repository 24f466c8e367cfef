// t = A x: one thread per row, so neighbours are a row apart.

extern "C" __global__ void atax_rows(int nx, int ny, const float *a, const float *x, float *t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx)
    return;
  float sum = 0;
  for (int k = 0; k < ny; k++)
    sum += a[i * ny + k] * x[k];
  t[i] = sum;
}
