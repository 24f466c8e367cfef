// s = A^T r, kept in memory while it is summed.

extern "C" __global__ void bicg_columns(int nx, int ny, const float *a, const float *r, float *s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx)
    return;
  s[i] = 0;
  for (int k = 0; k < ny; k++)
    s[i] += a[k * nx + i] * r[k];
}
