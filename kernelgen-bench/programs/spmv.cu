// A sparse matrix (CSR, of a plate's Laplacian) times a vector, one row per thread.

#include "check.h"
#include <tuple>

__global__ void spmv(int rows, const int *begin, const int *column, const float *value,
                     const float *x, float *y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0;
  for (int i = begin[row]; i < begin[row + 1]; ++i)
    sum += value[i] * x[column[i]];
  y[row] = sum;
}

template <typename T> T *to_device(const std::vector<T> &host) {
  T *device = nullptr;
  CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 2048;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 200;
  std::vector<int> begin{0}, column;
  std::vector<float> value;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      for (const auto &[dx, dy, v] : {std::tuple{0, -1, -1.f}, {-1, 0, -1.f}, {0, 0, 4.f}, {1, 0, -1.f}, {0, 1, -1.f}})
        if (x + dx >= 0 && x + dx < n && y + dy >= 0 && y + dy < n) {
          column.push_back((y + dy) * n + x + dx);
          value.push_back(v);
        }
      begin.push_back(static_cast<int>(column.size()));
    }
  const int rows = n * n;
  int *b = to_device(begin), *c = to_device(column);
  float *v = to_device(value), *x = random_numbers<float>(rows), *y = zeros<float>(rows);
  timed(steps, [&] { spmv<<<(rows + 255) / 256, 256>>>(rows, b, c, v, x, y); });
  print_hash(y, rows);
}
