// D = A B, the first product of two; one thread per element.

extern "C" __global__ void mm2(int nx, int ny, int nz, const float *a, const float *b, float *d) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny)
    return;
  float sum = 0;
  for (int k = 0; k < nz; k++)
    sum += a[j * nz + k] * b[k * nx + i];
  d[j * nx + i] = sum;
}
