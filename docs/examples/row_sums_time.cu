// Times the two kernels of row_sums.cu: the median of 20 runs, the least and the most.
//   nvcc -arch=sm_90 row_sums_time.cu
#include "row_sums.cu"

#include <algorithm>
#include <cstdio>
#include <vector>

int main() {
  const int rows = 262144;
  float *matrix, *sums;
  if (cudaMalloc(&matrix, sizeof(float) * rows * 1024) || cudaMalloc(&sums, sizeof(float) * rows))
    return 1;
  cudaMemset(matrix, 0, sizeof(float) * rows * 1024);
  cudaEvent_t start, end;
  cudaEventCreate(&start);
  cudaEventCreate(&end);
  for (auto *kernel : {before, after}) {
    std::vector<float> times;
    for (int run = 0; run < 21; ++run) {
      cudaEventRecord(start);
      kernel<<<rows / 256, 256>>>(matrix, sums);
      cudaEventRecord(end);
      cudaEventSynchronize(end);
      float time = 0;
      cudaEventElapsedTime(&time, start, end);
      if (run > 0) // the first warms up
        times.push_back(time);
    }
    std::sort(times.begin(), times.end());
    std::printf("%s %.3f ms (%.3f to %.3f)\n", kernel == before ? "before" : "after", times[10], times.front(), times.back());
  }
}
