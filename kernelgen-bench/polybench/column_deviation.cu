// The standard deviation of each column; one thread per column.

extern "C" __global__ void column_deviation(int nx, int ny, const float *data, const float *mean,
                                            float *deviation) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx)
    return;
  float sum = 0;
  const float middle = mean[i];
  for (int k = 0; k < ny; k++) {
    const float d = data[k * nx + i] - middle;
    sum += d * d;
  }
  deviation[i] = sqrtf(sum / ny);
}
