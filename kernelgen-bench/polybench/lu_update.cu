// The update of the matrix that is left after one step of LU.

extern "C" __global__ void lu_update(int nx, int ny, const float *row, const float *column,
                                     float *a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny)
    return;
  a[j * nx + i] -= column[j] * row[i];
}
