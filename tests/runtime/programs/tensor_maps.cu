// Tensor maps that the driver encodes, a copy by one, and clusters that the launch asks for.
#include "common.h"

#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void load(const __grid_constant__ CUtensorMap map, int x, int y, float *to) {
  __shared__ alignas(128) float box[4][32];
  __shared__ alignas(8) std::uint64_t gate;
  const auto shared = [](const void *of) {
    return static_cast<unsigned>(__cvta_generic_to_shared(of));
  };
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&gate)));
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&gate)),
                 "r"(static_cast<unsigned>(sizeof box)));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared(box)),
                 "l"(&map), "r"(x), "r"(y), "r"(shared(&gate))
                 : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(shared(&gate))
                 : "memory");
  // The rows lie by the swizzle of 128 bytes: 16 bytes of row r at place p ^ r.
  for (int row = 0; row < 4; ++row) {
    const int piece = static_cast<int>(threadIdx.x) / 4 ^ row;
    to[row * 32 + threadIdx.x] = box[row][piece * 4 + threadIdx.x % 4];
  }
}

__global__ void neighbours(int *to) {
  namespace cg = cooperative_groups;
  __shared__ int mine;
  const cg::cluster_group cluster = cg::this_cluster();
  mine = static_cast<int>(blockIdx.x) * 10;
  cluster.sync();
  to[blockIdx.x] = *cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1) +
                   static_cast<int>(cluster.num_blocks());
  cluster.sync();
}

int main() {
  constexpr unsigned width = 48, height = 6;
  std::vector<float> numbers(width * height);
  for (unsigned i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(i + 1);
  float *tensor = nullptr, *result = nullptr;
  RIGHT(cudaMalloc(&tensor, numbers.size() * sizeof(float)));
  RIGHT(cudaMalloc(&result, 128 * sizeof(float)));
  RIGHT(cudaMemcpy(tensor, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyDefault));
  void *entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  RIGHT(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                         &found));
  EXPECT(entry != nullptr && found == cudaDriverEntryPointSuccess);
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  CUtensorMap map;
  const cuuint64_t extents[] = {width, height}, strides[] = {width * sizeof(float)};
  const cuuint32_t box[] = {32, 4}, steps[] = {1, 1}, wide[] = {64, 4};
  const auto made = [&](const cuuint32_t *of) {
    return encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, tensor, extents, strides, of, steps,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  EXPECT(made(wide) == CUDA_ERROR_INVALID_VALUE); // rows of 256 bytes
  EXPECT(made(box) == CUDA_SUCCESS);
  load<<<1, 32>>>(map, 20, 3, result);
  RIGHT(cudaDeviceSynchronize());
  std::vector<float> there(128);
  RIGHT(cudaMemcpy(there.data(), result, 128 * sizeof(float), cudaMemcpyDefault));
  for (unsigned row = 0; row < 4; ++row)
    for (unsigned column = 0; column < 32; ++column) {
      const unsigned x = 20 + column, y = 3 + row;
      const bool inside = x < width && y < height;
      EXPECT(there[row * 32 + column] == (inside ? numbers[y * width + x] : 0));
    }

  int *sums = nullptr;
  RIGHT(cudaMallocManaged(&sums, 4 * sizeof(int)));
  cudaLaunchConfig_t launch{};
  launch.gridDim = 4;
  launch.blockDim = 1;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  launch.attrs = &attribute;
  launch.numAttrs = 1;
  RIGHT(cudaLaunchKernelEx(&launch, neighbours, sums));
  RIGHT(cudaDeviceSynchronize());
  for (int block = 0; block < 4; ++block)
    EXPECT(sums[block] == (block ^ 1) * 10 + 2);
  return finish();
}
