// maps [--once] [--block N]...
//
// Kernels in which each thread walks rows or a chunk of its own, as matrix and text programs of
// map-reduce frameworks have them: Gaussian elimination by rows, matrix product and similarity of
// documents with a row for each operand, inverted index (positions of links), word count and page
// view count, each of the text programs once counting what it will write and once writing it. They
// are written from the descriptions in Singhania, "Static Analysis for GPU Program Performance",
// section 6.4; tasks are contiguous for a thread, so that a launch may choose any block size.
//
// Prints a line for each kernel and block size: kernel, threads of a block, the shortest of seven
// times in milliseconds (0 with --once), and a checksum of all that it wrote, which must not depend
// on the block size.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "walks.cuh"

/// c = a b, the second operand by columns; an element is a task.
extern "C" __global__ void mm_map(const float *a, const float *b, float *c, int n, int tasks) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * tasks;
  for (int task = first; task < first + tasks && task < n * n; ++task) {
    const float *const row = a + task / n * n, *const column = b + task % n * n;
    float sum = 0;
    for (int k = 0; k < n; ++k)
      sum += row[k] * column[k];
    c[task] = sum;
  }
}

/// The cosine of the angle between two documents' vectors; a pair is a task.
extern "C" __global__ void ss_map(const float *documents, float *similar, int count, int features,
                                  int tasks) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * tasks;
  for (int task = first; task < first + tasks && task < count * count; ++task) {
    const float *const one = documents + task / count * features;
    const float *const other = documents + task % count * features;
    float product = 0, square_one = 0, square_other = 0;
    for (int k = 0; k < features; ++k) {
      const float x = one[k], y = other[k];
      product += x * y;
      square_one += x * x;
      square_other += y * y;
    }
    similar[task] = product * rsqrtf(square_one * square_other);
  }
}

/// How many links begin in a chunk of a page, and how long they are together.
extern "C" __global__ void ii_map_count(const char *text, int *links, int *letters, int length) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const char *const own = text + (std::size_t)thread * length;
  int state = 0, count = 0, total = 0;
  for (int k = 0; k < length; ++k) {
    const char c = own[k];
    if (state == 0) {
      state = c == '<' ? 1 : 0;
    } else if (state == 1) {
      state = c == 'a' ? 2 : 0;
    } else if (c == '>' || c == '\n') {
      ++count;
      state = 0;
    } else {
      ++total;
    }
  }
  links[thread] = count;
  letters[thread] = total;
}

/// The same, and where the first four links are and what their letters come to.
extern "C" __global__ void ii_map(const char *text, int *places, unsigned *sums, int length) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const char *const own = text + (std::size_t)thread * length;
  int state = 0, count = 0, place[4] = {};
  unsigned sum = 0, all[4] = {};
  for (int k = 0; k < length; ++k) {
    const char c = own[k];
    if (state == 0) {
      state = c == '<' ? 1 : 0;
    } else if (state == 1) {
      state = c == 'a' ? 2 : 0;
      sum = 0;
    } else if (c == '>' || c == '\n') {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (count == i) {
          place[i] = k;
          all[i] = sum;
        }
      ++count;
      state = 0;
    } else {
      sum = sum * 31 + (unsigned char)c;
    }
  }
  for (int i = 0; i < 4; ++i) {
    places[thread * 4 + i] = place[i];
    sums[thread * 4 + i] = all[i];
  }
}

/// The words of a chunk, and their letters.
extern "C" __global__ void wc_map_count(const char *text, int *words, int *letters, int length) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const char *const own = text + (std::size_t)thread * length;
  int count = 0, total = 0;
  bool inside = false;
  for (int k = 0; k < length; ++k) {
    const bool letter = own[k] > ' ';
    count += letter && !inside;
    total += letter;
    inside = letter;
  }
  words[thread] = count;
  letters[thread] = total;
}

/// The same, with what the words come to.
extern "C" __global__ void wc_map(const char *text, int *words, unsigned *sums, int length) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const char *const own = text + (std::size_t)thread * length;
  int count = 0;
  unsigned sum = 0, all = 0;
  for (int k = 0; k < length; ++k) {
    const char c = own[k];
    if (c > ' ') {
      sum = sum * 31 + (unsigned char)c;
    } else if (sum != 0) {
      all ^= sum;
      sum = 0;
      ++count;
    }
  }
  words[thread] = count;
  sums[thread] = all;
}

/// Lines of a log: which page was looked at, by those that name one.
extern "C" __global__ void pvc_map(const char *text, int *views, unsigned *pages, int length,
                                   int line) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const char *const own = text + (std::size_t)thread * length;
  int count = 0;
  unsigned all = 0;
  for (int begin = 0; begin < length; begin += line) {
    if (own[begin] < 'a')
      continue;
    unsigned sum = 0;
    for (int k = 0; k < line; ++k)
      sum = sum * 31 + (unsigned char)own[begin + k];
    all ^= sum;
    ++count;
  }
  views[thread] = count;
  pages[thread] = all;
}

__global__ void fill_text(char *to, std::size_t count) {
  for (std::size_t i = blockIdx.x * (std::size_t)blockDim.x + threadIdx.x; i < count;
       i += (std::size_t)gridDim.x * blockDim.x) {
    const unsigned bits = (unsigned)(i * 2654435761u) ^ (unsigned)(i >> 7) * 40503u;
    const unsigned what = bits >> 16 & 63;
    to[i] = what < 10    ? ' '
            : what < 12  ? '<'
            : what < 14  ? '>'
            : what == 14 ? '\n'
                         : 'a' + what % 26;
  }
}

struct Kernel {
  const char *name;
  const void *function;
  std::size_t threads;
  std::vector<void *> arguments;
  void *written;
  std::size_t bytes;
};

int main(int argc, char **argv) {
  bool once = false;
  std::vector<int> blocks;
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--once") == 0)
      once = true;
    else if (std::strcmp(argv[i], "--block") == 0 && i + 1 < argc)
      blocks.push_back(std::atoi(argv[++i]));
  if (blocks.empty())
    blocks = {32, 64, 128, 256, 512, 1024};
  int n = 8192, zero = 0, wide = 1024, tasks = 4, documents = 2048, features = 256;
  int length = 512, line = 128;
  const std::size_t chunks = std::size_t{1} << 19, text_bytes = chunks * 512;
  const std::size_t numbers = (std::size_t)n * n + 2 * n, out_bytes = 32 << 20;
  float *data = nullptr;
  char *text = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&data, numbers * sizeof(float)));
  CHECK(cudaMalloc(&text, text_bytes));
  CHECK(cudaMalloc(&out, out_bytes));
  fill_text<<<1024, 256>>>(text, text_bytes);
  float *m = data + (std::size_t)n * n, *b = m + n, *second = data + (std::size_t)wide * wide;
  char *half = out + out_bytes / 2;
  std::vector<Kernel> kernels = {
      {"fan2",
       (const void *)fan2,
       (std::size_t)n,
       {&m, &data, &b, &n, &zero},
       data,
       numbers * sizeof(float)},
      {"mm_map",
       (const void *)mm_map,
       (std::size_t)wide * wide / tasks,
       {&data, &second, &out, &wide, &tasks},
       out,
       out_bytes},
      {"ss_map",
       (const void *)ss_map,
       (std::size_t)documents * documents / tasks,
       {&data, &out, &documents, &features, &tasks},
       out,
       out_bytes},
      {"ii_map_count",
       (const void *)ii_map_count,
       chunks,
       {&text, &out, &half, &length},
       out,
       out_bytes},
      {"ii_map", (const void *)ii_map, chunks, {&text, &out, &half, &length}, out, out_bytes},
      {"wc_map_count",
       (const void *)wc_map_count,
       chunks,
       {&text, &out, &half, &length},
       out,
       out_bytes},
      {"wc_map", (const void *)wc_map, chunks, {&text, &out, &half, &length}, out, out_bytes},
      {"pvc_map",
       (const void *)pvc_map,
       chunks,
       {&text, &out, &half, &length, &line},
       out,
       out_bytes},
  };
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<std::uint32_t> host(numbers);
  for (Kernel &kernel : kernels)
    for (const int block : blocks) {
      float best = 1e30f;
      for (int round = 0; round < (once ? 1 : 8); ++round) {
        fill_numbers<<<1024, 256>>>(data, numbers);
        CHECK(cudaMemset(out, 0, out_bytes));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventRecord(begin));
        CHECK(cudaLaunchKernel(kernel.function, dim3((kernel.threads + block - 1) / block),
                               dim3(block), kernel.arguments.data(), 0, nullptr));
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float time = 0;
        CHECK(cudaEventElapsedTime(&time, begin, end));
        if (round > 0 && time < best)
          best = time;
      }
      CHECK(cudaMemcpy(host.data(), kernel.written, kernel.bytes, cudaMemcpyDeviceToHost));
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < kernel.bytes / 4; ++i)
        sum = sum * 31 + host[i];
      std::printf("%s\t%d\t%.4f\t%016llx\n", kernel.name, block, once ? 0.0 : best,
                  (unsigned long long)sum);
      std::fflush(stdout);
    }
  return 0;
}
