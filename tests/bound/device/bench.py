#!/usr/bin/env python3
"""bench.py: small launches of the kernels of kernelgen-bench as JSON, for launch.py and compare.py: each at a size
of which rows are whole sectors, in blocks of one row, and at one of which they are not, in blocks of four rows."""

import json
import math
import struct
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(PROJECT / "kernelgen-bench"))
from bench import table  # noqa: E402

TABLES = {"kernels": "kernels.toml", "plain": "plain.toml", "shapes": "shapes.toml"}
SIZES = {"even": ({1: [4096], 2: [256, 24], 3: [128, 16, 10]}, [128, 1, 1]),
         "odd": ({1: [5003], 2: [150, 31], 3: [70, 21, 13]}, [32, 4, 1])}


def ptx_of(kernel):
    """Beside the source; the plain and the everyday kernels have theirs in a folder of their own."""
    beside = kernel.source.with_suffix(".ptx")
    return beside if beside.exists() else table.FOLDER / "ptx" / f"{kernel.name}.ptx"


def launch(kernel, label, extents, block):
    extents = dict(zip(table.EXTENTS, extents))
    # Axes of the grid by the extents of the same name; a flat grid has flat blocks.
    block = list(block) if len(kernel.grid) > 1 else [math.prod(block), 1, 1]
    grid = [1, 1, 1]
    for axis, rim in zip(kernel.grid, kernel.rim):
        at = table.AXES.index(axis)
        grid[at] = max(1, math.ceil((extents[f"n{axis}"] - rim) / block[at]))
    points = math.prod(extents.values())
    threads = [g * b for g, b in zip(grid, block)]
    args, numbers = [], {}
    for i, argument in enumerate(kernel.arguments):
        kind = argument["kind"]
        if kind == "extent":
            args.append(("s32", extents[argument["name"]]))
        elif kind == "stride":
            args.append(("s32", threads[table.AXES.index(argument["axis"])]))
        elif kind == "scalar":
            args.append(("f32", argument["value"]))
        elif kind == "plan":
            args.append(("bytes", struct.pack("<9IxxxxQQ", *grid, *block, *threads, 0, 0).hex()))
            for axis in range(3):
                numbers[f"param_{i}+{24 + 4 * axis}"] = threads[axis]
        else:
            count = math.prod(int(f) if f.isdigit() else extents[f] for f in argument["count"].split("*")) \
                if argument["count"] else points
            args.append(("zeros", 4 * count))
        if args[-1][0] == "s32":
            numbers[f"param_{i}"] = args[-1][1]
    path = ptx_of(kernel).relative_to(PROJECT)
    return {"label": label, "ptx": str(path), "file": "-".join(path.with_suffix("").parts[1:]), "name": kernel.entry,
            "grid": grid, "block": block, "shared": 0, "args": args, "numbers": numbers}


def launches():
    result = []
    for name, (sizes, block) in SIZES.items():
        seen = set()
        for file in TABLES.values():
            for kernel in table.Table(table.FOLDER / file).kernels:
                path = ptx_of(kernel)
                if path in seen or not path.exists():
                    continue
                seen.add(path)
                result.append(launch(kernel, f"{path.parent.name}/{kernel.name} {name}", sizes[kernel.dimensions], block))
    return result


if __name__ == "__main__":
    print(json.dumps(launches(), indent=0))
