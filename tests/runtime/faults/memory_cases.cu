// Accesses out of bounds and their like.
#include "cases.h"

template <bool bad> __global__ void stencil(float *to, const float *from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < (bad ? n : n - 1))
    to[i] = from[i - 1] + from[i + 1]; // FAULT 1
}
static void case_stencil(bool bad) {
  float *p, *q;
  cudaMalloc(&p, 400); // MADE 1
  cudaMalloc(&q, 400);
  cudaMemset(p, 0, 400);
  LAUNCH(stencil, 1, 128, q, p, 100);
}

template <bool bad> __global__ void transpose(int *to, const int *from, int w, int h) {
  const int x = threadIdx.x, y = threadIdx.y;
  if (x < w && y < h)
    to[bad ? y * w + x * h : x * h + y] = from[y * w + x]; // FAULT 2
}
static void case_transpose(bool bad) {
  int *p, *q;
  cudaMalloc(&p, 8 * 16 * 4);
  cudaMalloc(&q, 8 * 16 * 4); // MADE 2
  cudaMemset(p, 0, 8 * 16 * 4);
  LAUNCH(transpose, 1, dim3(8, 16), q, p, 8, 16);
}

template <bool bad> __global__ void backwards(char *p, int n) {
  for (int i = n - 1; i >= (bad ? -1 : 0); --i)
    p[i] = 1; // FAULT 3
}
static void case_backwards(bool bad) {
  char *p;
  cudaMalloc(&p, 33); // MADE 3
  LAUNCH(backwards, 1, 1, p, 33);
}

template <bool bad> __global__ void vector_load(float *to, const float *from) {
  const float4 v = *reinterpret_cast<const float4 *>(from + (bad ? 2 : 4)); // FAULT 4
  to[0] = v.x + v.w;
}
static void case_vector(bool bad) {
  float *p, *q;
  cudaMalloc(&p, 64); // MADE 4
  cudaMalloc(&q, 64);
  cudaMemset(p, 0, 64);
  LAUNCH(vector_load, 1, 1, q, p);
}

template <bool bad> __global__ void tile(int *to, int at) {
  __shared__ int corner[8][8];
  corner[threadIdx.y][threadIdx.x] = 1;
  __syncthreads();
  to[threadIdx.x] = corner[threadIdx.y + (bad ? at : 0)][threadIdx.x]; // FAULT 5 VARIABLE corner
}
static void case_tile(bool bad) {
  int *p;
  cudaMalloc(&p, 256);
  LAUNCH(tile, 1, dim3(8, 1), p, bad ? 8 : 0);
}

__constant__ float weights[5] = {1, 2, 3, 4, 5};
template <bool bad> __global__ void weighted(float *to, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += weights[i]; // FAULT 6 VARIABLE weights
  *to = sum;
}
static void case_weighted(bool bad) {
  float *p;
  cudaMalloc(&p, 4);
  LAUNCH(weighted, 1, 1, p, bad ? 6 : 5);
}

__device__ int table[16];
template <bool bad> __global__ void scatter(int n) {
  if (threadIdx.x < n)
    table[threadIdx.x] = 1; // FAULT 7 VARIABLE table
}
static void case_scatter(bool bad) { LAUNCH(scatter, 1, 32, bad ? 17 : 16); }

template <bool bad> __global__ void count(int *bins, const int *keys) {
  atomicAdd(&bins[keys[threadIdx.x]], 1); // FAULT 8
}
static void case_count(bool bad) {
  int *bins, *keys, host[32] = {};
  host[9] = bad ? 10 : 9;
  cudaMalloc(&bins, 40); // MADE 8
  cudaMalloc(&keys, sizeof host);
  cudaMemset(bins, 0, 40);
  cudaMemcpy(keys, host, sizeof host, cudaMemcpyHostToDevice);
  LAUNCH(count, 1, 32, bins, keys);
}

template <bool bad> __global__ void use(int *p) {
  p[threadIdx.x] += 1; // FAULT 9 10
}
static void case_after_free(bool bad) {
  int *p;
  cudaMallocAsync(&p, 128, nullptr); // MADE 9
  cudaMemset(p, 0, 128);
  if (bad)
    cudaFreeAsync(p, nullptr);
  LAUNCH(use, 1, 32, p);
}
static void case_host(bool bad) {
  int *const host = static_cast<int *>(std::calloc(32, 4));
  if (!bad)
    cudaHostRegister(host, 128, 0);
  LAUNCH(use, 1, 32, host);
}

template <bool bad> __global__ void rows(char *p, std::size_t pitch, int height) {
  for (int y = 0; y < height; ++y)
    p[y * pitch + threadIdx.x] = 1; // FAULT 11
}
static void case_rows(bool bad) {
  char *p;
  std::size_t pitch;
  cudaMallocPitch(&p, &pitch, 30, 4); // MADE 11
  LAUNCH(rows, 1, 30, p, pitch, bad ? 5 : 4);
}

struct Node {
  Node *next;
  int value;
};
template <bool bad> __global__ void walk(Node *nodes, int n, int *sum) {
  for (int i = 0; i < n; ++i) {
    nodes[i].next = i + 1 < n ? nodes + i + 1 : nullptr;
    nodes[i].value = i;
  }
  for (Node *node = nodes; bad || node; node = node->next) // FAULT 12
    *sum += node->value;                                   // FAULT 12
}
static void case_walk(bool bad) {
  Node *nodes;
  int *sum;
  cudaMalloc(&nodes, 4 * sizeof(Node));
  cudaMalloc(&sum, 4);
  cudaMemset(sum, 0, 4);
  LAUNCH(walk, 1, 1, nodes, 4, sum);
}

int main(int argc, char **argv) {
  const Case cases[] = {case_stencil, case_transpose, case_backwards, case_vector,     case_tile, case_weighted,
                        case_scatter, case_count,     case_after_free, case_host, case_rows, case_walk};
  return run_case(cases, argc, argv);
}
