"""A Triton kernel, and what ptxasw says of it, on a machine with a GPU:  python3 triton_softmax.py [FILE for the PTX]

The kernel is launched once. Its PTX is then looked for what makes it slow, run on the CPU on copies of the same arrays,
checked for races, and compared with what the GPU computed."""

import sys
from pathlib import Path

import numpy
import torch
import triton
import triton.language as tl

import ptxasw


@triton.jit
def softmax(result, source, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(source + row * columns + at, mask=inside, other=-float("inf"))
    powers = tl.exp(x - tl.max(x, axis=0))
    tl.store(result + row * columns + at, powers / tl.sum(powers, axis=0), mask=inside)


rows, columns = 64, 1000
torch.manual_seed(1)
source = torch.randn(rows, columns, device="cuda")
result = torch.empty_like(source)
compiled = softmax[(rows,)](result, source, columns, BLOCK=1024)

kernel = ptxasw.from_triton(compiled)
print(f"{kernel.name}: {len(kernel.ptx.splitlines())} lines of PTX, block {kernel.block}, {kernel.shared} bytes of shared memory")
print("parameters:", ", ".join(parameter.type for parameter in ptxasw.parameters(kernel)))
if len(sys.argv) > 1:
    Path(sys.argv[1]).write_text(kernel.ptx)

findings = ptxasw.lint(kernel)
print("\n".join(map(str, findings)) or "nothing makes it slow")

x = source.cpu().numpy()
y = numpy.empty_like(x)
arguments = [y, x, columns]
ptxasw.emulate(kernel, grid=rows, args=arguments)
on_gpu = result.cpu().numpy()
print(f"{(y == on_gpu).sum()} of {y.size} results are the GPU's to the bit; the others differ by "
      f"{numpy.abs(y / on_gpu - 1).max():.1e} of their magnitude at most")
numpy.testing.assert_allclose(y, on_gpu, rtol=1e-5)

faults = ptxasw.check(kernel, grid=4, args=arguments)
print("\n".join(map(str, faults)) or "no race, no access out of bounds in 4 blocks")
assert not faults
