// VARIANTS: -arch=sm_80 | -arch=sm_90 | -arch=sm_120
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

__global__ void stages(const float *in, float *out, int n) {
  __shared__ float buffer[2][256];
  auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(block, &state);
  for (int i = 0; i < n; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, buffer[i & 1], in + i * 256, cuda::aligned_size_t<16>(1024), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    out[i * 256 + threadIdx.x] = buffer[i & 1][255 - threadIdx.x];
    pipe.consumer_release();
  }
}

__global__ void barrier(const int *in, int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int data[128];
  if (threadIdx.x == 0)
    init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(data + threadIdx.x, in + threadIdx.x, sizeof(int), bar);
  bar.arrive_and_wait();
  out[threadIdx.x] = data[127 - threadIdx.x];
}
