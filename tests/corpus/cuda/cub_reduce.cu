// VARIANTS: -arch=sm_90 | -arch=sm_100
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>

void reduce(void *storage, std::size_t &bytes, const float *in, float *out, int *selected,
            int *histogram, int count) {
  cub::DeviceReduce::Max(storage, bytes, in, out, count);
  cub::DeviceSelect::Unique(storage, bytes, in, out, selected, count);
  cub::DeviceHistogram::HistogramEven(storage, bytes, in, histogram, 65, 0.0f, 1.0f, count);
}
