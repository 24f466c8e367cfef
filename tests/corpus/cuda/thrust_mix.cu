// VARIANTS: -arch=sm_75 | -arch=sm_90
#include <thrust/device_vector.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

struct Square {
  __host__ __device__ double operator()(float x) const { return double(x) * x; }
};

double mix(thrust::device_vector<float> &v) {
  thrust::inclusive_scan(v.begin(), v.end(), v.begin());
  thrust::stable_sort(v.begin(), v.end(), thrust::greater<float>());
  return thrust::transform_reduce(v.begin(), v.end(), Square(), 0.0, thrust::plus<double>());
}
