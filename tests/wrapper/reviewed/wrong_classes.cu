// The most frequent class of each row: a thread walks a row, and its counts are an array with an index that is data.
__global__ void frequent(const float *matrix, int *best, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  int count[10] = {};
  for (int c = 0; c < columns; ++c)
    ++count[static_cast<int>(matrix[row * columns + c]) % 10]; // lint: uncoalesced, local-memory
  int top = 0;
  for (int k = 1; k < 10; ++k)
    if (count[k] > count[top])
      top = k;
  best[row] = top;
}
