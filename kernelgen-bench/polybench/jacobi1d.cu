// Three points of a line.

extern "C" __global__ void jacobi1d(int nx, const float *a, float *b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i >= nx - 1)
    return;
  b[i] = 0.33333f * (a[i - 1] + a[i] + a[i + 1]);
}
