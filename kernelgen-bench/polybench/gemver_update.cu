// A += u v^T + w z^T.

extern "C" __global__ void gemver_update(int nx, int ny, const float *u, const float *v,
                                         const float *w, const float *z, float *a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny)
    return;
  a[j * nx + i] += u[j] * v[i] + w[j] * z[i];
}
