// y = alpha A x + beta B x; one thread per row of both.

extern "C" __global__ void gesummv(int nx, int ny, float alpha, float beta, const float *a,
                                   const float *b, const float *x, float *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx)
    return;
  float first = 0, second = 0;
  for (int k = 0; k < ny; k++) {
    first += a[i * ny + k] * x[k];
    second += b[i * ny + k] * x[k];
  }
  y[i] = alpha * first + beta * second;
}
