// Matrix products and transpositions, at different block sizes, with and without tensor cores.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#define KERNEL extern "C" __global__ void

/* pair product-tiled agree
kernel = "product"
grid = [4, 4]
block = [16, 16]
buffer = [{ name = "a", type = "f32", count = 4096, fill = "f32" }, { name = "b", type = "f32", count = 4096, fill = "f32", seed = 1 }, { name = "c", type = "f32", count = 4096 }]
argument = [{ buffer = "a" }, { buffer = "b" }, { buffer = "c" }, { value = 64 }]
second = { kernel = "product_tiled16" }
end */
KERNEL product(const float *a, const float *b, float *c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float s = 0;
  for (int k = 0; k < n; ++k) s = fmaf(a[y * n + k], b[k * n + x], s);
  c[y * n + x] = s;
}
template <int T, bool First, bool Second> __device__ void tiled(const float *a, const float *b, float *c, int n) {
  __shared__ float p[T][T], q[T][T];
  const int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
  float s = 0;
  for (int k = 0; k < n; k += T) {
    p[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    q[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    if (First) __syncthreads();
    for (int i = 0; i < T; ++i) s = fmaf(p[threadIdx.y][i], q[i][threadIdx.x], s);
    if (Second) __syncthreads();
  }
  c[y * n + x] = s;
}
KERNEL product_tiled16(const float *a, const float *b, float *c, int n) { tiled<16, true, true>(a, b, c, n); }
/* pair product-tiled-8 agree
kernel = "product"
grid = [3, 3]
block = [16, 16]
buffer = [{ name = "a", type = "f32", count = 1600, fill = "f32" }, { name = "b", type = "f32", count = 1600, fill = "f32", seed = 1 }, { name = "c", type = "f32", count = 1600 }]
argument = [{ buffer = "a" }, { buffer = "b" }, { buffer = "c" }, { value = 40 }]
second = { kernel = "product_tiled8", grid = [5, 5], block = [8, 8] }
end */
KERNEL product_tiled8(const float *a, const float *b, float *c, int n) { tiled<8, true, true>(a, b, c, n); }
/* pair product-first-barrier-missing differ
kernel = "product"
grid = [2, 2]
block = [16, 16]
buffer = [{ name = "a", type = "f32", count = 1024, fill = "f32" }, { name = "b", type = "f32", count = 1024, fill = "f32", seed = 1 }, { name = "c", type = "f32", count = 1024 }]
argument = [{ buffer = "a" }, { buffer = "b" }, { buffer = "c" }, { value = 32 }]
second = { kernel = "product_no_first" }
end */
KERNEL product_no_first(const float *a, const float *b, float *c, int n) { tiled<16, false, true>(a, b, c, n); }
/* pair product-second-barrier-missing differ
kernel = "product"
grid = [2, 2]
block = [16, 16]
buffer = [{ name = "a", type = "f32", count = 1024, fill = "f32" }, { name = "b", type = "f32", count = 1024, fill = "f32", seed = 1 }, { name = "c", type = "f32", count = 1024 }]
argument = [{ buffer = "a" }, { buffer = "b" }, { buffer = "c" }, { value = 32 }]
second = { kernel = "product_no_second" }
end */
KERNEL product_no_second(const float *a, const float *b, float *c, int n) { tiled<16, true, false>(a, b, c, n); }

/* pair product-registers agree
kernel = "product"
grid = [2, 2]
block = [16, 16]
buffer = [{ name = "a", type = "f32", count = 1024, fill = "f32" }, { name = "b", type = "f32", count = 1024, fill = "f32", seed = 1 }, { name = "c", type = "f32", count = 1024 }]
argument = [{ buffer = "b" }, { buffer = "a" }, { buffer = "c" }, { value = 32 }]
second = { kernel = "product_registers", grid = [1, 1], block = [8, 8], argument = [{ buffer = "c" }, { buffer = "b" }, { buffer = "a" }] }
end */
KERNEL product_registers(float *c, const float *a, const float *b) { // 4 x 4 results a thread
  __shared__ float p[32][9], q[8][33];
  float s[4][4] = {};
  const int t = threadIdx.y * 8 + threadIdx.x;
  for (int k = 0; k < 32; k += 8) {
    for (int i = t; i < 256; i += 64) {
      p[i / 8][i % 8] = a[i / 8 * 32 + k + i % 8];
      q[i / 32][i % 32] = b[(k + i / 32) * 32 + i % 32];
    }
    __syncthreads();
    for (int j = 0; j < 8; ++j)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x) s[y][x] = fmaf(p[threadIdx.y * 4 + y][j], q[j][threadIdx.x * 4 + x], s[y][x]);
    __syncthreads();
  }
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 4; ++x) c[(threadIdx.y * 4 + y) * 32 + threadIdx.x * 4 + x] = s[y][x];
}

template <bool Waits> __device__ void pipelined(const float *a, const float *b, float *c, int n) {
  __shared__ float p[2][16][16], q[2][16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  const auto fetch = [&](int k) {
    const int slot = k / 16 % 2;
    __pipeline_memcpy_async(&p[slot][ty][tx], &a[y * n + k + tx], 4);
    __pipeline_memcpy_async(&q[slot][ty][tx], &b[(k + ty) * n + x], 4);
    __pipeline_commit();
  };
  float s = 0;
  fetch(0);
  for (int k = 0; k < n; k += 16) {
    if (k + 16 < n) fetch(k + 16);
    if (Waits) __pipeline_wait_prior(k + 16 < n ? 1 : 0);
    __syncthreads();
    for (int i = 0; i < 16; ++i) s = fmaf(p[k / 16 % 2][ty][i], q[k / 16 % 2][i][tx], s);
    __syncthreads();
  }
  c[y * n + x] = s;
}
/* pair product-pipelined agree
kernel = "product"
grid = [3, 3]
block = [16, 16]
buffer = [{ name = "a", type = "f32", count = 2304, fill = "f32" }, { name = "b", type = "f32", count = 2304, fill = "f32", seed = 1 }, { name = "c", type = "f32", count = 2304 }]
argument = [{ buffer = "a" }, { buffer = "b" }, { buffer = "c" }, { value = 48 }]
second = { kernel = "product_pipelined" }
end */
KERNEL product_pipelined(const float *a, const float *b, float *c, int n) { pipelined<true>(a, b, c, n); }
/* pair product-pipelined-without-wait differ
kernel = "product"
grid = [3, 3]
block = [16, 16]
buffer = [{ name = "a", type = "f32", count = 2304, fill = "f32" }, { name = "b", type = "f32", count = 2304, fill = "f32", seed = 1 }, { name = "c", type = "f32", count = 2304 }]
argument = [{ buffer = "a" }, { buffer = "b" }, { buffer = "c" }, { value = 48 }]
second = { kernel = "product_pipelined_no_wait" }
end */
KERNEL product_pipelined_no_wait(const float *a, const float *b, float *c, int n) { pipelined<false>(a, b, c, n); }

/* pair product-wmma agree --reassociate
kernel = "product_half"
grid = [2, 2]
block = [16, 16]
buffer = [{ name = "a", type = "f16", count = 1024, range = [-1.0, 1.0] }, { name = "b", type = "f16", count = 1024, range = [-1.0, 1.0], seed = 1 }, { name = "c", type = "f32", count = 1024 }]
argument = [{ buffer = "a" }, { buffer = "b" }, { buffer = "c" }, { value = 32 }]
second = { kernel = "product_wmma", block = [32] }
end */
KERNEL product_half(const half *a, const half *b, float *c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0;
  for (int k = 0; k < n; ++k) s = fmaf(__half2float(a[y * n + k]), __half2float(b[k * n + x]), s);
  c[y * n + x] = s;
}
template <class Layout> __device__ void wmma_product(const half *a, const half *b, float *c, int n) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> p;
  fragment<matrix_b, 16, 16, 16, half, Layout> q;
  fragment<accumulator, 16, 16, 16, float> s;
  fill_fragment(s, 0.0f);
  for (int k = 0; k < n; k += 16) {
    load_matrix_sync(p, a + blockIdx.y * 16 * n + k, n);
    load_matrix_sync(q, b + k * n + blockIdx.x * 16, n);
    mma_sync(s, p, q, s);
  }
  store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, s, n, mem_row_major);
}
KERNEL product_wmma(const half *a, const half *b, float *c, int n) { wmma_product<nvcuda::wmma::row_major>(a, b, c, n); }
/* pair product-wmma-wrong-layout differ --rtol 1e-3 --atol 1e-3
kernel = "product_half"
grid = [1, 1]
block = [16, 16]
buffer = [{ name = "a", type = "f16", count = 256, range = [-1.0, 1.0] }, { name = "b", type = "f16", count = 256, range = [-1.0, 1.0], seed = 1 }, { name = "c", type = "f32", count = 256 }]
argument = [{ buffer = "a" }, { buffer = "b" }, { buffer = "c" }, { value = 16 }]
second = { kernel = "product_wmma_col", block = [32] }
end */
KERNEL product_wmma_col(const half *a, const half *b, float *c, int n) { wmma_product<nvcuda::wmma::col_major>(a, b, c, n); }

/* pair product-mma agree --reassociate
kernel = "product_half_transposed"
grid = [1, 1]
block = [8, 16]
buffer = [{ name = "a", type = "f16", count = 512, range = [-1.0, 1.0] }, { name = "b", type = "f16", count = 256, range = [-1.0, 1.0], seed = 1 }, { name = "c", type = "f32", count = 128 }]
argument = [{ buffer = "a" }, { buffer = "b" }, { buffer = "c" }]
second = { kernel = "product_mma", block = [32] }
end */
KERNEL product_half_transposed(const half *a, const half *b, float *c) {
  float s = 0;
  for (int k = 0; k < 32; ++k) s = fmaf(__half2float(a[threadIdx.y * 32 + k]), __half2float(b[threadIdx.x * 32 + k]), s);
  c[threadIdx.y * 8 + threadIdx.x] = s;
}
template <bool Swapped> __device__ void mma_product(const half *a, const half *b, float *c) {
  __shared__ __align__(16) half tile[16][32];
  const int lane = threadIdx.x, group = lane / 4, place = lane % 4;
  for (int i = lane; i < 512; i += 32) tile[i / 32][i % 32] = a[i];
  __syncwarp();
  float s[4] = {};
  for (int k = 0; k < 32; k += 16) {
    unsigned p[4], q[2];
    const auto row = static_cast<unsigned>(__cvta_generic_to_shared(&tile[lane % 16][k + lane / 16 * 8]));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(p[0]), "=r"(p[1]), "=r"(p[2]), "=r"(p[3]) : "r"(row));
    q[0] = *reinterpret_cast<const unsigned *>(&b[group * 32 + k + place * 2]);
    q[1] = *reinterpret_cast<const unsigned *>(&b[group * 32 + k + place * 2 + 8]);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                 : "r"(p[0]), "r"(p[Swapped ? 2 : 1]), "r"(p[Swapped ? 1 : 2]), "r"(p[3]), "r"(q[0]), "r"(q[1]));
  }
  for (int i = 0; i < 4; ++i) c[(group + i / 2 * 8) * 8 + place * 2 + i % 2] = s[i];
}
KERNEL product_mma(const half *a, const half *b, float *c) { mma_product<false>(a, b, c); }
/* pair product-mma-swapped-registers differ --reassociate
kernel = "product_half_transposed"
grid = [1, 1]
block = [8, 16]
buffer = [{ name = "a", type = "f16", count = 512, range = [-1.0, 1.0] }, { name = "b", type = "f16", count = 256, range = [-1.0, 1.0], seed = 1 }, { name = "c", type = "f32", count = 128 }]
argument = [{ buffer = "a" }, { buffer = "b" }, { buffer = "c" }]
second = { kernel = "product_mma_swapped", block = [32] }
end */
KERNEL product_mma_swapped(const half *a, const half *b, float *c) { mma_product<true>(a, b, c); }

/* pair transpose agree
kernel = "transpose"
grid = [3, 3]
block = [16, 16]
buffer = [{ name = "in", type = "f32", count = 2304, fill = "random" }, { name = "out", type = "f32", count = 2304 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "transpose_tile", block = [16, 4] }
end */
KERNEL transpose(const float *in, float *out) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[x * 48 + y] = in[y * 48 + x];
}
template <int Width> __device__ void transpose_by(const float *in, float *out) {
  __shared__ float tile[16][Width];
  for (int i = threadIdx.y; i < 16; i += 4)
    tile[i][threadIdx.x] = in[(blockIdx.y * 16 + i) * 48 + blockIdx.x * 16 + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < 16; i += 4)
    out[(blockIdx.x * 16 + i) * 48 + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][i];
}
KERNEL transpose_tile(const float *in, float *out) { transpose_by<17>(in, out); }
/* pair transpose-narrow-tile differ
kernel = "transpose"
grid = [3, 3]
block = [16, 16]
buffer = [{ name = "in", type = "f32", count = 2304, fill = "random" }, { name = "out", type = "f32", count = 2304 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "transpose_narrow", block = [16, 4] }
end */
KERNEL transpose_narrow(const float *in, float *out) { transpose_by<15>(in, out); }

/* pair vector agree --reassociate
kernel = "times_vector"
grid = [2]
block = [32]
buffer = [{ name = "a", type = "f32", count = 4096, fill = "f32" }, { name = "x", type = "f32", count = 64, fill = "f32", seed = 1 }, { name = "y", type = "f32", count = 64 }]
argument = [{ buffer = "a" }, { buffer = "x" }, { buffer = "y" }]
second = { kernel = "times_vector_block", grid = [64], block = [64] }
end */
KERNEL times_vector(const float *a, const float *x, float *y) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  float s = 0;
  for (int i = 0; i < 64; ++i) s += a[row * 64 + i] * x[i];
  y[row] = s;
}
KERNEL times_vector_block(const float *a, const float *x, float *y) {
  __shared__ float part[64];
  part[threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x] * x[threadIdx.x];
  for (int d = 32; d > 0; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
  }
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
