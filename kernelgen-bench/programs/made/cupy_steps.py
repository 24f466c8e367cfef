"""Jacobi's method by a RawKernel, and an expression of arrays, by CuPy. Prints the GPU's milliseconds and sums of the results."""

import cupy

step = cupy.RawKernel(r'''
extern "C" __global__ void step(const float *now, float *next, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1) {
    int i = y * n + x;
    next[i] = 0.25f * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n]);
  }
}''', "step")
n = 4096
now = cupy.random.RandomState(1).random_sample((n, n), dtype=cupy.float32)
next = now.copy()
x = cupy.arange(1 << 24, dtype=cupy.float32)
start, end = cupy.cuda.Event(), cupy.cuda.Event()
step((n // 32, n // 8), (32, 8), (now, next, n))
y = x * 2 + 1
start.record()
for _ in range(2000):
    step((n // 32, n // 8), (32, 8), (now, next, n))
    step((n // 32, n // 8), (32, 8), (next, now, n))
for _ in range(2000):
    y = x * 2 + 1
end.record()
end.synchronize()
print("milliseconds", cupy.cuda.get_elapsed_time(start, end))
print("hash", float(now.sum(dtype=cupy.float64)), float(y.sum(dtype=cupy.float64)))
