// Every column less its mean, over its deviation.

extern "C" __global__ void standardise(int nx, int ny, float root, const float *mean,
                                       const float *deviation, float *data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny)
    return;
  data[j * nx + i] = (data[j * nx + i] - mean[i]) / (root * deviation[i]);
}
