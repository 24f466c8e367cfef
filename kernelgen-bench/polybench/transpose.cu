// B = A^T without shared memory: reads rows, writes columns.

extern "C" __global__ void transpose(int nx, int ny, const float *a, float *b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny)
    return;
  b[i * ny + j] = a[j * nx + i];
}
