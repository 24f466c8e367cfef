"""Kernels on the arrays of this process: `emulate` by libptxasw_emulate.so, on the arrays themselves; `check` by the program,
on copies of them, with everything that `ptxasw emulate` looks for."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Union

from . import _results
from ._arguments import Memory, Parameter, encode_all, memory_of, merged
from ._kernel import Kernel
from ._program import Error, Ptx, ask, name_of, program, put, text_of

Extents = Union[int, Sequence[int]]

# What may be touched belongs to the process, so launches come one behind the other.
_one_launch = threading.Lock()


class KernelFault(RuntimeError):
    """A kernel failed: an access out of bounds, a trap, a deadlock. What it had stored is in the arrays."""


class _Parameter(ctypes.Structure):
    _fields_ = [("type", ctypes.c_char * 8), ("bytes", ctypes.c_size_t)]


@functools.lru_cache(maxsize=None)
def _library() -> Any:
    """libptxasw_emulate.so of the wheel, or else the one beside the program."""
    folder = Path(__file__).resolve().parent / "lib"
    if os.environ.get("PTXASW") or not folder.exists():
        folder = program().parent
    path = folder / "libptxasw_emulate.so"
    if not path.exists():
        raise Error("there is no libptxasw_emulate.so: install the wheel, or have it beside the program that PTXASW names")
    for needed in sorted(path.parent.glob("lib*.so.*")):  # what the wheel brings along for it
        ctypes.CDLL(str(needed))
    library = ctypes.CDLL(str(path))
    library.ptxasw_error.restype = ctypes.c_char_p
    library.ptxasw_parameters.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(_Parameter), ctypes.c_size_t,
                                          ctypes.POINTER(ctypes.c_size_t)]
    three = ctypes.c_uint * 3
    library.ptxasw_launch.argtypes = [ctypes.c_char_p, ctypes.c_char_p, three, three, ctypes.c_uint,
                                      ctypes.POINTER(ctypes.c_void_p)]
    library.ptxasw_allow.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    library.ptxasw_forget.argtypes = [ctypes.c_void_p]
    library.ptxasw_forget.restype = None
    return library


def _end(code: int) -> None:
    if code:
        raise (KernelFault if code == 1 else Error)(_library().ptxasw_error().decode(errors="replace"))


def parameters(ptx: Ptx, kernel: Optional[str] = None) -> List[Parameter]:
    """The parameters of a kernel; without a name, of the first."""
    text, name = text_of(ptx).encode(), name_of(ptx, kernel)
    found, count = (_Parameter * 0)(), ctypes.c_size_t()
    while True:
        capacity = len(found)
        _end(_library().ptxasw_parameters(text, name and name.encode(), found, capacity, ctypes.byref(count)))
        if count.value <= capacity:
            return [Parameter(one.type.decode(), one.bytes) for one in found[:count.value]]
        found = (_Parameter * count.value)()


def _extents(value: Extents, what: str) -> Tuple[int, int, int]:
    given = (value,) if isinstance(value, int) else tuple(value)
    if not 1 <= len(given) <= 3 or not all(0 < int(extent) < 1 << 32 for extent in given):
        raise ValueError(f"{what} has one to three extents from 1: {value}")
    x, y, z = (*(int(extent) for extent in given), 1, 1)[:3]
    return x, y, z


class _Launch:
    """What `emulate` and `check` have in common: the words of a launch, looked at and complete."""

    def __init__(self, ptx: Ptx, kernel: Optional[str], grid: Extents, block: Optional[Extents], args: Sequence[Any],
                 shared: Optional[int]) -> None:
        known = ptx if isinstance(ptx, Kernel) else Kernel("")
        if block is None and known.block is None:
            raise TypeError("how many threads has a block? block=256, for example")
        self.text = text_of(ptx)
        self.kernel = name_of(ptx, kernel)
        self.grid = _extents(grid, "grid")
        self.block = _extents(block if block is not None else known.block or 1, "block")
        self.shared = known.shared if shared is None else shared
        self.values, self.memories = encode_all(args, parameters(self.text, self.kernel), self.kernel or "the kernel",
                                                known.null_tail)


def emulate(ptx: Ptx, kernel: Optional[str] = None, grid: Extents = 1, block: Optional[Extents] = None,
            args: Sequence[Any] = (), *, shared: Optional[int] = None, memory: Iterable[Any] = ()) -> None:
    """Runs a kernel on the CPU, on the arrays in `args`: afterwards they hold what it stored.

    `args` has a value for each parameter. Arrays (NumPy's, PyTorch's on the CPU, writable buffers) are passed by address;
    numbers are converted to the parameter's type; a structure is `bytes` or a ctypes structure. The kernel may touch these
    arrays, to the byte, and those in `memory`, to which pointers in other arrays may lead; it may not store to a read-only array.

    Raises KernelFault if the kernel failed, Error if it could not be tried."""
    launch = _Launch(ptx, kernel, grid, block, args, shared)
    further = [memory_of(array) for array in memory]
    if None in further:
        raise TypeError("memory= takes arrays")
    nothing = ctypes.create_string_buffer(1)  # without any range, all of the process could be touched
    ranges = merged([*launch.memories, *further]) or [Memory(ctypes.addressof(nothing), 1, 0, False, nothing)]
    kept = [ctypes.create_string_buffer(value, len(value)) for value in launch.values]
    addresses = (ctypes.c_void_p * max(1, len(kept)))(*map(ctypes.addressof, kept))
    three = ctypes.c_uint * 3
    library = _library()
    with _one_launch:
        try:
            for one in ranges:
                _end(library.ptxasw_allow(one.start, one.size, one.writable))
            _end(library.ptxasw_launch(launch.text.encode(), launch.kernel and launch.kernel.encode(), three(*launch.grid),
                                       three(*launch.block), launch.shared, addresses))
        finally:
            for one in ranges:
                library.ptxasw_forget(one.start)


def check(ptx: Ptx, kernel: Optional[str] = None, grid: Extents = 1, block: Optional[Extents] = None,
          args: Sequence[Any] = (), *, shared: Optional[int] = None, schedule: str = "reconverge") -> List[_results.Fault]:
    """Runs a kernel like `emulate`, on copies of the arrays, and returns what is wrong with this run: races, accesses out of
    bounds, barriers that not all threads come to, traps. A pointer that is stored in memory leads nowhere there."""
    launch = _Launch(ptx, kernel, grid, block, args, shared)
    ranges = merged(launch.memories)
    with TemporaryDirectory() as folder:
        lines = [f"grid = {list(launch.grid)}", f"block = {list(launch.block)}", f"shared = {launch.shared}",
                 f'schedule = "{schedule}"']
        if launch.kernel:
            lines.insert(0, f'kernel = "{launch.kernel}"')
        for i, one in enumerate(ranges):
            Path(folder, f"{i}.bin").write_bytes(ctypes.string_at(one.start, one.size))
            lines.append(f'[[buffer]]\nname = "buffer{i}"\ntype = "b8"\nsize = {one.size}\nfile = "{i}.bin"')
        for value, memory in zip(launch.values, launch.memories):
            place = next(((i, memory.pointer - one.start) for i, one in enumerate(ranges)
                          if memory and one.start <= memory.pointer <= one.start + one.size), None)
            lines.append("[[argument]]\n" + (f'buffer = "buffer{place[0]}"\noffset = {place[1]}' if place and memory else
                                             f'bytes = "{value.hex()}"'))
        said = ask(["emulate", put(folder, "kernel.ptx", launch.text), "--launch",
                    put(folder, "launch.toml", "\n".join(lines) + "\n"), "--json"])
    found = [_results.fault(data) for data in said["findings"]]
    untried = [fault for fault in found if fault.kind in ("unsupported", "bad launch")]
    if untried:
        raise Error(str(untried[0]))
    return found
