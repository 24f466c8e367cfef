// Work that both sides of a branch do, inside it and moved out of it.

constexpr int most = 1024;

extern "C" __global__ void synBrdis(int *out, int n, int m, int val) {
  __shared__ int a[most], b[most];
  for (int i = 0; i < n; ++i) {
    if ((threadIdx.x + i) % 2 == 0) {
      for (int j = 0; j < m; ++j)
        a[j] = val;
      int total = 0;
      for (int j = 0; j < m; ++j) {
        total += a[j];
        b[j] = total;
      }
      for (int j = 0; j < m; ++j)
        b[j] += val;
    } else {
      for (int j = 0; j < m; ++j)
        a[j] = 2 * val;
      int total = 0;
      for (int j = 0; j < m; ++j) {
        total += a[j];
        b[j] = total;
      }
      for (int j = 0; j < m; ++j)
        b[j] *= b[j];
    }
  }
  out[threadIdx.x] = b[0];
}

extern "C" __global__ void synBrdisOpt(int *out, int n, int m, int val) {
  __shared__ int a[most], b[most];
  for (int i = 0; i < n; ++i) {
    if ((threadIdx.x + i) % 2 == 0)
      for (int j = 0; j < m; ++j)
        a[j] = val;
    else
      for (int j = 0; j < m; ++j)
        a[j] = 2 * val;
    int total = 0;
    for (int j = 0; j < m; ++j) {
      total += a[j];
      b[j] = total;
    }
    if ((threadIdx.x + i) % 2 == 0)
      for (int j = 0; j < m; ++j)
        b[j] += val;
    else
      for (int j = 0; j < m; ++j)
        b[j] *= b[j];
  }
  out[threadIdx.x] = b[0];
}
