// Five points of a plane.

extern "C" __global__ void jacobi2d(int nx, int ny, const float *a, float *b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1)
    return;
  b[j * nx + i] = 0.2f * (a[j * nx + i] + a[j * nx + i - 1] + a[j * nx + i + 1] +
                          a[(j + 1) * nx + i] + a[(j - 1) * nx + i]);
}
