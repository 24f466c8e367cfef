"""A CuPy kernel, and what ptxasw says of it, on a machine with a GPU:  python3 cupy_saxpy.py"""

import cupy
import numpy

import ptxasw
from ptxasw.testing import assert_race_free

saxpy = cupy.RawKernel(r"""
extern "C" __global__ void saxpy(float *y, const float *x, float a, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += a * x[i];
}
""", "saxpy")

n = 100003
x = cupy.arange(n, dtype=cupy.float32)
y = cupy.ones(n, dtype=cupy.float32)
on_cpu = y.get()
blocks = (n + 255) // 256
saxpy((blocks,), (256,), (y, x, numpy.float32(0.3), numpy.uint32(n)))

kernel = ptxasw.from_cupy(saxpy)
print(f"{kernel.name}: {len(kernel.ptx.splitlines())} lines of PTX")
print("\n".join(map(str, ptxasw.lint(kernel))) or "nothing makes it slow")
ptxasw.emulate(kernel, grid=blocks, block=256, args=[on_cpu, x.get(), 0.3, n])
assert numpy.array_equal(on_cpu, y.get())
print(f"all {n} results are the GPU's to the bit")
assert_race_free(kernel, assume=["disjoint", "1d", "no-wrap"])
print("no launch races, if y and x are apart and indices do not wrap around")
