// x += A y, kept in memory while it is summed; one thread per row.

extern "C" __global__ void mvt_rows(int nx, int ny, const float *a, const float *y, float *x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx)
    return;
  for (int k = 0; k < ny; k++)
    x[i] += a[i * ny + k] * y[k];
}
