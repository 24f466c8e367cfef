// A 3x3 convolution with weights in the code, one point per thread.

extern "C" __global__ void conv2d(int nx, int ny, const float *a, float *b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1)
    return;
  b[j * nx + i] = 0.2f * a[(j - 1) * nx + i - 1] - 0.3f * a[(j - 1) * nx + i] +
                  0.4f * a[(j - 1) * nx + i + 1] + 0.5f * a[j * nx + i - 1] + 0.6f * a[j * nx + i] +
                  0.7f * a[j * nx + i + 1] - 0.8f * a[(j + 1) * nx + i - 1] -
                  0.9f * a[(j + 1) * nx + i] + 0.1f * a[(j + 1) * nx + i + 1];
}
