"""Columns of a matrix as rows of another, as one would first write it: the lanes of a warp read
`stride` numbers apart. columns.ptx is written by hand in the form that Triton 3 gives such a kernel."""

import triton
import triton.language as tl


@triton.jit
def columns(x_ptr, out_ptr, rows, stride, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < rows
    x = tl.load(x_ptr + offsets * stride + column, mask=mask)
    tl.store(out_ptr + column * rows + offsets, x, mask=mask)
