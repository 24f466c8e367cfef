"""PyTorch, CuPy and Triton with kernels of their own: hashes of what they compute, which must be the
same with and without the launch helper. frameworks.py torch | cupy | triton"""

import hashlib
import sys


def show(name, data):
    print(name, hashlib.sha256(data.tobytes()).hexdigest()[:16])


def use_torch():
    import torch

    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    a = torch.rand(1024, 1024, device="cuda")
    show("elementwise", (a * 2 + a.sin()).relu().cpu().numpy())
    show("matmul", (a @ a).cpu().numpy())  # cuBLAS
    image = torch.rand(8, 16, 64, 64, device="cuda")
    with torch.backends.cudnn.flags(deterministic=True, benchmark=False):
        show("convolution", torch.nn.functional.conv2d(image, torch.ones(4, 16, 3, 3, device="cuda")).cpu().numpy())
    out = torch.zeros_like(a)
    for _ in range(3):
        torch.add(a, 1, out=out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(10):
            out.mul_(1.5).add_(a)
    graph.replay()
    torch.cuda.synchronize()
    show("graph", out.cpu().numpy())


def use_cupy():
    import cupy

    a = cupy.arange(1 << 20, dtype=cupy.float32)
    show("elementwise", cupy.asnumpy(cupy.sqrt(a) * 3 + a))
    show("sum", cupy.asnumpy(a.reshape(1024, 1024).sum(axis=0)))
    kernel = cupy.RawKernel(
        'extern "C" __global__ void twice(const float *x, float *y, int n) {'
        " int i = blockDim.x * blockIdx.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }", "twice")
    b = cupy.empty_like(a)
    for _ in range(50):
        kernel((4096,), (256,), (a, b, cupy.int32(1 << 20)))
    show("raw", cupy.asnumpy(b))


def use_triton():
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def add(x, y, z, n, block: tl.constexpr):
        at = tl.program_id(0) * block + tl.arange(0, block)
        tl.store(z + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)

    n = 1 << 20
    x = torch.arange(n, device="cuda", dtype=torch.float32)
    z = torch.empty_like(x)
    for _ in range(50):
        add[(triton.cdiv(n, 1024),)](x, x, z, n, block=1024)
    show("add", z.cpu().numpy())


{"torch": use_torch, "cupy": use_cupy, "triton": use_triton}[sys.argv[1]]()
