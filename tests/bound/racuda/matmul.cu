// Products of square matrices by tiles of 32 x 32: tiles in shared memory, one of them transposed
// there, and without shared memory but with a branch on data.

constexpr int tile = 32;

template <bool transposed>
__device__ void multiply(float *C, const float *A, const float *B, int n) {
  __shared__ float a[tile][tile], b[tile][tile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = tile * blockIdx.y + ty, column = tile * blockIdx.x + tx;
  float sum = 0;
  for (int k = 0; k < n / tile; ++k) {
    (transposed ? a[tx][ty] : a[ty][tx]) = A[row * n + tile * k + tx];
    b[ty][tx] = B[(tile * k + ty) * n + column];
    __syncthreads();
    for (int m = 0; m < tile; ++m)
      sum += (transposed ? a[m][ty] : a[ty][m]) * b[m][tx];
    __syncthreads();
  }
  C[row * n + column] = sum;
}

extern "C" __global__ void matMul(float *C, const float *A, const float *B, int n) {
  multiply<false>(C, A, B, n);
}

extern "C" __global__ void matMulTrans(float *C, const float *A, const float *B, int n) {
  multiply<true>(C, A, B, n);
}

extern "C" __global__ void matMulBad(float *C, const float *A, const float *B, int n) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = tile * blockIdx.y + ty, column = tile * blockIdx.x + tx;
  for (int k = 0; k < n / tile; ++k)
    for (int m = 0; m < tile; ++m) {
      const float a = A[row * n + tile * k + m], b = B[(tile * k + m) * n + column];
      float c;
      if (b - 1.0 < 0.001)
        c = a;
      else
        c = a * b;
      C[row * n + column] += c;
    }
}
