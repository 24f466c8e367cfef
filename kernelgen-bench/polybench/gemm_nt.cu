// C = A B^T: neighbouring threads read neighbouring rows of B.

extern "C" __global__ void gemm_nt(int nx, int ny, int nz, const float *a, const float *b,
                                   float *c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny)
    return;
  float sum = 0;
  for (int k = 0; k < nz; k++)
    sum += a[j * nz + k] * b[i * nz + k];
  c[j * nx + i] = sum;
}
