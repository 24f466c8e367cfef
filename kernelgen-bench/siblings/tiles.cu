// Kernels whose blocks work in shared memory and wait for each other: sums of blocks, tiled
// transposes and products, stencils. One element of a tile per thread; sizes are template arguments
// as each block has static shared memory.

template <int Threads> __global__ void block_sum(float *out, const float *in, int n) {
  __shared__ float part[Threads];
  const int t = threadIdx.x, i = blockIdx.x * Threads + t;
  part[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int distance = Threads / 2; distance > 0; distance /= 2) {
    if (t < distance)
      part[t] += part[t + distance];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = part[0];
}

/// Rows of 32 by blocks of 32 x Rows threads, 32 / Rows elements each.
template <int Rows> __global__ void transpose(float *out, const float *in, int nx, int ny) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int row = 0; row < 32; row += Rows)
    if (x < nx && y + row < ny)
      tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * nx + x];
  __syncthreads();
  const int tx = blockIdx.y * 32 + threadIdx.x, ty = blockIdx.x * 32 + threadIdx.y;
  for (int row = 0; row < 32; row += Rows)
    if (tx < ny && ty + row < nx)
      out[(ty + row) * ny + tx] = tile[threadIdx.x][threadIdx.y + row];
}

template <int Tile>
__global__ void product(float *c, const float *a, const float *b, int n) {
  __shared__ float left[Tile][Tile], right[Tile][Tile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * Tile + tx, y = blockIdx.y * Tile + ty;
  float sum = 0;
  for (int k = 0; k < n; k += Tile) {
    left[ty][tx] = y < n && k + tx < n ? a[y * n + k + tx] : 0.0f;
    right[ty][tx] = x < n && k + ty < n ? b[(k + ty) * n + x] : 0.0f;
    __syncthreads();
    for (int i = 0; i < Tile; ++i)
      sum += left[ty][i] * right[i][tx];
    __syncthreads();
  }
  if (x < n && y < n)
    c[y * n + x] = sum;
}

template <int Threads> __global__ void line(float *out, const float *in, int n) {
  constexpr int radius = 4;
  __shared__ float tile[Threads + 2 * radius];
  const int t = threadIdx.x, i = blockIdx.x * Threads + t;
  tile[t + radius] = i < n ? in[i] : 0.0f;
  if (t < radius) {
    tile[t] = i >= radius ? in[i - radius] : 0.0f;
    tile[t + radius + Threads] = i + Threads < n ? in[i + Threads] : 0.0f;
  }
  __syncthreads();
  if (i >= n)
    return;
  float sum = 0;
  for (int k = -radius; k <= radius; ++k)
    sum += tile[t + radius + k] * static_cast<float>(k + 5);
  out[i] = sum;
}

/// Five points; blocks of 32 x Rows threads.
template <int Rows> __global__ void star(float *out, const float *in, int nx, int ny) {
  __shared__ float tile[Rows + 2][34];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * Rows + threadIdx.y;
  const auto at = [&](int px, int py) {
    return px >= 0 && px < nx && py >= 0 && py < ny ? in[py * nx + px] : 0.0f;
  };
  tile[ty][tx] = at(x, y);
  if (threadIdx.x == 0)
    tile[ty][0] = at(x - 1, y);
  if (threadIdx.x == 31)
    tile[ty][33] = at(x + 1, y);
  if (threadIdx.y == 0)
    tile[0][tx] = at(x, y - 1);
  if (threadIdx.y == Rows - 1)
    tile[Rows + 1][tx] = at(x, y + 1);
  __syncthreads();
  if (x < nx && y < ny)
    out[y * nx + x] = 0.5f * tile[ty][tx] + 0.125f * (tile[ty][tx - 1] + tile[ty][tx + 1] +
                                                      tile[ty - 1][tx] + tile[ty + 1][tx]);
}

template __global__ void block_sum<128>(float *, const float *, int);
template __global__ void block_sum<256>(float *, const float *, int);
template __global__ void block_sum<512>(float *, const float *, int);
template __global__ void block_sum<1024>(float *, const float *, int);
template __global__ void transpose<4>(float *, const float *, int, int);
template __global__ void transpose<8>(float *, const float *, int, int);
template __global__ void transpose<16>(float *, const float *, int, int);
template __global__ void transpose<32>(float *, const float *, int, int);
template __global__ void product<16>(float *, const float *, const float *, int);
template __global__ void product<32>(float *, const float *, const float *, int);
template __global__ void line<128>(float *, const float *, int);
template __global__ void line<256>(float *, const float *, int);
template __global__ void line<512>(float *, const float *, int);
template __global__ void line<1024>(float *, const float *, int);
template __global__ void star<4>(float *, const float *, int, int);
template __global__ void star<8>(float *, const float *, int, int);
template __global__ void star<16>(float *, const float *, int, int);
template __global__ void star<32>(float *, const float *, int, int);
