// y = alpha x + y over a plane.

extern "C" __global__ void saxpy2d(int nx, int ny, float alpha, const float *x, float *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny)
    return;
  y[j * nx + i] += alpha * x[j * nx + i];
}
