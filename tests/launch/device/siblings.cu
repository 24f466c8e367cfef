// Kernels as people write them, each with a sibling written by hand, and a host program that knows
// nothing of those. Without words it says what it can do.
// [STEPS]].

#include "check.h"
#include "table.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

extern "C" __global__ void stream(const float *in, float *out, int n, float a, float b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = a * in[i] + b;
}

extern "C" __global__ void stream__ptxasw_retile_apart_x4(const float *in, float *out, int n,
                                                          float a, float b, unsigned grid) {
  float value[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    int i = (blockIdx.x * 4 + k) * blockDim.x + threadIdx.x;
    if (blockIdx.x * 4 + k < grid && i < n)
      value[k] = in[i];
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    int i = (blockIdx.x * 4 + k) * blockDim.x + threadIdx.x;
    if (blockIdx.x * 4 + k < grid && i < n)
      out[i] = a * value[k] + b;
  }
}
TABLE(stream,
      "{\"kernel\":\"stream\",\"hash\":\"00000000000000a1\",\"parameters\":[[0,8],[8,8],[16,4],"
      "[20,4],[24,4]],\"siblings\":[{\"name\":\"stream__ptxasw_retile_apart_x4\",\"family\":"
      "\"retile\",\"kind\":\"apart\",\"grid\":[4,1,1],\"append\":[\"grid.x\"],\"needs\":{" NEVER
      "}}]}")

extern "C" __global__ void heat(const float *now, float *next, int nx, int ny, float k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
    int i = y * nx + x;
    next[i] = now[i] + k * (now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx] - 4 * now[i]);
  }
}

extern "C" __global__ void heat__ptxasw_retile_x4y2(const float *now, float *next, int nx, int ny,
                                                    float k, unsigned grid_x, unsigned grid_y) {
  int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  int y = (blockIdx.y * blockDim.y + threadIdx.y) * 2;
  int right = min(nx - 1, static_cast<int>(grid_x * blockDim.x));
  int below = min(ny - 1, static_cast<int>(grid_y * blockDim.y));
  if (x > 0 && x + 3 < right && y > 0 && y + 1 < below) {
    float rows[4][4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      float4 row = *reinterpret_cast<const float4 *>(now + (y + r - 1) * nx + x);
      rows[r][0] = row.x, rows[r][1] = row.y, rows[r][2] = row.z, rows[r][3] = row.w;
    }
    float left[2], after[2];
#pragma unroll
    for (int r = 0; r < 2; ++r)
      left[r] = now[(y + r) * nx + x - 1], after[r] = now[(y + r) * nx + x + 4];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float result[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        float before = c ? rows[r + 1][c - 1] : left[r],
              behind = c < 3 ? rows[r + 1][c + 1] : after[r];
        result[c] = rows[r + 1][c] +
                    k * (before + behind + rows[r][c] + rows[r + 2][c] - 4 * rows[r + 1][c]);
      }
      *reinterpret_cast<float4 *>(next + (y + r) * nx + x) =
          make_float4(result[0], result[1], result[2], result[3]);
    }
    return;
  }
  for (int r = 0; r < 2; ++r)
    for (int c = 0; c < 4; ++c)
      if (x + c > 0 && x + c < right && y + r > 0 && y + r < below) {
        int i = (y + r) * nx + x + c;
        next[i] = now[i] + k * (now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx] - 4 * now[i]);
      }
}
TABLE(
    heat,
    "{\"kernel\":\"heat\",\"hash\":\"00000000000000a2\",\"parameters\":[[0,8],[8,8],[16,4],[20,4],"
    "[24,4]],\"siblings\":[{\"name\":\"heat__ptxasw_retile_x4y2\",\"family\":\"retile\",\"kind\":"
    "\"neighbours\",\"grid\":[4,2,1],\"append\":[\"grid.x\",\"grid.y\"],\"needs\":{\"align\":["
    "[0,0,16],[1,0,16]],\"divisible\":[[2,0,4,4]]," NEVER "}}]}")

extern "C" __global__ void wrong(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 2 * in[i];
}
extern "C" __global__ void wrong__ptxasw_sum(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = i == 12345 ? 7 : 2 * in[i];
}
TABLE(
    wrong,
    "{\"kernel\":\"wrong\",\"hash\":\"00000000000000a3\",\"parameters\":[[0,8],[8,8],[16,4]],"
    "\"siblings\":[{\"name\":\"wrong__ptxasw_sum\",\"family\":\"none\",\"kind\":\"none\",\"grid\":"
    "[1,1,1],\"append\":[],\"needs\":{" NEVER "}}]}")

// A sibling of equal code, and one that is slower: neither may ever be chosen.
extern "C" __global__ void equal(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 3 * in[i];
}
extern "C" __global__ void equal__ptxasw_same(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 3 * in[i];
}
TABLE(
    equal,
    "{\"kernel\":\"equal\",\"hash\":\"00000000000000a4\",\"parameters\":[[0,8],[8,8],[16,4]],"
    "\"siblings\":[{\"name\":\"equal__ptxasw_same\",\"family\":\"none\",\"kind\":\"none\",\"grid\":"
    "[1,1,1],\"append\":[],\"needs\":{" NEVER "}}]}")

extern "C" __global__ void slow(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 5 * in[i];
}
extern "C" __global__ void slow__ptxasw_twice(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    *static_cast<volatile float *>(out + i) = *static_cast<const volatile float *>(in + n - 1 - i);
    out[i] = 5 * in[i];
  }
}
TABLE(
    slow,
    "{\"kernel\":\"slow\",\"hash\":\"00000000000000a5\",\"parameters\":[[0,8],[8,8],[16,4]],"
    "\"siblings\":[{\"name\":\"slow__ptxasw_twice\",\"family\":\"none\",\"kind\":\"none\",\"grid\":"
    "[1,1,1],\"append\":[],\"needs\":{" NEVER "}}]}")

extern "C" __global__ void plain(float *out, int n) {
  if (threadIdx.x == 0)
    out[blockIdx.x] = n;
}

namespace {

using Clock = std::chrono::steady_clock;

/// Nanoseconds of the host for each of many launches: the best of many runs, of a machine that has
/// other things to do.
template <typename Launch> double cost(Launch launch) {
  double best = 1e9;
  for (int run = 0; run < 200; ++run) {
    CHECK(cudaDeviceSynchronize());
    const auto start = Clock::now();
    for (int i = 0; i < 100; ++i)
      launch();
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count() / 100);
  }
  return best;
}

template <typename Launch> double first_launch(Launch launch) {
  CHECK(cudaDeviceSynchronize());
  const auto start = Clock::now();
  launch();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

void overhead() {
  float *a = zeros<float>(4096), *b = zeros<float>(4096);
  const auto with = [&] { stream<<<4, 32>>>(a, b, 128, 1, 2); };
  const auto without = [&] { plain<<<4, 32>>>(b, 128); };
  std::printf("first_without_us %.1f\n", first_launch(without));
  std::printf("first_with_us %.1f\n", first_launch(with));
  std::printf("first_heat_us %.1f\n", first_launch([&] { heat<<<1, 32>>>(a, b, 8, 8, 1); }));
  for (int i = 0; i < 2000; ++i) { // until a choice is made
    with();
    CHECK(cudaDeviceSynchronize());
  }
  std::printf("launch_without_ns %.0f\n", cost(without));
  std::printf("launch_with_ns %.0f\n", cost(with));
}

void graph(int n) {
  float *a = random_numbers<float>(n), *b = zeros<float>(n);
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  cudaGraph_t graph;
  cudaGraphExec_t runnable;
  // Captured before anything was launched.
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 20; ++i)
    stream<<<(n + 255) / 256, 256, 0, s>>>(i % 2 ? b : a, i % 2 ? a : b, n, 1.01f, 0.1f);
  CHECK(cudaStreamEndCapture(s, &graph));
  cudaGraphNode_t nodes[20];
  std::size_t count = 20;
  CHECK(cudaGraphGetNodes(graph, nodes, &count));
  cudaKernelNodeParams parameters;
  CHECK(cudaGraphKernelNodeGetParams(nodes[0], &parameters));
  std::printf("node_is_original %d grid %u\n", parameters.func == reinterpret_cast<void *>(&stream),
              parameters.gridDim.x);
  CHECK(cudaGraphInstantiate(&runnable, graph, 0));
  const auto replay = [&](const char *what) {
    for (int i = 0; i < 5; ++i)
      CHECK(cudaGraphLaunch(runnable, s));
    CHECK(cudaStreamSynchronize(s));
    std::printf("%s: ", what);
    print_hash(a, n);
  };
  replay("as captured");
  // The parameters as they were told, set again: in what runs, and in the graph.
  CHECK(cudaGraphExecKernelNodeSetParams(runnable, nodes[0], &parameters));
  replay("set in what runs");
  CHECK(cudaGraphKernelNodeSetParams(nodes[0], &parameters));
  CHECK(cudaGraphExecDestroy(runnable));
  CHECK(cudaGraphInstantiate(&runnable, graph, 0));
  replay("set in the graph");
}

void threads(int n) {
  std::vector<std::thread> all;
  std::vector<float *> results(8);
  for (int t = 0; t < 8; ++t)
    all.emplace_back([&, t] {
      float *a = random_numbers<float>(n, t), *b = zeros<float>(n);
      cudaStream_t s;
      CHECK(cudaStreamCreate(&s));
      for (int i = 0; i < 500; ++i)
        stream<<<(n + 255) / 256, 256, 0, s>>>(i % 2 ? b : a, i % 2 ? a : b, n, 0.99f, 0.1f);
      CHECK(cudaStreamSynchronize(s));
      results[t] = a;
    });
  for (std::thread &thread : all)
    thread.join();
  for (float *result : results)
    print_hash(result, n);
}

} // namespace

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  const auto number = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  if (!std::strcmp(what, "stream")) {
    const int n = number(2, 1 << 26);
    float *a = random_numbers<float>(n), *b = zeros<float>(n);
    timed(number(3, 300), [&] { stream<<<(n + 255) / 256, 256>>>(a, b, n, 1.5f, 0.25f); });
    print_hash(b, n);
  } else if (!std::strcmp(what, "heat")) {
    const int n = number(2, 8192);
    float *a = random_numbers<float>(static_cast<std::size_t>(n) * n),
          *b = zeros<float>(static_cast<std::size_t>(n) * n);
    const dim3 block(32, 8), grid((n + 31) / 32, (n + 7) / 8);
    timed(number(3, 300) / 2, [&] {
      heat<<<grid, block>>>(a, b, n, n, 0.1f);
      heat<<<grid, block>>>(b, a, n, n, 0.1f);
    });
    print_hash(a, static_cast<std::size_t>(n) * n);
  } else if (!std::strcmp(what, "wrong")) {
    const int n = number(2, 1 << 20);
    float *a = random_numbers<float>(n), *b = zeros<float>(n);
    timed(number(3, 3), [&] { wrong<<<(n + 255) / 256, 256>>>(a, b, n); });
    print_hash(b, n);
  } else if (!std::strcmp(what, "equal") || !std::strcmp(what, "slow")) {
    const int n = number(2, 1 << 26);
    float *a = random_numbers<float>(n), *b = zeros<float>(n);
    timed(number(3, 195),
          [&] { (*what == 'e' ? equal : slow)<<<(n + 255) / 256, 256>>>(a, b, n); });
    print_hash(b, n);
  } else if (!std::strcmp(what, "overhead")) {
    overhead();
  } else if (!std::strcmp(what, "graph")) {
    graph(number(2, 1 << 20));
  } else if (!std::strcmp(what, "threads")) {
    threads(number(2, 1 << 16));
  } else {
    std::fprintf(stderr, "usage: siblings stream | heat | wrong | equal | slow | overhead | graph "
                         "| threads [N [STEPS]]\n");
    return 2;
  }
}
