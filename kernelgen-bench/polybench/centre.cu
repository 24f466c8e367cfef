// Every column less its mean.

extern "C" __global__ void centre(int nx, int ny, const float *mean, float *data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny)
    return;
  data[j * nx + i] -= mean[i];
}
