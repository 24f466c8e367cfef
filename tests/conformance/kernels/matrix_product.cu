// Tiles in shared memory, barriers, edges that do not fill a tile.
constexpr int tile = 16;

extern "C" __global__ void matrix_product(int n, int m, int k, const float *a, const float *b,
                                          float *c) {
  __shared__ float as[tile][tile], bs[tile][tile + 1];
  const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < k; t += tile) {
    as[threadIdx.y][threadIdx.x] =
        row < n && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : 0.0f;
    bs[threadIdx.y][threadIdx.x] =
        column < m && t + threadIdx.y < k ? b[(t + threadIdx.y) * m + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < tile; ++i)
      sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < m)
    c[row * m + column] = sum;
}

extern "C" __global__ void matrix_product_f64(int n, const double *a, const double *b, double *c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || column >= n)
    return;
  double sum = 0;
#pragma unroll 4
  for (int i = 0; i < n; ++i)
    sum = fma(a[row * n + i], b[i * n + column], sum);
  c[row * n + column] = sum;
}
