// y = A^T t: one thread per column.

extern "C" __global__ void atax_columns(int nx, int ny, const float *a, const float *t, float *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx)
    return;
  float sum = 0;
  for (int k = 0; k < ny; k++)
    sum += a[k * nx + i] * t[k];
  y[i] = sum;
}
