"""A Numba kernel, and what ptxasw says of it, on a machine with a GPU:  python3 numba_saxpy.py"""

import numpy
from numba import cuda

import ptxasw
from ptxasw.testing import assert_race_free


@cuda.jit
def saxpy(y, x, a):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += a * x[i]


n = 100003
x = numpy.arange(n, dtype=numpy.float32)
on_cpu = numpy.ones(n, dtype=numpy.float32)
on_gpu = on_cpu.copy()
blocks = (n + 255) // 256
saxpy[blocks, 256](on_gpu, x, numpy.float32(0.3))

kernel = ptxasw.from_numba(saxpy)
print(f"{len(kernel.ptx.splitlines())} lines of PTX; parameters:",
      ", ".join(parameter.type for parameter in ptxasw.parameters(kernel)))
print("\n".join(map(str, ptxasw.lint(kernel))) or "nothing makes it slow")
arguments = [*ptxasw.numba_array(on_cpu), *ptxasw.numba_array(x), 0.3]
ptxasw.emulate(kernel, grid=blocks, block=256, args=arguments)
assert numpy.array_equal(on_cpu, on_gpu)
print(f"all {n} results are the GPU's to the bit")
assert_race_free(kernel, grid=4, block=256, args=arguments)
print("4 blocks of it do not race")
