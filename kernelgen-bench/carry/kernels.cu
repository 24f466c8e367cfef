// Kernels whose loops load again what the round before has loaded: stencils that march along z or
// down a column, with and without __restrict__, in place and of bytes; a row and a filter, each
// thread by itself. carry.cpp launches them.

#define KERNEL extern "C" __global__ void

KERNEL zmarch(float *out, const float *in, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= nx - 1 || y >= ny - 1)
    return;
  for (int z = 1; z < nz - 1; ++z) {
    int i = (z * ny + y) * nx + x;
    out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] +
                                    in[i - nx * ny] + in[i + nx * ny]);
  }
}

KERNEL zmarch_restrict(float *__restrict__ out, const float *__restrict__ in, int nx, int ny,
                       int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= nx - 1 || y >= ny - 1)
    return;
  for (int z = 1; z < nz - 1; ++z) {
    int i = (z * ny + y) * nx + x;
    out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] +
                                    in[i - nx * ny] + in[i + nx * ny]);
  }
}

KERNEL zstar4(float *out, const float *in, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 4, y = blockIdx.y * blockDim.y + threadIdx.y + 4;
  if (x >= nx - 4 || y >= ny - 4)
    return;
  long plane = (long)nx * ny;
  const float *p = in + 4 * plane + (long)y * nx + x;
  float *o = out + 4 * plane + (long)y * nx + x;
#pragma unroll 1
  for (int z = 4; z < nz - 4; ++z, p += plane, o += plane) {
    float s = 0.5f * p[0];
    s += 0.1f * (p[-1] + p[1] + p[-nx] + p[nx] + p[-plane] + p[plane]);
    s += 0.05f * (p[-2] + p[2] + p[-2 * nx] + p[2 * nx] + p[-2 * plane] + p[2 * plane]);
    s += 0.02f * (p[-3] + p[3] + p[-3 * nx] + p[3 * nx] + p[-3 * plane] + p[3 * plane]);
    s += 0.01f * (p[-4] + p[4] + p[-4 * nx] + p[4 * nx] + p[-4 * plane] + p[4 * plane]);
    *o = s;
  }
}

KERNEL column(float *out, const float *in, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= nx)
    return;
  for (int y = 1; y < ny - 1; ++y)
    out[y * nx + x] =
        0.25f * in[(y - 1) * nx + x] + 0.5f * in[y * nx + x] + 0.25f * in[(y + 1) * nx + x];
}

KERNEL column5(float *out, const float *in, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= nx)
    return;
#pragma unroll 1
  for (int y = 2; y < ny - 2; ++y)
    out[y * nx + x] = in[(y - 2) * nx + x] + 4 * in[(y - 1) * nx + x] + 6 * in[y * nx + x] +
                      4 * in[(y + 1) * nx + x] + in[(y + 2) * nx + x];
}

KERNEL row(float *out, const float *in, int nx, int ny) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= ny)
    return;
  for (int x = 2; x < nx - 2; ++x)
    out[y * nx + x] = in[y * nx + x - 2] + 4 * in[y * nx + x - 1] + 6 * in[y * nx + x] +
                      4 * in[y * nx + x + 1] + in[y * nx + x + 2];
}

KERNEL fir(float *out, const float *in, const float *taps, int n, int chunk) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int begin = t * chunk, end = min(begin + chunk, n - 8);
  for (int i = begin; i < end; ++i) {
    float s = 0;
#pragma unroll
    for (int k = 0; k < 9; ++k)
      s += taps[k] * in[i + k];
    out[i] = s;
  }
}

KERNEL smooth(float *a, float *unused, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= nx)
    return;
  for (int y = 1; y < ny - 1; ++y)
    a[y * nx + x] =
        0.25f * a[(y - 1) * nx + x] + 0.5f * a[y * nx + x] + 0.25f * a[(y + 1) * nx + x];
}

KERNEL bytes(unsigned char *out, const unsigned char *in, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= nx)
    return;
  for (int y = 1; y < ny - 1; ++y)
    out[y * nx + x] = (in[(y - 1) * nx + x] + 2 * in[y * nx + x] + in[(y + 1) * nx + x]) >> 2;
}
