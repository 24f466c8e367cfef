// A transposition through a tile without padding, and one without a tile.
__global__ void turn(const float *in, float *out, int n) {
  __shared__ float tile[32][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
  __syncthreads();
  const int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    out[(v + k) * n + u] = tile[threadIdx.x][threadIdx.y + k]; // lint: bank-conflict
}

__global__ void turn_plainly(const float *in, float *out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < n && y < n)
    out[x * n + y] = in[y * n + x]; // lint: uncoalesced
}
