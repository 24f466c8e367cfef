// Can a row be shared between lanes without a corner load for each distance? Sums over (2R+1) x
// (2R+1) points, R from 1 to 4, in several forms of the same sum, each bit for bit the same where
// it is right:
//
//   direct     2R+1 loads a row: what a compiler writes
//   corners    one load a row and a shuffle for each other point, with a load for the lanes that
//   have no
//              neighbour at that distance: the rewrite of the paper, distances from the middle
//   extra      two loads a row, of the warp's own 32 points from the left end on and, in 2R lanes,
//   of
//              those behind them; every point is a select and a shuffle, and none needs a load of
//              its own
//   no-corner  as corners without the corner loads: wrong at the ends of a warp, only timed
//   wide       four neighbouring points by one thread, rows read by three aligned 128-bit loads:
//   what the
//              siblings of docs/internals/siblings.md do
//
//     corners [POINTS]     prints a line a radius, block shape and form: median of 21 launches, and
//     the
//                          words that differ from `direct`
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

enum class Form { direct, corners, extra, no_corner, wide };

/// The row's points x - R .. x + R into `tap`, for a warp whose lanes all take part if they share.
template <Form form, int R>
__device__ __forceinline__ void row(const float *from, int x, int lane, float (&tap)[2 * R + 1]) {
  if constexpr (form == Form::direct) {
#pragma unroll
    for (int d = 0; d <= 2 * R; d++)
      tap[d] = from[x - R + d];
  } else if constexpr (form == Form::extra) {
    const float own = from[x - R];
    const float behind = lane < 2 * R ? from[x - R + 32] : 0.0f;
    tap[0] = own;
#pragma unroll
    for (int d = 1; d <= 2 * R; d++)
      tap[d] = __shfl_sync(~0u, lane < d ? behind : own, lane + d);
  } else {
    const float middle = from[x];
    tap[R] = middle;
#pragma unroll
    for (int d = 1; d <= R; d++) {
      tap[R - d] = __shfl_up_sync(~0u, middle, d);
      tap[R + d] = __shfl_down_sync(~0u, middle, d);
      if (form == Form::corners && lane < d)
        tap[R - d] = from[x - d];
      if (form == Form::corners && lane > 31 - d)
        tap[R + d] = from[x + d];
    }
  }
}

/// The sum of a point; `form` is direct where a warp has gaps.
template <Form form, int R>
__device__ __forceinline__ float sum_of(const float *in, int n, int x, int y) {
  float sum = 0;
#pragma unroll
  for (int m = -R; m <= R; m++) {
    float tap[2 * R + 1];
    row<form, R>(in + (y + m) * n, x, threadIdx.x % 32, tap);
#pragma unroll
    for (int d = 0; d <= 2 * R; d++)
      sum += tap[d];
  }
  return sum;
}

template <Form form, int R> __global__ void box(const float *in, float *out, int n) {
  const int x = R + blockIdx.x * blockDim.x + threadIdx.x;
  const int y = R + blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n - R || y >= n - R)
    return;
  // As the rewrite: only warps without gaps share, the others load. One branch, so that all rows'
  // loads can be under way together.
  out[y * n + x] = form == Form::direct || __activemask() == ~0u
                       ? sum_of<form, R>(in, n, x, y)
                       : sum_of<Form::direct, R>(in, n, x, y);
}

/// Points 4t to 4t + 3 of a row; those that are not in the core are not written.
template <int R> __global__ void wide(const float *in, float *out, int n) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int y = R + blockIdx.y * blockDim.y + threadIdx.y;
  if (first >= n || y >= n - R)
    return;
  float sum[4] = {};
#pragma unroll
  for (int m = -R; m <= R; m++) {
    const float *from = in + (y + m) * n + first;
    float4 part[3];
    part[0] = first ? *reinterpret_cast<const float4 *>(from - 4) : float4{};
    part[1] = *reinterpret_cast<const float4 *>(from);
    part[2] = first + 4 < n ? *reinterpret_cast<const float4 *>(from + 4) : float4{};
    const float *points = &part[0].x;
#pragma unroll
    for (int p = 0; p < 4; p++)
#pragma unroll
      for (int d = -R; d <= R; d++)
        sum[p] += points[4 + p + d];
  }
  float *to = out + y * n + first;
  if (first >= R && first + 3 < n - R)
    *reinterpret_cast<float4 *>(to) = float4{sum[0], sum[1], sum[2], sum[3]};
  else
    for (int p = 0; p < 4; p++)
      if (first + p >= R && first + p < n - R)
        to[p] = sum[p];
}

__global__ void fill(float *values, size_t count, bool same) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count;
       i += size_t{gridDim.x} * blockDim.x)
    values[i] = same ? 0.0f : 0.5f + (i * 2654435761u % 65536) / 65536.0f;
}

__global__ void differ(const unsigned *a, const unsigned *b, size_t count, unsigned *words) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count;
       i += size_t{gridDim.x} * blockDim.x)
    if (a[i] != b[i])
      atomicAdd(words, 1);
}

void check(cudaError_t error) {
  if (error == cudaSuccess)
    return;
  std::fprintf(stderr, "corners: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

struct Bench {
  int n = 0;
  float *in = nullptr, *expected = nullptr, *out = nullptr;
  unsigned *words = nullptr;

  template <class Kernel> double launch(Kernel kernel, dim3 grid, dim3 block, float *to) const {
    cudaEvent_t start, end;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&end));
    std::vector<float> times;
    for (int round = 0; round < 24; round++) {
      check(cudaEventRecord(start));
      kernel<<<grid, block>>>(in, to, n);
      check(cudaEventRecord(end));
      check(cudaEventSynchronize(end));
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, start, end));
      if (round >= 3)
        times.push_back(milliseconds);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  template <class Kernel>
  void measure(const char *name, int radius, Kernel kernel, int each, dim3 block,
               double base) const {
    const size_t count = size_t(n) * n;
    const int points = each > 1 ? n / each : n - 2 * radius;
    const dim3 grid((points + block.x - 1) / block.x, (n - 2 * radius + block.y - 1) / block.y);
    fill<<<1024, 256>>>(out, count, true);
    const double time = launch(kernel, grid, block, out);
    check(cudaMemset(words, 0, sizeof *words));
    differ<<<1024, 256>>>(reinterpret_cast<unsigned *>(expected), reinterpret_cast<unsigned *>(out),
                          count, words);
    unsigned different = 0;
    check(cudaMemcpy(&different, words, sizeof different, cudaMemcpyDeviceToHost));
    std::printf("%d %ux%u %-9s %8.4f ms %6.3f  %u words differ\n", radius, block.x, block.y, name,
                time, base / time, different);
  }

  template <int R> void radius() const {
    for (const dim3 block : {dim3(512, 1), dim3(128, 1), dim3(32, 16)}) {
      const dim3 grid((n - 2 * R + block.x - 1) / block.x, (n - 2 * R + block.y - 1) / block.y);
      fill<<<1024, 256>>>(expected, size_t(n) * n, true);
      const double base = launch(box<Form::direct, R>, grid, block, expected);
      measure("direct", R, box<Form::direct, R>, 1, block, base);
      measure("corners", R, box<Form::corners, R>, 1, block, base);
      measure("extra", R, box<Form::extra, R>, 1, block, base);
      measure("no-corner", R, box<Form::no_corner, R>, 1, block, base);
      measure("wide", R, wide<R>, 4, block, base);
    }
  }
};

} // namespace

int main(int argc, char **argv) {
  Bench bench;
  bench.n = argc > 1 ? std::atoi(argv[1]) : 16384;
  if (bench.n < 64 || bench.n > 32768 || bench.n % 4) {
    std::fprintf(stderr, "corners: the points of a side are 64 to 32768, divisible by 4\n");
    return 2;
  }
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0));
  const size_t bytes = size_t(bench.n) * bench.n * sizeof(float);
  check(cudaMalloc(&bench.in, bytes));
  check(cudaMalloc(&bench.expected, bytes));
  check(cudaMalloc(&bench.out, bytes));
  check(cudaMalloc(&bench.words, sizeof(unsigned)));
  fill<<<1024, 256>>>(bench.in, bytes / sizeof(float), false);
  std::printf("%s, %d x %d points: radius, block, form, time, speed-up over direct\n", device.name,
              bench.n, bench.n);
  bench.radius<1>();
  bench.radius<2>();
  bench.radius<3>();
  bench.radius<4>();
  check(cudaDeviceSynchronize());
  return 0;
}
