// Sums of neighbours in two steps, each of which begins while the one before it ends (programmatic dependent launch), and
// a filter whose rows are copied to shared memory asynchronously.

#include "check.h"

#include <cuda_pipeline.h>

__global__ void early_step(const float *now, float *next, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaGridDependencySynchronize();
  if (i > 0 && i < n - 1)
    next[i] = 0.25f * now[i - 1] + 0.5f * now[i] + 0.25f * now[i + 1];
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void copied_filter(float *out, const float *in, int n) {
  constexpr int threads = 256, radius = 4;
  __shared__ float tile[threads + 2 * radius];
  const int t = threadIdx.x, i = blockIdx.x * threads + t;
  __pipeline_memcpy_async(&tile[t], &in[i], sizeof(float));
  if (t < 2 * radius)
    __pipeline_memcpy_async(&tile[threads + t], &in[i + threads], sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  float sum = 0;
  for (int k = 0; k <= 2 * radius; ++k)
    sum += tile[t + k] * (1 + k);
  if (i < n)
    out[i] = sum;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 25;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 300;
  float *now = random_numbers<float>(n + 1024), *next = random_numbers<float>(n), *out = zeros<float>(n);
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.blockDim = 256;
  config.gridDim = n / 256;
  config.attrs = &early;
  config.numAttrs = 1;
  timed(steps, [&] {
    CHECK(cudaLaunchKernelEx(&config, early_step, static_cast<const float *>(now), next, n));
    CHECK(cudaLaunchKernelEx(&config, early_step, static_cast<const float *>(next), now, n));
    copied_filter<<<n / 256, 256>>>(out, now, n);
  });
  print_hash(now, n);
  print_hash(out, n);
}
