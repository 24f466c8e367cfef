// Takes the projection on one column (of a transposed array) from the others; one thread per column.

extern "C" __global__ void gramschmidt(int nx, int ny, const float *q, float *a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx)
    return;
  float sum = 0;
  for (int k = 0; k < ny; k++)
    sum += q[k] * a[k * nx + i];
  for (int k = 0; k < ny; k++)
    a[k * nx + i] -= q[k] * sum;
}
