// A convolution in space with eleven weights: a thread walks along z.

extern "C" __global__ void conv3d(int nx, int ny, int nz, const float *a, float *b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1)
    return;
  for (int k = 1; k < nz - 1; k++) {
    const float *p = a + (k * ny + j) * nx + i;
    const int row = nx, plane = nx * ny;
    b[(k * ny + j) * nx + i] = 0.2f * p[-plane - row - 1] + 0.5f * p[-plane + row - 1] -
                               0.8f * p[-plane + 1] + 0.3f * p[-row] + 0.6f * p[0] - 0.9f * p[row] +
                               0.1f * p[plane - row + 1] + 0.4f * p[plane - 1] +
                               0.7f * p[plane + row + 1] + 0.25f * p[plane] - 0.15f * p[-plane];
  }
}
