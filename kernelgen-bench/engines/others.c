// The work of others.cu as loops in C.
#include <math.h>
#include <stddef.h>

void axpy(int n, float a, const float *x, float *y) {
  for (int i = 0; i < n; ++i)
    y[i] = a * x[i] + y[i];
}

void dot(int n, int blocks, const float *x, const float *y, float *sums) {
  for (int block = 0; block < blocks; ++block) {
    float sum = 0;
    for (int i = block * 256; i < n; i += blocks * 256)
      for (int j = i; j < i + 256 && j < n; ++j)
        sum += x[j] * y[j];
    sums[block] = sum;
  }
}

void sgemm(int n, const float *a, const float *b, float *restrict c) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      c[i * n + j] = 0;
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
}

void transpose(int n, const float *in, float *restrict out) {
  for (int i = 0; i < n; i += 32)
    for (int j = 0; j < n; j += 32)
      for (int y = i; y < i + 32; ++y)
        for (int x = j; x < j + 32; ++x)
          out[y * n + x] = in[x * n + y];
}

void smooth(int n, const float *in, float *restrict out) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = i - 4; k <= i + 4; ++k)
      sum += k >= 0 && k < n ? in[k] : 0;
    out[i] = sum / 9;
  }
}

void spmv(int rows, const int *begin, const int *column, const float *value, const float *x,
          float *y) {
  for (int row = 0; row < rows; ++row) {
    float sum = 0;
    for (int i = begin[row]; i < begin[row + 1]; ++i)
      sum += value[i] * x[column[i]];
    y[row] = sum;
  }
}

void nbody(int n, const float *body, float *restrict force) {
  for (int i = 0; i < n; ++i) {
    float x = 0, y = 0, z = 0;
    for (int j = 0; j < n; ++j) {
      const float *other = body + 4 * j, *own = body + 4 * i;
      const float dx = other[0] - own[0], dy = other[1] - own[1], dz = other[2] - own[2];
      const float near = 1 / sqrtf(dx * dx + dy * dy + dz * dz + .01f);
      const float s = other[3] * near * near * near;
      x += dx * s;
      y += dy * s;
      z += dz * s;
    }
    force[4 * i] = x;
    force[4 * i + 1] = y;
    force[4 * i + 2] = z;
    force[4 * i + 3] = 0;
  }
}

void mandelbrot(int nx, int ny, int most, int *count) {
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      const float a = i * 3.f / nx - 2.f, b = j * 2.f / ny - 1.f;
      float x = 0, y = 0;
      int n = 0;
      while (n < most && x * x + y * y < 4.f) {
        const float next = x * x - y * y + a;
        y = 2 * x * y + b;
        x = next;
        ++n;
      }
      count[j * nx + i] = n;
    }
}

void gelu(int n, const float *in, float *restrict out) {
  for (int i = 0; i < n; ++i)
    out[i] = in[i] / (1 + expf(-1.702f * in[i]));
}

void hash(int n, int rounds, const unsigned *in, unsigned *restrict out) {
  for (int i = 0; i < n; ++i) {
    unsigned h = in[i];
    for (int r = 0; r < rounds; ++r) {
      h ^= h >> 16;
      h *= 0x85ebca6bu;
      h ^= h >> 13;
      h *= 0xc2b2ae35u;
      h ^= h >> 16;
    }
    out[i] = h;
  }
}
