// The mean of each column; one thread per column.

extern "C" __global__ void column_mean(int nx, int ny, const float *data, float *mean) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx)
    return;
  float sum = 0;
  for (int k = 0; k < ny; k++)
    sum += data[k * nx + i];
  mean[i] = sum / ny;
}
