"""saxpy.ptx on NumPy arrays:  python3 saxpy.py libptxasw_emulate.so saxpy.ptx"""

import ctypes
import sys

import numpy

library = ctypes.CDLL(sys.argv[1])
library.ptx_run.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), *[ctypes.c_int] * 7]
library.ptxasw_error.restype = ctypes.c_char_p


def launch(ptx, block, grid, *args, shared=0):
    """Runs the first kernel of a module. Arrays are passed by address, numbers by value."""
    values = []
    for arg in args:
        if isinstance(arg, numpy.ndarray):
            values.append(arg.ctypes.data)
        elif isinstance(arg, float):
            values.append(int(numpy.float32(arg).view(numpy.uint32)))
        else:
            values.append(arg)
    if library.ptx_run(ptx, len(values), (ctypes.c_void_p * len(values))(*values), *block, *grid, shared):
        raise RuntimeError(library.ptxasw_error().decode())


with open(sys.argv[2], "rb") as file:
    ptx = file.read()
n = 1000
x = numpy.arange(n, dtype=numpy.float32)
y = numpy.ones(n, dtype=numpy.float32)
launch(ptx, (256, 1, 1), (4, 1, 1), y, x, 2.0, n)
assert numpy.array_equal(y, 2 * x + 1)
print("y[999] =", y[999])
