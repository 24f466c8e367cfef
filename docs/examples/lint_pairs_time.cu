// How long the kernels of lint_pairs.cu take: for each warning the kernel that gets it and those that do not, which must
// compute the same. CSV on standard output: median, least and most of 21 runs in milliseconds.
//   nvcc -O3 -arch=sm_90 -o lint_pairs_time lint_pairs_time.cu && ./lint_pairs_time && ./lint_pairs_time fault
#include "lint_pairs.cu"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

static void check(cudaError_t error, const char *what) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
  }
}

static int *device_array(const std::vector<int> &values) {
  int *result = nullptr;
  check(cudaMalloc(&result, values.size() * sizeof(int)), "cudaMalloc");
  check(cudaMemcpy(result, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice), "copy");
  return result;
}

struct Run {
  const char *name;
  std::function<void()> launch;
};

static std::vector<int> measure(const char *code, const Run &run, int *out, std::size_t count) {
  check(cudaMemset(out, 0, count * sizeof(int)), "memset");
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::vector<float> times;
  for (int i = 0; i < 24; ++i) { // the first three warm up
    cudaEventRecord(begin);
    run.launch();
    cudaEventRecord(end);
    check(cudaEventSynchronize(end), run.name);
    float time = 0;
    cudaEventElapsedTime(&time, begin, end);
    if (i >= 3)
      times.push_back(time);
  }
  std::sort(times.begin(), times.end());
  std::vector<int> result(count);
  check(cudaMemcpy(result.data(), out, count * sizeof(int), cudaMemcpyDeviceToHost), run.name);
  std::printf("%s,%s,%.4f,%.4f,%.4f\n", code, run.name, times[times.size() / 2], times.front(), times.back());
  return result;
}

// Runs all of them; false if they do not compute the same.
static bool compare(const char *code, int *out, std::size_t count, const std::vector<Run> &runs) {
  const std::vector<int> expected = measure(code, runs[0], out, count);
  bool same = true;
  for (std::size_t i = 1; i < runs.size(); ++i)
    if (measure(code, runs[i], out, count) != expected) {
      std::fprintf(stderr, "%s: %s computes something else\n", code, runs[i].name);
      same = false;
    }
  return same;
}

int main(int argc, char **argv) {
  constexpr int count = 1 << 24, n = 4096, blocks = count / 256, few = 1 << 20;
  std::vector<int> numbers(count * 2 + 64);
  unsigned state = 1;
  for (int &number : numbers)
    number = static_cast<int>((state = state * 1664525 + 1013904223) >> 8);
  int *in = device_array(numbers), *out = nullptr, *more = nullptr;
  check(cudaMalloc(&out, count * sizeof(int)), "cudaMalloc");
  check(cudaMalloc(&more, count * sizeof(int)), "cudaMalloc");
  if (argc > 1 && std::strcmp(argv[1], "fault") == 0) {
    misaligned_vector_before<<<blocks / 4, 256>>>(in, out);
    std::printf("misaligned-vector,misaligned_vector_before,%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
  }
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "device");
  std::printf("# %s\nwarning,kernel,median_ms,least_ms,most_ms\n", properties.name);
  bool good = true;
  const dim3 tile(32, 8), tiles(n / 32, n / 32);
  good &= compare("uncoalesced", out, count,
                  {{"uncoalesced_before", [&] { uncoalesced_before<<<dim3(n / 32, n / 8), tile>>>(in, out, n); }},
                   {"uncoalesced_after", [&] { uncoalesced_after<<<tiles, tile>>>(in, out, n); }}});
  {
    constexpr int records = 1 << 22;
    std::vector<int> x(records);
    for (int i = 0; i < records; ++i)
      x[i] = numbers[i * 8];
    int *packed = device_array(x);
    good &= compare("uncoalesced", out, records,
                    {{"records_before",
                      [&] { records_before<<<records / 256, 256>>>(reinterpret_cast<const Record *>(in), out); }},
                     {"records_after", [&] { records_after<<<records / 256, 256>>>(packed, out); }}});
    cudaFree(packed);
  }
  {
    constexpr int rows = 1 << 14;
    std::vector<int> padded(rows * 1056);
    for (int row = 0; row < rows; ++row)
      std::copy_n(numbers.begin() + row * 1025, 1024, padded.begin() + row * 1056);
    int *wide = device_array(padded);
    good &= compare("uncoalesced", out, count,
                    {{"rows_before", [&] { rows_before<<<dim3(4, rows), 256>>>(in, out); }},
                     {"rows_after", [&] { rows_after<<<dim3(4, rows), 256>>>(wide, out); }}});
    cudaFree(wide);
  }
  good &= compare("uncoalesced", out, count / 64,
                  {{"indirect_before", [&] { indirect_before<<<blocks / 64, 256>>>(in, in, out); }},
                   {"indirect_after", [&] { indirect_after<<<blocks / 64, 256>>>(in, in, out); }}});
  good &= compare("bank-conflict", out, count,
                  {{"bank_conflict_before", [&] { bank_conflict_before<<<tiles, tile>>>(in, out, n); }},
                   {"uncoalesced_after", [&] { uncoalesced_after<<<tiles, tile>>>(in, out, n); }}});
  {
    constexpr int rows = 1 << 17; // 0 to 255 numbers each, most of them few
    std::vector<int> begin(rows + 1);
    for (int row = 0; row < rows; ++row) {
      const int length = numbers[row] & 255;
      begin[row + 1] = begin[row] + length * length / 256;
    }
    int *starts = device_array(begin);
    good &= compare("divergent-loop", out, rows,
                    {{"divergent_loop_before", [&] { divergent_loop_before<<<rows / 256, 256>>>(in, starts, out); }},
                     {"divergent_loop_after", [&] { divergent_loop_after<<<rows / 8, 256>>>(in, starts, out); }}});
    cudaFree(starts);
  }
  good &= compare("local-memory", out, few / 4 * 16,
                  {{"local_memory_before", [&] { local_memory_before<<<few / 4 / 256, 256>>>(in, out); }},
                   {"local_memory_after", [&] { local_memory_after<<<few / 4 / 256, 256>>>(in, out); }}});
  check(cudaMemcpyToSymbol(constant_table, numbers.data(), 1024 * sizeof(int)), "constants");
  good &= compare("uniform-load", out, few,
                  {{"uniform_load_before", [&] { uniform_load_before<<<few / 256, 256>>>(in, in, out); }},
                   {"uniform_load_after", [&] { uniform_load_after<<<few / 256, 256>>>(in, out); }},
                   {"uniform_load_shuffled", [&] { uniform_load_shuffled<<<few / 256, 256>>>(in, in, out); }}});
  good &= compare("redundant-load", out, count,
                  {{"redundant_load_before", [&] { redundant_load_before<<<blocks, 256>>>(in, out, more); }},
                   {"redundant_load_after", [&] { redundant_load_after<<<blocks, 256>>>(in, out, more); }}});
  good &= compare("wide-index", out, few,
                  {{"wide_index_before", [&] { wide_index_before<<<few / 256, 256>>>(out, 12345, 64); }},
                   {"wide_index_after", [&] { wide_index_after<<<few / 256, 256>>>(out, 12345, 64); }}});
  good &= compare("division", out, few,
                  {{"division_before", [&] { division_before<<<few / 256, 256>>>(out, 12345, 64); }},
                   {"division_after", [&] { division_after<<<few / 256, 256>>>(out, 12345, 64); }}});
  {
    const auto sum = reinterpret_cast<unsigned long long *>(out); // of all launches
    good &= compare("contended-atomic", out, 2,
                    {{"contended_atomic_before", [&] { contended_atomic_before<<<few / 256, 256>>>(in, sum); }},
                     {"contended_atomic_after", [&] { contended_atomic_after<<<few / 256, 256>>>(in, sum); }}});
  }
  {
    constexpr int records = 1 << 21;
    std::vector<int> padded(records * 8);
    for (int i = 0; i < records; ++i)
      std::copy_n(numbers.begin() + i * 5, 5, padded.begin() + i * 8);
    int *wide = device_array(padded);
    good &= compare("misaligned-vector", out, records,
                    {{"misaligned_vector_narrow", [&] { misaligned_vector_narrow<<<records / 256, 256>>>(in, out); }},
                     {"misaligned_vector_padded", [&] { misaligned_vector_padded<<<records / 256, 256>>>(wide, out); }}});
    cudaFree(wide);
  }
  {
    constexpr int rows = 1 << 14;
    std::vector<int> padded(rows * 1024);
    for (int row = 0; row < rows; ++row)
      std::copy_n(numbers.begin() + row * 1021, 1021, padded.begin() + row * 1024);
    int *wide = device_array(padded);
    good &= compare("vector-precondition", out, rows,
                    {{"vector_precondition_before", [&] { vector_precondition_before<<<rows, 32>>>(in, out, 1021); }},
                     {"vector_precondition_after", [&] { vector_precondition_after<<<rows, 32>>>(wide, out, 1024); }}});
    cudaFree(wide);
  }
  return good ? 0 : 1;
}
