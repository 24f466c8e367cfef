// C = alpha A B + beta C, rows contiguous; one thread per element.

extern "C" __global__ void gemm(int nx, int ny, int nz, float alpha, float beta, const float *a,
                                const float *b, float *c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny)
    return;
  float sum = beta * c[j * nx + i];
  for (int k = 0; k < nz; k++)
    sum += alpha * a[j * nz + k] * b[k * nx + i];
  c[j * nx + i] = sum;
}
