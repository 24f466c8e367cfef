"""racuda.py PTXASW [--table]: the kernels of RaCUDA's evaluation, bounded at the sizes that were published and
counted on the warp emulator at one of them: never more than the published bound of a warp (Muller and Hoffmann,
POPL 2021, tables 4 and 5, as their tool prints it), never less than what is counted. With --table the table of
docs/internals/bound.md; with --launches the launches at which is counted, for device/launch.py."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

PTXASW = sys.argv[1]
HERE = Path(__file__).resolve().parent / "racuda"


def warps(n):
    return math.ceil(n / 32)


def zeros(count):
    return f"zeros:{4 * count}"


# Of each kernel: file, published bounds of a warp on sectors and conflicts (None: no bound), names of the
# parameters, and by size the launch: block, grid, numbers, arguments for the emulator.
def addsub(sectors, by_row):
    def launch(w, h):
        threads = {"h": h, "h/2": h // 2, "w": w}[by_row]
        return {"block": str(threads), "grid": "1", "shared": 4 * threads, "numbers": {"w": w, "h": h},
                "args": [zeros(w * h + 2 * (w + h)), zeros(w * h + 4 * (w + h)), str(w), str(h)]}
    return {"file": "addsub", "names": "A,B,w,h", "sectors": sectors, "conflicts": lambda w, h: 0,
            "sizes": [(256, 256), (1024, 512), (514, 258)], "launch": launch}


def reduce(sectors, conflicts, per_block=256):
    def launch(n):
        blocks = math.ceil(n / per_block)
        return {"block": "256", "grid": str(blocks), "shared": 2048, "numbers": {"n": n},
                "args": [zeros(n), zeros(blocks), str(n)]}
    return {"file": "reduce", "names": "in,out,n", "sectors": lambda n: sectors, "conflicts": lambda n: conflicts,
            "sizes": [(16384,), (1048576,)], "launch": launch, "count_at": (16384,)}


def matmul(sectors, conflicts):
    def launch(n):
        return {"block": "32x32", "grid": f"{n // 32}x{n // 32}", "shared": 0, "numbers": {"n": n},
                "args": [zeros(n * n)] * 3 + [str(n)]}
    return {"file": "matmul", "names": "C,A,B,n", "sectors": sectors, "conflicts": conflicts,
            "sizes": [(64,), (320,), (1280,)], "launch": launch, "count_at": (64,)}


def vector(n):
    return {"block": "256", "grid": str(math.ceil(n / 256)), "shared": 0, "numbers": {"n": n},
            "args": [zeros(n)] * 3 + [str(n)]}


def histogram(n):
    return {"block": "64", "grid": "1", "shared": 0, "numbers": {"dataCount": n},
            "args": [zeros(256 + 32), zeros(n + 64), str(n)]}


def mandelbrot(blocks):
    numbers = {"width": 640, "height": 512, "limit": 64, "frame": 1, "blocks_x": 20, "blocks": blocks}
    return {"block": "32", "grid": "1", "shared": 0, "numbers": numbers,
            "args": [zeros(640 * 512), "640", "512", "64", "-2.0", "-1.0", "0.004", "1", "20", str(blocks)]}


def branches(n, m):
    return {"block": "32", "grid": "1", "shared": 0, "numbers": {"n": n, "m": m},
            "args": [zeros(32), str(n), str(m), "3"]}


SYN = {"file": "branches", "names": "out,n,m,val", "sectors": lambda n, m: None, "conflicts": lambda n, m: 0,
       "sizes": [(16, 64), (64, 512)], "launch": branches, "count_at": (16, 64)}
KERNELS = {
    "addSub0": addsub(lambda w, h: 132 * w, "h"),
    "addSub1": addsub(lambda w, h: 132 * w, "h/2"),
    # The published bound holds for block 0; ours for all, which begin anywhere if 8 does not divide the block.
    "addSub2": {**addsub(lambda w, h: 14 * (h + 1), "w"), "sizes": [(256, 256), (1024, 512)]},
    "addSub3": addsub(lambda w, h: 4 + 10 * (h + 1), "w"),
    "vectorAdd": {"file": "vectoradd", "names": "A,B,C,n", "sectors": lambda n: 12, "conflicts": lambda n: 0,
                  "sizes": [(16384,), (5000,)], "launch": vector},
    "reduce0": reduce(5, 0),
    "reduce1": reduce(5, 23715),
    "reduce2": reduce(5, None),
    "reduce2a": reduce(5, 0),
    "reduce3": reduce(9, None, 512),
    "reduce3a": reduce(9, 0, 512),
    "histogram256": {"file": "histogram", "names": "partial,data,dataCount",
                     "sectors": lambda n: (5740 + 10 * (63 + n)) / 64 / 2,
                     "conflicts": lambda n: 56 * (63 + n) / 64, "sizes": [(4096,), (65536,)],
                     "launch": histogram, "count_at": (4096,)},
    "matMul": matmul(lambda n: 4 + 10 * (31 + n) / 32, lambda n: 31 * (31 + n)),
    "matMulTrans": matmul(lambda n: 4 + 10 * (31 + n) / 32, lambda n: 1023 * (31 + n) / 32),
    "matMulBad": matmul(lambda n: 15 * (31 + n), lambda n: 0),
    "mandelbrot": {"file": "mandelbrot", "names": "image,width,height,limit,left,top,scale,frame,blocks_x,blocks",
                   "sectors": lambda blocks: 36 * blocks, "conflicts": lambda blocks: 0,
                   "sizes": [(320,)], "launch": mandelbrot, "count_at": (320,)},
    "synBrdis": SYN,
    "synBrdisOpt": SYN,
}
# The tool's bound of histogram256 is that of 64 threads, two warps; ours is of one.
KERNELS["histogram256"]["sectors"] = lambda n: 44.8437 + 0.078125 * (63 + n)
KERNELS["histogram256"]["conflicts"] = lambda n: 0.875 * (63 + n)


def bound(name, kernel, launch=None):
    words = [PTXASW, "bound", HERE / f"{kernel['file']}.ptx", "--kernel", name, "--launch", "base-align=256", "--json"]
    names = kernel["names"].split(",")
    if launch:
        numbers = [f"param_{names.index(k)}={v}" for k, v in launch["numbers"].items()]
        words += ["--launch", ",".join([*numbers, f"block={launch['block']}", f"grid={launch['grid']}"])]
    else:
        block = {"matmul": "32x32", "histogram": "64", "mandelbrot": "32", "branches": "32"}.get(kernel["file"], "256")
        words += ["--launch", f"block={block}"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode not in (0, 3) or not done.stdout:
        sys.exit(f"{name}: {done.stderr}")
    by_name = re.sub(r"\bparam_(\d+)\b", lambda found: names[int(found[1])], done.stdout)
    return json.loads(by_name)["kernels"][0]


def count(name, kernel, launch):
    words = [PTXASW, "emulate", HERE / f"{kernel['file']}.ptx", "--kernel", name, "--check", "none", "--count", "--launch",
             f"block={launch['block']},grid={launch['grid']},shared={launch['shared']}"]
    for place, argument in enumerate(launch["args"]):
        words.append(f"--launch=param_{place}={argument}")
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")
    rows = [line.split() for line in done.stdout.splitlines()]
    return {row[0]: list(map(int, row[1:4])) for row in rows if len(row) == 4 and row[1].isdigit()}


def number(value):
    return value if value is None else float(value) if "/" not in value else eval(value)


def launches():
    """One launch of each kernel: name, file, extents, shared memory, arguments with their kinds."""
    result = []
    for name, kernel in KERNELS.items():
        launch = kernel["launch"](*kernel.get("count_at", kernel["sizes"][0]))
        kinds = [("zeros", int(a[6:])) if a.startswith("zeros:") else ("f32", float(a)) if "." in a
                 else ("s32", int(a)) for a in launch["args"]]
        extents = {word: [int(n) for n in launch[word].split("x")] for word in ("grid", "block")}
        result.append({"name": name, "file": kernel["file"], "shared": launch["shared"], "args": kinds,
                       "names": kernel["names"], "numbers": launch["numbers"], **extents})
    return result


def main():
    if "--launches" in sys.argv:
        print(json.dumps(launches()))
        return 0
    wrong, lines = [], []
    for name, kernel in KERNELS.items():
        formula = bound(name, kernel)
        for size in kernel["sizes"]:
            at = bound(name, kernel, kernel["launch"](*size))
            for metric in ("sectors", "conflicts"):
                most = number(at["bounds"][metric]["warp"])
                published = kernel[metric](*size)
                if most is None:
                    wrong.append(f"{name} {metric}: no bound: {at['bounds'][metric]['reason']}")
                elif published is not None and most > published:
                    wrong.append(f"{name} {metric} at {size}: {most}, published {published}")
            if at["bounds"]["steps"]["warp"] is None and name != "mandelbrot":
                wrong.append(f"{name} steps: no bound: {at['bounds']['steps']['reason']}")
        size = kernel.get("count_at", kernel["sizes"][0])
        at = bound(name, kernel, kernel["launch"](*size))
        counted = count(name, kernel, kernel["launch"](*size))
        for metric, values in at["bounds"].items():
            for scope, actual in zip(("warp", "block", "launch"), counted[metric]):
                if values[scope] is not None and actual > number(values[scope]):
                    wrong.append(f"{name} {metric} {scope}: counted {actual}, bound {values[scope]}")

        def cell(metric):
            published = kernel[metric](*size)
            told = "-" if published is None else f"{published:.0f}"
            return f"{told} | {at['bounds'][metric]['warp']} | {counted[metric][0]}"
        where = ", ".join(f"{v}" for v in size)
        lines.append(f"| {name} | {where} | {cell('sectors')} | {cell('conflicts')} | "
                     f"`{formula['bounds']['sectors']['warp']}` |")
    if "--table" in sys.argv:
        print("| kernel | size | sectors: published | bound | counted | conflicts: published | bound | counted | "
              "sectors of a warp |\n|---|---|---|---|---|---|---|---|---|")
        print("\n".join(lines))
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
