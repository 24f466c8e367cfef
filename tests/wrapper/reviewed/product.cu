// A matrix product in tiles; all lanes of a row share what they read of `a`.
constexpr int side = 16;
__global__ void product(const float *a, const float *b, float *c, int n) {
  __shared__ float s[side][side], t[side][side];
  const int row = blockIdx.y * side + threadIdx.y, column = blockIdx.x * side + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += side) {
    s[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int j = 0; j < side; ++j)
      sum += s[threadIdx.y][j] * t[j][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
