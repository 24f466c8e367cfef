"""Python values as the bytes of a kernel's parameters, and the memory that the kernel may touch through them.

An array is passed by its address, so it is found by the protocols that tell addresses: NumPy's array interface, PyTorch's
storages, Python's writable buffers. NumPy itself is not imported."""

from __future__ import annotations

import ctypes
import numbers
import struct
import sys
from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Tuple

FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}


@dataclass(frozen=True)
class Parameter:
    """Of a kernel: its type as in the PTX, without the dot, and its bytes."""

    type: str
    size: int


@dataclass(frozen=True)
class Memory:
    """A range of this process's memory that an argument leads to; `pointer` may lie within it."""

    start: int
    size: int
    pointer: int
    writable: bool
    owner: Any


def memory_of(value: Any) -> Optional[Memory]:
    """The memory of an array; None of anything else."""
    if is_numpy_scalar(value) or isinstance(value, (bytes, numbers.Number)):
        return None
    if hasattr(value, "untyped_storage"):  # PyTorch
        if value.device.type != "cpu":
            raise TypeError(f"a tensor on {value.device}; kernels run on the memory of this process: give tensor.cpu()")
        storage = value.untyped_storage()
        return Memory(storage.data_ptr(), storage.nbytes(), value.data_ptr(), True, value)
    if hasattr(value, "__cuda_array_interface__"):
        raise TypeError("an array on a GPU; kernels run on the memory of this process: give array.get()")
    if hasattr(value, "__array_interface__"):
        return memory_of_interface(value)
    if isinstance(value, (ctypes.Structure, ctypes.Union, ctypes._SimpleCData)):
        return None
    try:
        view = memoryview(value)
    except TypeError:
        return None
    if view.readonly or not view.contiguous:
        raise TypeError("a buffer that is read-only or not contiguous")
    raw = (ctypes.c_char * view.nbytes).from_buffer(view)
    return Memory(ctypes.addressof(raw), view.nbytes, ctypes.addressof(raw), True, raw)


def memory_of_interface(value: Any) -> Memory:
    """By NumPy's array interface: all bytes from the lowest to the highest that the strides lead to."""
    data = value.__array_interface__
    pointer, readonly = data["data"]
    item = int(data["typestr"][2:])
    steps = data.get("strides")
    if steps is None:
        steps = [item]
        for extent in reversed(data["shape"][1:]):
            steps.insert(0, steps[0] * extent)
    reach = [(extent - 1) * step for extent, step in zip(data["shape"], steps)]
    size = 0 if 0 in data["shape"] else sum(abs(bytes_) for bytes_ in reach) + item
    return Memory(pointer + (sum(min(0, bytes_) for bytes_ in reach) if size else 0), size, pointer, not readonly, value)


def is_numpy_scalar(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def encode(value: Any, parameter: Parameter) -> bytes:
    """The bytes of a parameter's value that is no array."""
    if isinstance(value, (ctypes.Structure, ctypes.Union, ctypes._SimpleCData)):
        value = bytes(value)
    if is_numpy_scalar(value):
        fits = value.dtype.kind == "f" and parameter.type in ("f16", "f32", "f64", "b16", "b32", "b64")
        if value.dtype.kind == "V" or (fits and value.itemsize == parameter.size):
            value = value.tobytes()
        else:
            value = value.item()
    if isinstance(value, bytes):
        if len(value) != parameter.size:
            raise ValueError(f"{len(value)} bytes are given")
        return value
    if isinstance(value, numbers.Real) and parameter.type in FLOATS:
        return struct.pack(FLOATS[parameter.type], float(value))
    if isinstance(value, numbers.Integral):
        number = int(value)
        bits = 8 * parameter.size
        if not -(1 << bits >> 1) <= number < 1 << bits:
            raise ValueError(f"{number} does not fit")
        return (number % (1 << bits)).to_bytes(parameter.size, "little")
    if isinstance(value, numbers.Real):
        raise TypeError("a real number; numpy.float32(x) says which bits are meant" if parameter.type[0] == "b" else
                        "a real number")
    raise TypeError(f"{type(value).__name__} is neither an array nor a number")


def encode_all(values: Sequence[Any], parameters: Sequence[Parameter], kernel: str,
               null_tail: int) -> Tuple[List[bytes], List[Optional[Memory]]]:
    """Of each parameter its bytes, and where it is a pointer to an array, that array's memory."""
    missing = len(parameters) - len(values)
    if not 0 <= missing <= null_tail:
        types = ", ".join(parameter.type for parameter in parameters)
        raise TypeError(f"{kernel} has {len(parameters)} parameters ({types}), {len(values)} are given")
    encoded: List[bytes] = []
    memories: List[Optional[Memory]] = []
    for i, (value, parameter) in enumerate(zip([*values, *[0] * missing], parameters)):
        try:
            memory = memory_of(value)
            if memory and parameter.size != 8:
                raise TypeError("an array")
            encoded.append(encode(memory.pointer if memory else value, parameter))
            memories.append(memory)
        except (TypeError, ValueError, OverflowError) as error:
            raise type(error)(f"parameter {i} of {kernel} (.{parameter.type}): {error}") from None
    return encoded, memories


def merged(memories: Sequence[Optional[Memory]]) -> List[Memory]:
    """The same bytes as ranges that do not overlap, by address."""
    ranges: List[Memory] = []
    for memory in sorted((m for m in memories if m and m.size), key=lambda m: m.start):
        last = ranges[-1] if ranges else None
        if last and memory.start < last.start + last.size:
            end = max(last.start + last.size, memory.start + memory.size)
            ranges[-1] = Memory(last.start, end - last.start, last.start, last.writable or memory.writable,
                                (last.owner, memory.owner))
        else:
            ranges.append(memory)
    return ranges
