// Heat in a plate that lies in two surfaces: a step of Jacobi's method, one point per thread.

#include "check.h"

__global__ void surface_step(cudaSurfaceObject_t now, cudaSurfaceObject_t next, int nx, int ny, float k) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
    const float own = surf2Dread<float>(now, 4 * x, y);
    const float sum = surf2Dread<float>(now, 4 * x - 4, y) + surf2Dread<float>(now, 4 * x + 4, y) +
                      surf2Dread<float>(now, 4 * x, y - 1) + surf2Dread<float>(now, 4 * x, y + 1);
    surf2Dwrite(own + k * (sum - 4 * own), next, 4 * x, y);
  }
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 4096;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 500;
  const std::size_t points = static_cast<std::size_t>(n) * n, row = n * sizeof(float);
  float *numbers = random_numbers<float>(points);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t arrays[2];
  cudaSurfaceObject_t surfaces[2];
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaMallocArray(&arrays[i], &format, n, n, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(arrays[i], 0, 0, numbers, row, row, n, cudaMemcpyDeviceToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = arrays[i];
    CHECK(cudaCreateSurfaceObject(&surfaces[i], &resource));
  }
  const dim3 block(32, 8), grid((n + 31) / 32, (n + 7) / 8);
  timed(steps, [&] {
    surface_step<<<grid, block>>>(surfaces[0], surfaces[1], n, n, 0.1f);
    surface_step<<<grid, block>>>(surfaces[1], surfaces[0], n, n, 0.1f);
  });
  CHECK(cudaMemcpy2DFromArray(numbers, row, arrays[0], 0, 0, row, n, cudaMemcpyDeviceToDevice));
  print_hash(numbers, points);
}
