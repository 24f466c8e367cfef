// Alternately adds a vector to the rows of a matrix and subtracts it from them: with a branch that parts
// neighbours, one row pair per thread, one column per thread, the vector through shared memory.

extern "C" __global__ void addSub0(const int *A, int *B, int w, int h) {
  for (int i = 0; i < w; ++i) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j % 2 == 0)
      B[j * w + i] += A[i];
    else
      B[j * w + i] -= A[i];
  }
}

extern "C" __global__ void addSub1(const int *A, int *B, int w, int h) {
  for (int i = 0; i < w; ++i) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    B[2 * j * w + i] += A[i];
    B[(2 * j + 1) * w + i] -= A[i];
  }
}

extern "C" __global__ void addSub2(const int *A, int *B, int w, int h) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < h; j += 2) {
    B[j * w + i] += A[i];
    B[(j + 1) * w + i] -= A[i];
  }
}

extern "C" __global__ void addSub3(const int *A, int *B, int w, int h) {
  extern __shared__ int row[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  row[threadIdx.x] = A[i];
  for (int j = 0; j < h; j += 2) {
    B[j * w + i] += row[i];
    B[(j + 1) * w + i] -= row[i];
  }
}
