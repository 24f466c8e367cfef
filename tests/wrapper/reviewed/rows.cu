// A matrix times a vector: a warp for each row.
__global__ void rows(const float *matrix, const float *vector, float *result, int columns, int count) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= count)
    return;
  float sum = 0;
  for (int c = lane; c < columns; c += 32)
    sum += matrix[row * columns + c] * vector[c];
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0)
    result[row] = sum;
}
