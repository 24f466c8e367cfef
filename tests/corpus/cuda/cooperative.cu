// VARIANTS: -arch=sm_75 | -arch=sm_90 -lineinfo | -arch=sm_80 -rdc=true | -arch=sm_90 -G
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void groups(const float *in, float *out, int n) {
  const auto grid = cg::this_grid();
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  float sum = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size())
    sum += in[i];
  sum = cg::reduce(tile, sum, cg::plus<float>());
  const int rank = cg::exclusive_scan(tile, int(sum > 0));
  grid.sync();
  const auto active = cg::coalesced_threads();
  if (active.thread_rank() == 0)
    out[grid.block_rank() * 32 + rank] = sum + active.size();
  block.sync();
}
