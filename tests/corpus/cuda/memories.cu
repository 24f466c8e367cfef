// VARIANTS: -arch=sm_75 | -arch=sm_90 | -arch=sm_90 -rdc=true -G
#include <cuda/atomic>

__constant__ float weights[4][4] = {{1, 2, 3, 4}, {0.5f}};
__managed__ int counter = 7;
__device__ const char *const names[] = {"one", "two", "three"};
__device__ int table[100], *pointer = table + 5;
extern __shared__ double dynamic[];
struct alignas(16) Big {
  double d[5];
  char c;
};

__global__ void __launch_bounds__(256, 2)
    spaces(const Big *__restrict__ in, Big *out, const __grid_constant__ Big by_value) {
  __shared__ float tile[16][17];
  float local[32];
  for (int i = 0; i < 32; ++i)
    local[i] = in[i].d[i % 5];
  tile[threadIdx.y][threadIdx.x] = local[threadIdx.x & 31] * weights[threadIdx.x & 3][1];
  __syncthreads();
  dynamic[threadIdx.x] = tile[threadIdx.x][threadIdx.y] + by_value.d[threadIdx.x % 5];
  cuda::atomic_ref<int, cuda::thread_scope_device>(table[threadIdx.x])
      .fetch_add(*pointer, cuda::memory_order_release);
  atomicCAS_system(&counter, 1, names[threadIdx.x % 3][0]);
  __threadfence();
  out[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x].c = __ldg(&in->c);
}
