// What docs/internals/staging.md measures: loops in which all threads of a block read the same.

extern "C" {
// One lane per output; all lanes read the same taps.
__global__ void filter(const float *__restrict__ x, const float *__restrict__ taps,
                       float *__restrict__ y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float s = 0;
  for (int j = 0; j < k; ++j)
    s += taps[j] * x[i + j];
  y[i] = s;
}
// All bodies act on each.
__global__ void nbody(const float4 *__restrict__ p, float4 *__restrict__ a, int n, float eps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float4 me = p[i];
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; ++j) {
    float4 q = p[j];
    float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z;
    float r = rsqrtf(dx * dx + dy * dy + dz * dz + eps);
    float f = q.w * r * r * r;
    ax += f * dx;
    ay += f * dy;
    az += f * dz;
  }
  a[i] = make_float4(ax, ay, az, 0);
}
// The same with arrays of their own.
__global__ void bodies(const float *__restrict__ x, const float *__restrict__ y,
                       const float *__restrict__ z, const float *__restrict__ m,
                       float *__restrict__ pot, int n, float eps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float mx = x[i], my = y[i], mz = z[i], s = 0;
  for (int j = 0; j < n; ++j) {
    float dx = x[j] - mx, dy = y[j] - my, dz = z[j] - mz;
    s += m[j] * rsqrtf(dx * dx + dy * dy + dz * dz + eps);
  }
  pot[i] = s;
}
// Matrix by columns times vector.
__global__ void matvec(const float *__restrict__ a, const float *__restrict__ x,
                       float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float s = 0;
  for (int j = 0; j < n; ++j)
    s += a[(size_t)j * n + i] * x[j];
  y[i] = s;
}
// Blocks of one row.
__global__ void matmul(const float *__restrict__ a, const float *__restrict__ b,
                       float *__restrict__ c, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (col >= n)
    return;
  float s = 0;
  for (int k = 0; k < n; ++k)
    s += a[row * n + k] * b[k * n + col];
  c[row * n + col] = s;
}
// The nearest of k centres in four dimensions.
__global__ void nearest(const float4 *__restrict__ p, const float4 *__restrict__ centre,
                        int *__restrict__ out, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float4 v = p[i];
  float best = 3.4e38f;
  int which = 0;
  for (int j = 0; j < k; ++j) {
    float4 q = centre[j];
    float dx = q.x - v.x, dy = q.y - v.y, dz = q.z - v.z, dw = q.w - v.w;
    float d = dx * dx + dy * dy + dz * dz + dw * dw;
    if (d < best) {
      best = d;
      which = j;
    }
  }
  out[i] = which;
}
// How many of a table are less; nobody says that the arrays are apart.
__global__ void ranks(const int *x, const int *table, int *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = x[i], s = 0;
  for (int j = 0; j < k; ++j)
    s += (table[j] < v);
  y[i] = s;
}
}
