// Sums over 262,144 rows of 1,024 numbers, one thread per row: as it is written first, where neighbouring lanes read 4 KiB
// apart, and with the matrix stored by columns, where they read neighbouring numbers.
//   nvcc -ptx -arch=sm_80 row_sums.cu
extern "C" __global__ void before(const float *matrix, float *sums) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int column = 0; column < 1024; ++column)
    sum += matrix[row * 1024 + column];
  sums[row] = sum;
}

extern "C" __global__ void after(const float *matrix, float *sums) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int column = 0; column < 1024; ++column)
    sum += matrix[column * 262144 + row];
  sums[row] = sum;
}
