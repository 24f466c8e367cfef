// The sum of two vectors, one element per thread.

extern "C" __global__ void vectorAdd(const float *A, const float *B, float *C, int n) {
  const int g = blockDim.x * blockIdx.x + threadIdx.x;
  if (g < n)
    C[g] = A[g] + B[g];
}
