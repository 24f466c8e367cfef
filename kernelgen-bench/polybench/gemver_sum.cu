// x += z, two vectors.

extern "C" __global__ void gemver_sum(int nx, const float *z, float *x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx)
    return;
  x[i] += z[i];
}
