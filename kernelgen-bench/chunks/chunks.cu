// chunks [--once]
//
// Threads that walk rows or chunks of their own: a line of the cache that one element brought holds
// the thread's next ones, if it is still there in the next round. Shape of blocks and shared memory
// that nobody uses (it limits how many blocks a multiprocessor runs) are varied. Prints a line for
// each configuration: kernel, threads of a block, threads of a multiprocessor at most, bytes of
// padding, the shortest of five times in milliseconds (0 with --once), and a checksum, which must
// be the same for all configurations of a kernel.

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "walks.cuh"

/// A chunk of `length` elements of each of `Streams` arrays per thread.
template <int Streams> __global__ void chunk(const float *in, float *out, int length, int threads) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= threads)
    return;
  float sum = 0;
  for (int k = 0; k < length; ++k)
    for (int s = 0; s < Streams; ++s)
      sum += in[(std::size_t)s * threads * length + (std::size_t)thread * length + k];
  out[thread] = sum;
}

int main(int argc, char **argv) {
  const bool once = argc > 1 && std::strcmp(argv[1], "--once") == 0;
  const int n = 8192, threads = 1 << 18, length = 128;
  const std::size_t most = (std::size_t)4 * threads * length;
  float *data = nullptr, *out = nullptr, *host = new float[threads];
  CHECK(cudaMalloc(&data, most * sizeof(float)));
  CHECK(cudaMalloc(&out, threads * sizeof(float)));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  const int largest = 227 * 1024;
  const void *kernels[] = {(const void *)fan2, (const void *)chunk<1>, (const void *)chunk<2>,
                           (const void *)chunk<3>, (const void *)chunk<4>};
  const char *names[] = {"fan2", "chunk1", "chunk2", "chunk3", "chunk4"};
  for (int k = 0; k < 5; ++k) {
    CHECK(cudaFuncSetAttribute(kernels[k], cudaFuncAttributeMaxDynamicSharedMemorySize, largest));
    for (int block = 32; block <= 1024; block *= 2)
      for (int resident = 2048; resident >= 128; resident /= 2) {
        if (resident < block || (block == 32 && resident == 2048)) // 32 blocks at most
          continue;
        const int blocks = resident / block;
        int padding = resident == 2048 ? 0 : 228 * 1024 / blocks - 1024;
        if (padding > largest)
          padding = largest;
        if (block == 32 && resident == 1024)
          padding = 0;
        float best = 1e30f;
        for (int round = 0; round < (once ? 1 : 6); ++round) {
          fill_numbers<<<1024, 256>>>(data, k == 0 ? (std::size_t)n * n + 2 * n : most);
          CHECK(cudaDeviceSynchronize());
          CHECK(cudaEventRecord(begin));
          const int count = k == 0 ? n : threads;
          const dim3 grid((count + block - 1) / block);
          if (k == 0)
            fan2<<<grid, block, padding>>>(data + (std::size_t)n * n, data,
                                           data + (std::size_t)n * n + n, n, 0);
          else if (k == 1)
            chunk<1><<<grid, block, padding>>>(data, out, length, threads);
          else if (k == 2)
            chunk<2><<<grid, block, padding>>>(data, out, length, threads);
          else if (k == 3)
            chunk<3><<<grid, block, padding>>>(data, out, length, threads);
          else
            chunk<4><<<grid, block, padding>>>(data, out, length, threads);
          CHECK(cudaGetLastError());
          CHECK(cudaEventRecord(end));
          CHECK(cudaEventSynchronize(end));
          float time = 0;
          CHECK(cudaEventElapsedTime(&time, begin, end));
          if (round > 0 && time < best)
            best = time;
        }
        const int words = k == 0 ? n : threads;
        CHECK(cudaMemcpy(host, k == 0 ? data + (std::size_t)(n / 2) * n : out,
                         words * sizeof(float), cudaMemcpyDeviceToHost));
        std::uint64_t sum = 0;
        for (int i = 0; i < words; ++i) {
          std::uint32_t bits;
          std::memcpy(&bits, host + i, 4);
          sum = sum * 31 + bits;
        }
        std::printf("%s\t%d\t%d\t%d\t%.4f\t%016llx\n", names[k], block, resident, padding,
                    once ? 0.0 : best, (unsigned long long)sum);
        std::fflush(stdout);
      }
  }
  return 0;
}
