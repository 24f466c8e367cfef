// VARIANTS: -arch=sm_90 | -arch=sm_120 -lineinfo
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>

void sort(void *storage, std::size_t &bytes, const unsigned *keys_in, unsigned *keys,
          const float *values_in, float *values, int count, const int *offsets) {
  cub::DeviceRadixSort::SortPairs(storage, bytes, keys_in, keys, values_in, values, count);
  cub::DeviceSegmentedRadixSort::SortKeysDescending(storage, bytes, keys_in, keys, count, 4,
                                                    offsets, offsets + 1);
}
