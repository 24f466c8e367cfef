"""PTX out of the objects of Python's GPU compilers. Each function reads what its compiler documents or has kept for years, and
imports nothing unless it is given such an object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Optional, Tuple


@dataclass(frozen=True)
class Kernel:
    """PTX, and what its compiler knows of the launch. All functions of this package take it in the place of PTX."""

    ptx: str
    name: Optional[str] = None
    """Of the kernel in the PTX; None: the first."""
    block: Optional[Tuple[int, int, int]] = None
    """Threads of a block, where the compiler decides on them."""
    shared: int = 0
    """Bytes of dynamic shared memory."""
    null_tail: int = 0
    """So many parameters at the end may be left out of a launch's arguments; they are null."""


def from_triton(compiled: Any) -> Kernel:
    """The kernel of a `triton.compiler.CompiledKernel`: what `kernel[grid](...)`, `kernel.warmup(...)` and `triton.compile(...)`
    return. Triton decides on the shape of the block and on shared memory, so a launch needs only its grid.

    Constants (`tl.constexpr`), None and integers that Triton takes for 1 are no parameters of the PTX. Behind the
    kernel's own parameters stand one or two pointers to scratch memory, which are null if the kernel uses none."""
    asm = getattr(compiled, "asm", None)
    if asm is None or "ptx" not in asm:
        raise TypeError(f"{type(compiled).__name__} holds no PTX: from_triton() takes what kernel[grid](...) or "
                        "kernel.warmup(...) returns, compiled for an NVIDIA GPU")
    data = compiled.metadata
    sizes = [getattr(data, f"{name}_scratch_size", 0) or 0 for name in ("global", "profile")]
    return Kernel(asm["ptx"], data.name, (32 * data.num_warps, 1, 1), data.shared, 0 if any(sizes) else 2)


def from_numba(compiled: Any, signature: Any = None) -> Kernel:
    """The kernel of a function under `@cuda.jit` that has been compiled, by a launch or by its signature; `signature` chooses
    between several. What `cuda.compile_ptx()` returns, a pair of PTX and a type, is taken, too."""
    if isinstance(compiled, tuple) and len(compiled) == 2 and isinstance(compiled[0], str):
        return Kernel(compiled[0])
    if not hasattr(compiled, "inspect_asm"):
        raise TypeError(f"{type(compiled).__name__} holds no PTX: from_numba() takes a function under @cuda.jit or what "
                        "cuda.compile_ptx() returns")
    texts = compiled.inspect_asm() if signature is None else compiled.inspect_asm(signature)
    if isinstance(texts, dict):
        if len(texts) != 1:
            raise ValueError(f"{len(texts)} signatures are compiled; choose one: {', '.join(map(str, texts))}" if texts else
                             "nothing is compiled yet: launch the function once, or give @cuda.jit a signature")
        (texts,) = texts.values()
    return Kernel(texts)


def numba_array(array: Any) -> Tuple[Any, ...]:
    """The parameters that Numba makes of one array: two null pointers, elements, bytes of one, the data, extents, strides.
    `args=[*numba_array(x), *numba_array(y), n]`"""
    return (0, 0, array.size, array.itemsize, array, *array.shape, *array.strides)


def from_cupy(kernel: Any, arch: Optional[str] = None, name_expressions: Iterable[str] = ()) -> Kernel:
    """The kernel of a `cupy.RawKernel`, or of a `cupy.RawModule` that was made of source code. CuPy keeps no PTX, so its
    source is compiled once more, by the NVRTC that CuPy uses and with the same options. `arch` is "compute_90" and the
    like; by default that of the current GPU."""
    source = getattr(kernel, "code", None)
    if not isinstance(source, str):
        raise TypeError(f"{type(kernel).__name__} holds no source: from_cupy() takes a RawKernel or RawModule made of CUDA C++")
    if getattr(kernel, "backend", "nvrtc") != "nvrtc":
        raise ValueError("CuPy compiles this with nvcc; have nvcc write the PTX: nvcc -ptx")
    from cupy.cuda import Device, nvrtc  # type: ignore[import]

    arch = arch or f"compute_{Device().compute_capability}"
    options = [word for word in kernel.options if not word.startswith(("-arch", "--gpu-architecture"))]
    made = nvrtc.createProgram(source, "kernel.cu", (), ())
    try:
        for expression in name_expressions:
            nvrtc.addNameExpression(made, expression)
        try:
            nvrtc.compileProgram(made, (*options, f"--gpu-architecture={arch}"))
        except nvrtc.NVRTCError as error:
            raise ValueError(nvrtc.getProgramLog(made)) from error
        ptx = nvrtc.getPTX(made)
        name = getattr(kernel, "name", None)
    finally:
        nvrtc.destroyProgram(made)
    return Kernel(ptx.decode() if isinstance(ptx, bytes) else ptx, name)
