// The upper triangle of D^T D: one thread per row of the result, shorter from row to row.

extern "C" __global__ void correlation(int nx, int ny, const float *data, float *result) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx)
    return;
  for (int l = i; l < nx; l++) {
    float sum = 0;
    for (int k = 0; k < ny; k++)
      sum += data[k * nx + i] * data[k * nx + l];
    result[i * nx + l] = sum;
  }
}
