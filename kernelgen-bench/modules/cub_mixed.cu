// The other large module: CUB's scans, reductions by key, selections, run lengths and histograms,
// many middle-sized kernels with shared memory, atomics and look-back loops.
#include <cstdint>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

struct Positive {
  template <class T> __device__ bool operator()(T value) const { return value > T{}; }
};

struct Sum {
  template <class T> __device__ T operator()(T a, T b) const { return a + b; }
};

template <class T>
cudaError_t all(void *scratch, std::size_t &bytes, T *in, T *out, int *keys, int *unique,
                int *number, int count) {
  cudaError_t result = cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, count);
  if (result == cudaSuccess)
    result = cub::DeviceScan::ExclusiveScan(scratch, bytes, in, out, Sum{}, T{}, count);
  if (result == cudaSuccess)
    result = cub::DeviceReduce::Sum(scratch, bytes, in, out, count);
  if (result == cudaSuccess)
    result =
        cub::DeviceReduce::ReduceByKey(scratch, bytes, keys, unique, in, out, number, Sum{}, count);
  if (result == cudaSuccess)
    result = cub::DeviceSelect::If(scratch, bytes, in, out, number, count, Positive{});
  if (result == cudaSuccess)
    result = cub::DeviceRunLengthEncode::Encode(scratch, bytes, in, out, keys, number, count);
  return result;
}

template cudaError_t all(void *, std::size_t &, float *, float *, int *, int *, int *, int);
template cudaError_t all(void *, std::size_t &, double *, double *, int *, int *, int *, int);
template cudaError_t all(void *, std::size_t &, std::uint32_t *, std::uint32_t *, int *, int *,
                         int *, int);

cudaError_t histogram(void *scratch, std::size_t &bytes, float *samples, int *counts, int levels,
                      int count) {
  return cub::DeviceHistogram::HistogramEven(scratch, bytes, samples, counts, levels, 0.0f, 1.0f,
                                             count);
}
