// What a library makes of it: radix sort, scan, reduction and load/store of CUB.
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

extern "C" __global__ void cub_radix_sort(const unsigned *in, unsigned *out) {
  using Sort = cub::BlockRadixSort<unsigned, 128, 4>;
  __shared__ typename Sort::TempStorage storage;
  unsigned keys[4];
  const unsigned base = blockIdx.x * 512;
  cub::LoadDirectBlocked(threadIdx.x, in + base, keys);
  Sort(storage).Sort(keys);
  cub::StoreDirectBlocked(threadIdx.x, out + base, keys);
}

extern "C" __global__ void cub_sort_pairs(const float *in, float *out, int *places) {
  using Sort = cub::BlockRadixSort<float, 64, 3, int>;
  __shared__ typename Sort::TempStorage storage;
  float keys[3];
  int values[3];
  cub::LoadDirectBlocked(threadIdx.x, in, keys);
  for (int i = 0; i < 3; ++i)
    values[i] = 3 * threadIdx.x + i;
  Sort(storage).SortDescendingBlockedToStriped(keys, values);
  cub::StoreDirectStriped<64>(threadIdx.x, out, keys);
  cub::StoreDirectStriped<64>(threadIdx.x, places, values);
}

extern "C" __global__ void cub_merge_sort(const long long *in, long long *out) {
  using Sort = cub::BlockMergeSort<long long, 64, 4>;
  __shared__ typename Sort::TempStorage storage;
  long long keys[4];
  cub::LoadDirectBlocked(threadIdx.x, in, keys);
  Sort(storage).Sort(keys, [](long long a, long long b) { return a > b; });
  cub::StoreDirectBlocked(threadIdx.x, out, keys);
}

extern "C" __global__ void cub_scan(const unsigned *in, unsigned *out) {
  using Scan = cub::BlockScan<unsigned, 128>;
  __shared__ typename Scan::TempStorage storage;
  unsigned items[4], total;
  cub::LoadDirectStriped<128>(threadIdx.x, in, items);
  Scan(storage).ExclusiveSum(items, items, total);
  cub::StoreDirectStriped<128>(threadIdx.x, out, items);
  if (threadIdx.x == 0)
    out[512] = total;
}

extern "C" __global__ void cub_reduce(const double *in, double *out) {
  using Reduce = cub::BlockReduce<double, 96>;
  __shared__ typename Reduce::TempStorage storage;
  const double sum = Reduce(storage).Sum(in[blockIdx.x * 96 + threadIdx.x]);
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}
