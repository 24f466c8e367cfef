// VARIANTS: -arch=sm_75 | -arch=sm_90 | -arch=sm_80 -G
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

__global__ void scan(const int *in, int *out, int *sum) {
  using Load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, 128>;
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ union {
    Load::TempStorage load;
    Scan::TempStorage scan;
    Reduce::TempStorage reduce;
  } storage;
  int items[4];
  Load(storage.load).Load(in + blockIdx.x * 512, items);
  __syncthreads();
  Scan(storage.scan).ExclusiveSum(items, items);
  __syncthreads();
  const int total = Reduce(storage.reduce).Sum(items);
  for (int i = 0; i < 4; ++i)
    out[blockIdx.x * 512 + threadIdx.x * 4 + i] = items[i];
  if (threadIdx.x == 0)
    atomicAdd(sum, total);
}
