// VARIANTS: -arch=sm_90a | -arch=sm_100a -lineinfo
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1)
    exchange(const __grid_constant__ CUtensorMap map, float *out) {
  __shared__ alignas(128) float tile[32][32];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, 0, 32, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  float *other = cluster.map_shared_rank(&tile[0][0], cluster.block_rank() ^ 1);
  cluster.sync();
  out[threadIdx.x] = other[threadIdx.x];
  cudaGridDependencySynchronize();
  cluster.sync();
}
