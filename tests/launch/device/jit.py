"""Numba and CuPy with kernels of their own, whose PTX the driver compiles: hashes of what they compute and the
milliseconds of all launches. jit.py numba | cupy [LAUNCHES]

CuPy hands PTX over only with CUPY_COMPILE_WITH_PTX=1."""

import hashlib
import sys

import numpy

LAUNCHES = int(sys.argv[2]) if len(sys.argv) > 2 else 300
N, SIDE = 1 << 26, 8192


def show(name, data, ms):
    print(name, hashlib.sha256(numpy.ascontiguousarray(data).tobytes()).hexdigest()[:16])
    print(f"milliseconds {name} {ms:.3f}")


def use_numba():
    for gone, now in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
        if not hasattr(numpy, gone):  # Numba asks for names that NumPy has dropped
            setattr(numpy, gone, getattr(numpy, now))
    from numba import cuda

    @cuda.jit
    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = a * x[i] + y[i]

    @cuda.jit
    def heat(now, after):
        x, y = cuda.grid(2)
        if 0 < x < now.shape[1] - 1 and 0 < y < now.shape[0] - 1:
            after[y, x] = numpy.float32(0.25) * (now[y, x - 1] + now[y, x + 1] + now[y - 1, x] + now[y + 1, x])

    def timed(launch):
        begin, end = cuda.event(), cuda.event()
        launch()
        begin.record()
        for _ in range(LAUNCHES):
            launch()
        end.record()
        end.synchronize()
        return cuda.event_elapsed_time(begin, end)

    x = cuda.to_device(numpy.arange(N, dtype=numpy.float32) % 1000)
    y = cuda.to_device(numpy.ones(N, dtype=numpy.float32))
    ms = timed(lambda: saxpy[N // 256, 256](numpy.float32(0.5), x, y))
    show("saxpy", y.copy_to_host(), ms)
    now = cuda.to_device(numpy.random.default_rng(1).random((SIDE, SIDE), dtype=numpy.float32))
    after = cuda.to_device(numpy.zeros((SIDE, SIDE), dtype=numpy.float32))
    ms = timed(lambda: heat[(SIDE // 128, SIDE), (128, 1)](now, after))
    show("heat", after.copy_to_host(), ms)


def use_cupy():
    import cupy

    module = cupy.RawModule(code=r"""
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}
extern "C" __global__ void heat(const float *now, float *after, int nx, int ny) {
  int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
    after[y * nx + x] = 0.25f * (now[y * nx + x - 1] + now[y * nx + x + 1] + now[(y - 1) * nx + x] +
                                 now[(y + 1) * nx + x]);
}""")
    saxpy, heat = module.get_function("saxpy"), module.get_function("heat")

    def timed(launch):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        launch()
        begin.record()
        for _ in range(LAUNCHES):
            launch()
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(begin, end)

    x = cupy.arange(N, dtype=cupy.float32) % 1000
    y = cupy.ones(N, dtype=cupy.float32)
    ms = timed(lambda: saxpy((N // 256,), (256,), (cupy.float32(0.5), x, y, cupy.int32(N))))
    show("saxpy", cupy.asnumpy(y), ms)
    now = cupy.asarray(numpy.random.default_rng(1).random((SIDE, SIDE), dtype=numpy.float32))
    after = cupy.zeros((SIDE, SIDE), dtype=cupy.float32)
    ms = timed(lambda: heat((SIDE // 128, SIDE), (128, 1), (now, after, cupy.int32(SIDE), cupy.int32(SIDE))))
    show("heat", cupy.asnumpy(after), ms)


{"numba": use_numba, "cupy": use_cupy}[sys.argv[1]]()
