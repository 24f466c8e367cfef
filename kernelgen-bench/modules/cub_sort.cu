// A large module for measuring the tool itself: CUB's radix sort and merge sort for several types,
// as an application that sorts instantiates them.
#include <cstdint>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

template <class Key, class Value>
cudaError_t sort_pairs(void *scratch, std::size_t &bytes, Key *keys, Value *values,
                       Key *sorted_keys, Value *sorted_values, int count) {
  return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values, sorted_values,
                                         count);
}

template cudaError_t sort_pairs(void *, std::size_t &, std::uint32_t *, std::uint32_t *,
                                std::uint32_t *, std::uint32_t *, int);
template cudaError_t sort_pairs(void *, std::size_t &, float *, std::uint32_t *, float *,
                                std::uint32_t *, int);
template cudaError_t sort_pairs(void *, std::size_t &, std::uint64_t *, std::uint64_t *,
                                std::uint64_t *, std::uint64_t *, int);

struct Less {
  __device__ bool operator()(float a, float b) const { return a < b; }
};

cudaError_t merge_sort(void *scratch, std::size_t &bytes, float *keys, int count) {
  return cub::DeviceMergeSort::SortKeys(scratch, bytes, keys, count, Less{});
}
