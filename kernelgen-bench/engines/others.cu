// Ten kernels of other kinds than the suite's, for bench-engines: loops over the grid, shared memory
// and barriers, lanes that part, sparse and strided accesses, integers. others.ptx is
//   nvcc -arch sm_90 -ptx -o others.ptx others.cu
// and others.c has the same work as loops in C.

extern "C" {

__global__ void axpy(int n, float a, const float *x, float *y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = a * x[i] + y[i];
}

// A sum for each block of 256.
__global__ void dot(int n, const float *x, const float *y, float *sums) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    sum += x[i] * y[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half)
      part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    sums[blockIdx.x] = part[0];
}

__global__ void sgemm(int n, const float *a, const float *b, float *c) {
  __shared__ float left[16][16], right[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    left[y][x] = a[row * n + k + x];
    right[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += left[y][i] * right[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void transpose(int n, const float *in, float *out) {
  __shared__ float tile[32][33];
  const int x = threadIdx.x, y = threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    tile[y + i][x] = in[(blockIdx.y * 32 + y + i) * n + blockIdx.x * 32 + x];
  __syncthreads();
  for (int i = 0; i < 32; i += 8)
    out[(blockIdx.x * 32 + y + i) * n + blockIdx.y * 32 + x] = tile[x][y + i];
}

__global__ void smooth(int n, const float *in, float *out) {
  __shared__ float near_by[256 + 8];
  const int i = blockIdx.x * 256 + threadIdx.x;
  near_by[threadIdx.x + 4] = i < n ? in[i] : 0;
  if (threadIdx.x < 4) {
    near_by[threadIdx.x] = i >= 4 ? in[i - 4] : 0;
    near_by[threadIdx.x + 260] = i + 256 < n ? in[i + 256] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 9; ++k)
    sum += near_by[threadIdx.x + k];
  if (i < n)
    out[i] = sum / 9;
}

__global__ void spmv(int rows, const int *begin, const int *column, const float *value,
                     const float *x, float *y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0;
  for (int i = begin[row]; i < begin[row + 1]; ++i)
    sum += value[i] * x[column[i]];
  y[row] = sum;
}

__global__ void nbody(int n, const float4 *body, float4 *force) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const float4 own = body[i];
  float x = 0, y = 0, z = 0;
  for (int j = 0; j < n; ++j) {
    const float4 other = body[j];
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float near = 1 / sqrtf(dx * dx + dy * dy + dz * dz + .01f);
    const float s = other.w * near * near * near;
    x += dx * s;
    y += dy * s;
    z += dz * s;
  }
  force[i] = make_float4(x, y, z, 0);
}

__global__ void mandelbrot(int nx, int ny, int most, int *count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny)
    return;
  const float a = i * 3.f / nx - 2.f, b = j * 2.f / ny - 1.f;
  float x = 0, y = 0;
  int n = 0;
  while (n < most && x * x + y * y < 4.f) {
    const float next = x * x - y * y + a;
    y = 2 * x * y + b;
    x = next;
    ++n;
  }
  count[j * nx + i] = n;
}

__global__ void gelu(int n, const float *in, float *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float x = in[i];
    out[i] = x / (1 + expf(-1.702f * x));
  }
}

__global__ void hash(int n, int rounds, const unsigned *in, unsigned *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned h = in[i];
  for (int r = 0; r < rounds; ++r) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
  }
  out[i] = h;
}
}
