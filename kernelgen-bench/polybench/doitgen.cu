// Sum over the last index of a three-dimensional array, times a matrix.

extern "C" __global__ void doitgen(int nx, int ny, int nz, const float *a, const float *c4,
                                   float *sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  const int k = blockIdx.z;
  if (i >= nx || j >= ny)
    return;
  float total = 0;
  for (int s = 0; s < nx; s++)
    total += a[(k * ny + j) * nx + s] * c4[s * nx + i];
  sum[(k * ny + j) * nx + i] = total;
}
