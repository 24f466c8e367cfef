"""racuda.py PTXASW [--table | --means]: the kernels of RaCUDA's evaluation, bounded at the sizes that were published and
counted on the warp emulator at one of them: never more than the published bound of a warp (Muller and Hoffmann,
POPL 2021, tables 4 and 5, as their tool prints it), never less than what is counted. With --table the table of
docs/internals/bound.md; with --means how far bounds are above what is counted, in the mean over sizes of three kinds,
as its tables 4 to 7 have it, and the points of its figure 8; with --launches the launches at which is counted, for device/launch.py,
with --every-size also those of the means."""

import contextlib
import json
import math
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    sys.exit(__doc__)
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
    words = [PTXASW, "cost", "--only", "bounds", HERE / f"{kernel['file']}.ptx", "--kernel", name, "--launch", "base-align=256", "--json"]
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


def sizes_of(name):
    """All sizes of SIZES, by kind."""
    draw = random.Random(name).randint
    return {kind: SIZES[name](kind, draw) for kind in ("32N", "32N+1", "random")}


def launches(every_size):
    """One launch of each kernel, or one at each size of SIZES: label, name, file, extents, shared memory, arguments with their
    kinds."""
    result = []
    chosen = [(name, kernel, size) for name, kernel in KERNELS.items()
              for size in (dict.fromkeys(sum(sizes_of(name).values(), [])) if every_size
                           else [kernel.get("count_at", kernel["sizes"][0])])]
    for name, kernel, size in chosen:
        launch = kernel["launch"](*size)
        kinds = [("zeros", int(a[6:])) if a.startswith("zeros:") else ("f32", float(a)) if "." in a
                 else ("s32", int(a)) for a in launch["args"]]
        extents = {word: [int(n) for n in launch[word].split("x")] for word in ("grid", "block")}
        label = " ".join(map(str, (name, *size))) if every_size else name
        result.append({"label": label, "name": name, "file": kernel["file"], "shared": launch["shared"], "args": kinds,
                       "names": kernel["names"], "numbers": launch["numbers"], **extents})
    return result


# Sizes by kind: whole warps, a thread more than whole warps, and drawn at random; a kernel that takes whole warps only has
# no others. The published errors: sectors, conflicts, divwarps, steps, each for these kinds (None: not given).
def rows(first):
    """Sizes (w, h) of which the threads are `first` of the two; addSub1 has a thread for two rows."""
    def sizes(kind, draw):
        one = {"32N": [64, 256, 512], "32N+1": [65, 257, 513], "random": [draw(33, 1000) for _ in range(4)]}[kind]
        return [{"w": (n, 96), "h": (96, n), "h/2": (96, 2 * n)}[first] for n in one]
    return sizes


def any_number(least, most, whole=1):
    def sizes(kind, draw):
        if kind != "32N" and whole > 1 or kind == "32N+1" and whole == 0:
            return []
        step = max(whole, 32)
        numbers = [least // step * step + step, (least + most) // 2 // step * step, most // step * step]
        return {"32N": [(n,) for n in numbers], "32N+1": [(n + 1,) for n in numbers],
                "random": [(draw(least, most),) for _ in range(4)]}[kind]
    return sizes


def branch_counts(kind, draw):
    return {"32N": [(16, 32), (64, 64)], "32N+1": [(17, 33), (65, 65)], "random": [(draw(1, 64), draw(1, 64)) for _ in range(3)]}[kind]


SIZES = {"addSub0": rows("h"), "addSub1": rows("h/2"), "addSub2": rows("w"), "addSub3": rows("w"),
         "vectorAdd": any_number(1000, 20000), "matMul": any_number(32, 160, 32), "matMulTrans": any_number(32, 160, 32),
         "matMulBad": any_number(32, 160, 32), "histogram256": any_number(1024, 8192, 64), "mandelbrot": any_number(32, 320),
         "synBrdis": branch_counts, "synBrdisOpt": branch_counts,
         **{name: any_number(4096, 16384, 512) for name in KERNELS if name.startswith("reduce")}}
PUBLISHED_ERRORS = {
    "matMul": (0.30, None, 0, 1.63), "matMulBad": (0.20, 0, 0.02, 0.04), "matMulTrans": (0.30, 33.4, 0, 1.56),
    "mandelbrot": (0.13, 0, None, None), "vectorAdd": (1.4e-4, 0, None, 0), "reduce0": (0.21, 0, 27.56, 26.05),
    "reduce1": (0.21, 1806, 41.83, 87.77), "reduce2": (0.21, None, None, None), "reduce2a": (None, 0, 24.90, 14.31),
    "reduce3": (1.22, None, None, None), "reduce3a": (None, 0, 25.10, 13.63), "histogram256": (0.25, 0, 0, 0.51),
    "addSub0": (1.06, 0, 0, 0.59), "addSub1": (0.07, 0, 0, 0.01), "addSub2": (0.16, 0, 0, 0.05),
    "addSub3": (0.23, 0, 0, 0.06), "synBrdis": (None, None, 0, 0), "synBrdisOpt": (None, None, 0, 0)}


@contextlib.contextmanager
def worst_data(name, launch, size, word=lambda place: bytes([place % 8 * 32] * 4)):
    """While this lasts, the histogram's launch reads words made by `word`: by default all bytes of a warp fall into one bank."""
    with tempfile.NamedTemporaryFile() as data:
        if name == "histogram256":
            data.write(b"".join(map(word, range(size[0] + 64))))
            data.flush()
            launch["args"][1] = f"file:{data.name}"
        yield


def error_at(name, kernel, size):
    """How far each bound is above what is counted, as a part of that: of the launch for sectors and conflicts, of a warp for
    divwarps and steps. None: no bound, or nothing is counted; then the bound itself has to be nothing."""
    launch = kernel["launch"](*size)
    with worst_data(name, launch, size):
        bounds, counted = bound(name, kernel, launch)["bounds"], count(name, kernel, launch)
    errors = {}
    for metric, scope in (("sectors", 2), ("conflicts", 2), ("divwarps", 0), ("steps", 0)):
        told, actual = bounds[metric][("warp", "block", "launch")[scope]], counted[metric][scope]
        if told is None:
            errors[metric] = "n/b"
        elif actual:
            errors[metric] = number(told) / actual - 1
        else:
            errors[metric] = 0.0 if number(told) == 0 else f"{number(told):.0f} of 0"
    return errors


def digits(value):
    return "-" if value is None else f"{value:.2g}" if value < 100 else f"{value:.0f}"


def mean_of(errors):
    numbers = [e for e in errors if isinstance(e, float)]
    words = [e for e in errors if not isinstance(e, float)]
    return words[0] if words else digits(sum(numbers) / len(numbers) if numbers else None)


def print_means():
    print("kernel\tmetric\t32N\t32N+1\trandom\tmean\tpublished")
    for name, kernel in KERNELS.items():
        by_kind = {kind: [error_at(name, kernel, size) for size in sizes] for kind, sizes in sizes_of(name).items()}
        for place, metric in enumerate(("sectors", "conflicts", "divwarps", "steps")):
            of_kind = [[errors[metric] for errors in by_kind[kind]] for kind in by_kind]
            print(name, metric, *map(mean_of, of_kind), mean_of(sum(of_kind, [])), digits(PUBLISHED_ERRORS[name][place]),
                  sep="\t")


def print_figure():
    """The points of figure 8: a kernel's bound and counts by its size; bytes that all fall into one bank, and bytes drawn."""
    print("kernel\tmetric\tsize\tbound\tcounted, worst\tcounted, random")
    for h in range(64, 1025, 96):
        launch = KERNELS["addSub1"]["launch"](96, h)
        print("addSub1", "sectors", h, bound("addSub1", KERNELS["addSub1"], launch)["bounds"]["sectors"]["launch"],
              count("addSub1", KERNELS["addSub1"], launch)["sectors"][2], "-", sep="\t")
    name, kernel = "histogram256", KERNELS["histogram256"]
    for n in range(1024, 8193, 1024):
        launch, counted, draw = histogram(n), [], random.Random(n)
        for words in ({}, {"word": lambda _: draw.randbytes(4)}):
            with worst_data(name, launch, (n,), **words):
                counted.append(count(name, kernel, launch)["conflicts"][2])
        print(name, "conflicts", n, bound(name, kernel, launch)["bounds"]["conflicts"]["launch"], *counted, sep="\t")


def main():
    if "--means" in sys.argv:
        print_means()
        print_figure()
        return 0
    if "--launches" in sys.argv:
        print(json.dumps(launches("--every-size" in sys.argv)))
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
