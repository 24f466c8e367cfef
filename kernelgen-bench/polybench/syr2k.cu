// C = alpha (A B^T + B A^T) + beta C.

extern "C" __global__ void syr2k(int nx, int ny, int nz, float alpha, float beta, const float *a,
                                 const float *b, float *c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny)
    return;
  float sum = beta * c[j * nx + i];
  for (int k = 0; k < nz; k++)
    sum += alpha * (a[j * nz + k] * b[i * nz + k] + b[j * nz + k] * a[i * nz + k]);
  c[j * nx + i] = sum;
}
