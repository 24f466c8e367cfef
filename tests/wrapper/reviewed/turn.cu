// A transposition through a padded tile.
__global__ void turn(const float *in, float *out, int n) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
  __syncthreads();
  const int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    out[(v + k) * n + u] = tile[threadIdx.x][threadIdx.y + k];
}
