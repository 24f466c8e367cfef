#!/usr/bin/env python3
"""tables.py NAME FILE...: the rows of a table of the pages, from the files that it was measured into.

A comment before a table says where its numbers come from:

    <!-- record: docs/results/h200/staging.txt#staging -->

names files and the function here that makes the rows of them; the test wrapper.numbers compares. What
was measured anew is printed as

    docs/tables.py staging docs/results/h200/staging.txt

with more digits than a page needs: a page rounds. A cell that is None is text in which nothing is measured."""

import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = {}


def table(function):
    TABLES[function.__name__] = function
    return function


def lines_of(path):
    return path.read_text().splitlines()


def tsv(path, names=None):
    """The rows of a file with tabs as dictionaries; `names` where it has no line of names."""
    lines = [line for line in lines_of(path) if not line.startswith("#")]
    return list(csv.DictReader(lines, names, delimiter="\t"))


def jsonl(path):
    """What `launch` measured: a line per version, the GPU in the first."""
    return [json.loads(line) for line in lines_of(path)][1:]


def number(value):
    return f"{float(value):.9g}"


def geomean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def shape(block):
    return "x".join(map(str, block[:2]))


# Versions of kernels, measured by kernelgen-bench/siblings/launch.


def best_versions(path, wanted=None):
    """{case: {block: (gain, variant)}} of the best version of each launch, the kernel itself among them."""
    best = defaultdict(dict)
    for row in jsonl(path):
        key = tuple(row["block"])
        if row["ms"] and row["gain"] > best[row["case"]].get(key, (0,))[0]:
            best[row["case"]][key] = row["gain"], row["variant"]
    return {case: blocks for case, blocks in best.items() if wanted is None or wanted(case)}


def version_cell(found):
    if found is None:
        return ""
    gain, variant = found
    if gain < 1.005:
        return number(max(gain, 1))
    return f"{number(gain)} {'maxnreg ' if variant.isdigit() else ''}{variant}"


SUITE_BLOCKS = ((512, 1, 1), (128, 1, 1), (32, 16, 1))


@table
def suite_versions(*paths):
    """Best versions of the suite by block shape, the columns of one GPU after the other's."""
    of = [best_versions(path, lambda case: "^" not in case) for path in paths]
    order = [case for case in of[0] if case not in FILTERS] + [case for case in FILTERS if case in of[0]]
    order.sort(key=lambda case: (case in FILTERS, "" if case in FILTERS else case))
    for case in order:
        yield [case, *(version_cell(best[case].get(block)) for best in of for block in SUITE_BLOCKS)]


FILTERS = ("box", "conv2d_5", "conv2d_7")


@table
def suite_runs(*paths):
    """What each kernel gains in the third run under `ptxasw faster`, by medians and in blocks of 512x1: one record after the other."""
    of = [{words[0]: words[5] for words in map(str.split, lines_of(path)) if len(words) == 9 and words[1] == "512x1"} for path in paths]
    for case in of[-1]:
        if "^" not in case:
            yield [case, *(number(gains[case]) if case in gains else "" for gains in of)]


@table
def ends(path):
    """The best version of each kernel, in blocks of 32x4 or 16x8 and without spilling, by what copies do at the end of a row."""
    best = defaultdict(dict)
    for row in jsonl(path):
        version, _, way = row.get("variant", "").partition("/")
        way, _, block = way.partition("@")
        if way and row["local"] == 0 and row["ms"] < best[row["case"]].get(way, (9,))[0]:
            best[row["case"]][way] = row["ms"], f"{version.removeprefix('wide-').replace('-rows', '').replace('-once', '')} in {block}"
    for case, of in best.items():
        yield [case, *(f"{of[way][0]:.3f} {of[way][1]}" for way in ("alone", "plan", "own"))]


@table
def skewed_versions(path):
    """The best version of each filter that spills nothing, and the share of a copy's rate: not skewed, as they were, and now."""
    rows = [row for row in jsonl(path) if row.get("run") == "all" and row["fits"] and row["local"] == 0]
    copy = max(row["gb_s"] for row in rows if row["case"] == "copy")
    best = defaultdict(dict)
    for row in rows:
        version, _, way = row["variant"].partition("/")
        way, _, block = way.partition("@")
        if way and row["ms"] < best[row["case"]].get(way, {"ms": 9})["ms"]:
            best[row["case"]][way] = {**row, "name": f"{version.removeprefix('wide-').replace('-rows', '').replace('-once', '')} in {block}"}
    for case, of in best.items():
        yield [case, *(f"{of[way]['gain']:.2f} {of[way]['name']}, {100 * of[way]['gb_s'] / copy:.0f} %" for way in ("others", "before", "now"))]


@table
def late_stores(path):
    """Milliseconds in the best of three blocks, by how many rows go on before one stores."""
    best = defaultdict(dict)
    for row in jsonl(path):
        version, _, way = row.get("variant", "").partition("/x")
        if row.get("run") == "stores" and way and row["fits"]:
            key, rows = (row["case"], version), int(way.partition("@")[0])
            best[key][rows] = min(best[key].get(rows, 9), row["ms"])
    for (case, version), of in best.items():
        name = version.removeprefix("wide-").replace("-rows-skewed-once", "")
        if name in ("x4y4", "x4y4-r72", "x4y8"):
            yield [f"{case}, {name}", *(f"{of[rows]:.3f}" for rows in (0, 1, 2, 3, 100))]


@table
def stream_versions(*paths):
    """Best versions of streaming kernels by number of elements and block, a row a kernel and GPU."""
    of = {path.parent.name.upper(): best_versions(path, lambda case: "^" in case) for path in paths}
    for kernel in ("scale8", "scale16", "copy32", "scale32", "vecadd", "axpy", "scale64", "triad", "four"):
        for gpu, best in of.items():
            yield [f"{kernel}, {gpu}", *(version_cell(best[f"{kernel}-2^{size}"].get((threads, 1, 1)))
                                        for size in (22, 28) for threads in (128, 256, 512, 1024))]


TILES = ("block_sum", "transpose", "product", "line", "star")


def gains_of(path, variants, wanted):
    """A row for each kernel and block that is wanted: the gains of these versions of it."""
    found = defaultdict(dict)
    for row in jsonl(path):
        if wanted(row["case"]):
            found[row["case"], tuple(row["block"])][row["variant"]] = number(row["gain"]) if row["ms"] else ""
    for (case, block), gains in found.items():
        words = shape(block) if block[1] > 1 else block[0]
        yield [f"{case}, {words}", *(gains.get(variant, "") for variant in variants)]


@table
def tile_versions(path):
    return gains_of(path, ("x2", "x4", "x8", "y2", "y4"), lambda case: case in TILES)


@table
def warp_versions(path):
    return gains_of(path, ("x2", "x4", "x8"), lambda case: case not in TILES)


@table
def inside_versions(path):
    """The best versions inside the kernel, those of one number together, four cells a row."""
    gains = {case: next(iter(blocks.values())) for case, blocks in best_versions(path).items()}
    order = sorted(gains, key=lambda case: -gains[case][0])
    cells = [f"{case} {number(gains[case][0])} `{gains[case][1]}`" for case in order if gains[case][1] != "original"]
    rest = sorted(case for case in order if gains[case][1] == "original")
    cells += [f"{', '.join(rest[:3])} 1", f"{', '.join(rest[3:])} 1"]
    return [cells[at:at + 4] for at in range(0, len(cells), 4)]


COUNTED = (("gameoflife", "wide-x2y2-rows"), ("jacobi", "y8-rows-r64"), ("laplacian", "y4-rows-r64"),
           ("gaussblur", "wide-x4"), ("box", "wide-x4y2-rows-r64"), ("conv2d_7", "wide-x4y4-rows-r128"),
           ("tricubic", "y4-rows-r128"))


@table
def version_counters(path):
    rows = {(row["kernel"], row["version"]): row for row in tsv(path) if row["block"] == "512x1x1"}
    stalls = list(next(iter(rows.values())))
    others = stalls[stalls.index("long scoreboard") + 1:]
    for kernel, version in COUNTED:
        for name in ("original", version):
            row = rows[kernel, name]
            shares = [f"{row[column]} %" for column in ("DRAM %", "L2 %", "L1 data %", "issue %", "warps %")]
            yield [kernel if name == "original" else f"{kernel}, {name}", row["gain"], *shares,
                   f"{row['long scoreboard']}, {number(sum(float(row[other]) for other in others))}"]


# Loops whose values are carried, or staged.


def span(values):
    """The least and the most."""
    values = sorted(values)
    return f"{number(values[0])} to {number(values[-1])}"


def carried_gains(rows):
    return [float(row["ratio"]) for row in rows]


@table
def carried(path):
    rows = defaultdict(list)
    for row in tsv(path):
        rows[row["kernel"]].append(row)
    star = {row["block"]: row["ratio"] for row in rows["zstar4"]}
    yield [None, None, ", ".join(span(carried_gains(r for r in rows["fir"] if r["y"] == count)) for count in ("32", "256"))]
    yield [None, None, ", ".join(f"{star[block]} ({block})" for block in ("32x8", "32x16", "128x1", "512x1"))]
    yield [None, None, span(carried_gains(rows["row"]))]
    others = [row for name in ("column", "smooth", "bytes") for row in rows[name]]
    yield [None, None, f"{span(carried_gains(rows['column5']))}; {span(carried_gains(others))}"]
    yield [None, None, f"{span(carried_gains(rows['zmarch']))}; with `__restrict__` {span(carried_gains(rows['zmarch_restrict']))}"]


@table
def grid_loops(path):
    """Of each loop, whatever the type of its index: what versions gain in the mean, the least and the most of it."""
    launches = defaultdict(lambda: defaultdict(dict))
    for row in tsv(path):
        name, _, index = row["kernel"].rpartition("_")
        loop = name if index in ("int", "unsigned", "size") else row["kernel"]
        width = f", rows of {row['width']}" if row["width"] != "0" else ""
        launches[loop + width][row["kernel"], row["grid"], row["block"]][row["version"]] = float(row["ratio"])
    for loop, found in launches.items():
        cells = [loop, str(len(found))]
        for version in ("wide_x2", "wide_x4", "ahead_k2", "ahead_k4", "ahead_k8", "best"):
            gains = [max(1, *gain.values()) if version == "best" else gain.get(version) for gain in found.values()]
            spread = f" ({span(gains)})" if None not in gains and len(gains) > 1 else ""
            cells.append("" if None in gains else number(geomean(gains)) + spread)
        yield cells


STAGED = (("nbody", "4096", "nbody, 4,096 bodies of 16 bytes"), ("nbody", "65536", "nbody, 65,536"),
          ("bodies", "4096", "bodies, 4,096 in four arrays"), ("bodies", "65536", "bodies, 65,536"),
          ("filter", "4194304,1024", "filter, 1,024 taps"), ("matmul", "2048", "matmul 2,048, blocks of one row"),
          ("nearest", "4194304,256", "nearest of 256 centres"), ("filter", "16777216,64", "filter, 64 taps"),
          ("matvec", "8000", "matvec 8,000, by columns"), ("ranks", "4194304,1024", "ranks in a table of 1,024"),
          ("nearest", "4194304,16", "nearest of 16 centres"), ("filter", "16777216,16", "filter, 16 taps"))


@table
def staging(path):
    gain = {}
    for line in lines_of(path):
        if not line.startswith("#"):
            kernel, numbers, threads, version, _, _, ratio, _ = line.split()
            gain[kernel, numbers, int(threads), version] = ratio
    for kernel, numbers, label in STAGED:
        yield [label, *(", ".join(gain[kernel, numbers, threads, version] for version in ("stage_4k", "stage_16k"))
                        for threads in (64, 128, 256, 512, 1024))]


COPPER_STAGED = (("O0", "addSub0", "addSub0", 67584), ("O0", "dmvm", "DMVM", 67584), ("O0", "conv1D", "1DConv", 2**24),
                 ("O0", "conv1D", "1DConv", 65536), ("O0", "rank", "Rank", 32768), ("O0", "rank", "Rank", 1024),
                 ("O3", "addSub0", "addSub0", 67584), ("O3", "dmvm", "DMVM", 67584), ("O3", "rank", "Rank", 32768),
                 ("O3", "rank", "Rank", 1024))
VERSION_COLUMNS = ["module", "kernel", "blocks", "threads", "version", "as_it_is_ms", "version_ms", "equal"]


@table
def copper_staged(path):
    gain = {(row["module"], row["kernel"], int(row["blocks"]) * int(row["threads"]), row["threads"], row["version"]):
            float(row["as_it_is_ms"]) / float(row["version_ms"]) for row in tsv(path, VERSION_COLUMNS)}
    for level, kernel, label, all_threads in COPPER_STAGED:
        yield [f"{label}, {level}, {all_threads:,} threads",
               *(", ".join(number(gain[f"copper-{level}", kernel, all_threads, threads, version])
                           for version in ("stage_4k", "stage_16k")) for threads in ("32", "128", "256", "512", "1024"))]


# COpPER's benchmarks, melded and promoted.

PROMOTED = (("copper-O0", "addSub0", "meld_all", "addSub0, melded", (1, 32)),
            ("branches", "synBrdis", "meld_all", "SYN-BRDIS, melded", (1, 32)),
            ("copper-O0", "addSub2", "promote_all", "addSub2, promoted", (1, 32)),
            ("copper-O0", "dvmm", "promote_all", "DVMM, promoted", (1, 1024)),
            ("copper-O3", "dvmm", "promote_all", "DVMM (-O3), promoted", (1, 1024)),
            ("copper-O0", "elementWise", "promote_all", "ElementWise, promoted", (4, 256)),
            ("copper-O3", "elementWise", "promote_all", "ElementWise (-O3), promoted", (4, 256)),
            ("copper-O0", "conv1D", "promote_all", "1DConv, promoted", (256, 256)),
            ("copper-O0", "rank", "promote_all", "Rank, promoted", (4, 256)))


def published_gains(path, benchmark):
    """{sizes: gain} of a benchmark of COpPER's that its authors timed."""
    return {row["sizes"]: before / after for row in tsv(path)
            if row["benchmark"] == benchmark and row["what"] == "milliseconds"
            for before, after in [map(float, row["words"].split(", "))]}


@table
def copper_versions(path, published):
    rows = defaultdict(dict)
    for row in tsv(path):
        cell = f"{row['as_it_is_ms']}, {row['version_ms']}: {row['speedup']}"
        rows[row["module"], row["kernel"], row["version"]][int(row["blocks"]), int(row["threads"])] = cell
    gains = published_gains(published, "addSub2").values()
    told = {"addSub2": f"found, {number(min(gains))} to {number(max(gains))} faster",
            "SYN-BRDIS": f"found, {number(published_gains(published, 'SYN-BRDIS')['128, 128'])} faster"}
    for module, kernel, version, label, small in PROMOTED:
        cells = rows[module, kernel, version]
        large = [max((blocks, cell) for (blocks, threads), cell in cells.items() if threads == wanted)[1]
                 for wanted in (32, 256, 1024)]
        yield [label, *large, f"{small[0]} x {small[1]:,}: {cells[small]}", told.get(label.split(",")[0])]
    yield ["DMVM", "", "", "", "", None]


@table
def melded(path, published):
    rows = {(row["M"], row["N"], row["blocks"]): row for row in tsv(path) if row["kernel"] == "SYN-BRDIS"}
    told = published_gains(published, "SYN-BRDIS")
    for sizes in (("128", "128"), ("128", "512"), ("128", "1024"), ("512", "128"), ("1024", "128")):
        cells = [", ".join(sizes), number(told[", ".join(sizes)])]
        for blocks in ("1", "2112"):
            row = rows[(*sizes, blocks)]
            cells += [f"{row['as_it_is']}, {row['melded']}, {row['by_hand']}", row["speedup"]]
        yield cells


# Block sizes and caches.

WALKED = {"fan2": "fan2", "chunks": "{} stream{}"}
BLOCKS = (32, 64, 128, 256, 512, 1024)
MAPS = ("fan2", "mm map", "ss map", "ii mapCount", "ii map", "wc mapCount", "wc map", "pvc map")


def walked_name(kernel):
    found = re.fullmatch(r"chunks?_?(\d)(?:_streams?)?", kernel)
    return f"{found[1]} stream{'s' if found[1] != '1' else ''}" if found else kernel


@table
def walked_chunks(*paths):
    for path in paths:
        rows = defaultdict(list)
        for row in tsv(path):
            rows[walked_name(row["kernel"])].append(row)
        for name, all_of in rows.items():
            own = {int(row["block"]): row for row in all_of if row["padding_bytes"] == "0"}
            cells = [f"{own[block]['ms']}, {own[block]['l1_load_hit_percent']} %" for block in BLOCKS]
            yield [f"{path.parent.name.upper()} {name}", *cells, with_padding(all_of)]


def with_padding(rows):
    """The best launch with padding, if it is better than all without."""
    best = min(rows, key=lambda row: float(row["ms"]))
    if best["padding_bytes"] == "0":
        return "no better"
    blocks = int(best["threads_per_sm"]) // int(best["block"])
    return f"{best['ms']} ({best['block']} x {blocks}, {int(best['padding_bytes']) / 1024:.0f} KB)"


@table
def walked_maps(path):
    rows = defaultdict(dict)
    for row in tsv(path):
        rows[row["kernel"]][int(row["block"])] = row
    for name, own in rows.items():
        yield [map_name(name), *(f"{own[block]['ms']}, {own[block]['l1_load_hit_percent']} %" for block in BLOCKS),
               number(float(own[256]["ms"]) / float(own[32]["ms"]))]


def map_name(kernel):
    return kernel.replace("_count", "Count").replace("_", " ")


@table
def resized(path):
    best = defaultdict(dict)
    for kernel, block, version, before, after, _ in (line.split("\t") for line in lines_of(path)):
        name = walked_name(kernel) if kernel.startswith("chunk") else map_name(kernel)
        gain = float(before) / float(after)
        best[name][block] = max(best[name].get(block, (0, "")), (gain, version))
    for name in [*MAPS, "1 stream", "2 streams", "3 streams", "4 streams"]:
        found = (best[name].get(block) for block in ("64", "96", "256", "1024"))
        yield [name, *(f"{number(one[0])} {one[1]}" if one else "" for one in found)]


# The rewritten kernels.


def counter(metrics, column):
    """A counter as kernelgen-bench/report has it."""
    sys.path.insert(0, str(ROOT / "kernelgen-bench"))
    from bench import counters
    return counters.cell(metrics, column)


class Run:
    """One GPU's results of kernelgen-bench and its counters."""

    def __init__(self, results, counters=None):
        read = json.loads(results.read_text())
        self.gpu = results.stem.upper()
        self.kernels = read["static"]["kernels"]
        self.counters = json.loads(counters.read_text())["variants"] if counters else {}
        self.cases = {(case["kernel"], shape(case["block"])): {variant["name"]: variant for variant in case["variants"]}
                      for case in read["cases"]}

    def speedups(self, variant="full"):
        """{(kernel, block): speed-up} where the rewrite has something to rewrite."""
        return {key: variants[variant]["speedup"] for key, variants in self.cases.items() if variant in variants}


@table
def shuffle_result(*paths):
    runs = [Run(path) for path in paths]
    all_of = [run.speedups() for run in runs]
    suite = [[gain for (kernel, _), gain in one.items() if run.kernels[kernel]["group"] == "kernelgen"]
             for run, one in zip(runs, all_of)]
    best = [max((gain, key) for key, gain in one.items() if run.kernels[key[0]]["group"] == "kernelgen")
            for run, one in zip(runs, all_of)]
    yield ["median", *(number(statistics.median(one.values())) for one in all_of)]
    yield ["geometric mean", *(number(geomean(one.values())) for one in all_of)]
    yield ["above 1.01", *(str(sum(gain > 1.01 for gain in one.values())) for one in all_of)]
    yield ["the suite's twelve kernels alone: median", *(number(statistics.median(one)) for one in suite)]
    (kernel, block), = {key for _, key in best}
    yield [f"the best of them, {kernel} at {block}", *(number(gain) for gain, _ in best)]


COUNTED_COLUMNS = (("registers", 0), ("occupancy %", 0), ("instructions", 0), ("load requests", 1), ("L1 wavefronts", 1),
                   ("load sectors", 1), ("L2 sectors", 1))


def top_stall(metrics):
    sys.path.insert(0, str(ROOT / "kernelgen-bench"))
    from bench import counters
    reason, share = next(iter(counters.stalls(metrics).items()))
    return f"{reason.replace('_', ' ')} {number(100 * share)}"


@table
def shuffle_counters(*paths):
    """Speed-ups and counters of every kernel at 512x1, a row a GPU: RESULTS COUNTERS RESULTS COUNTERS."""
    runs = [Run(*paths[at:at + 2]) for at in range(0, len(paths), 2)]
    for kernel in runs[0].kernels:
        for run in runs:
            variants = run.cases[kernel, "512x1"]
            entry = run.kernels[kernel]["entry"]
            caps = [(variants[name]["speedup"], name.split("-")[1]) for name in variants if re.fullmatch(r"original-\d+", name)]
            best, cap = max(caps, default=(1, ""))
            gains = [number(variants[name]["speedup"]) if name in variants else "-"
                     for name in ("full", "full-delta-1", "no-corner", "no-load")]
            best_cell = f"{number(best)} ({cap})" if best >= 1.005 else number(best)
            sides = [run.counters[name][entry] for name in ("original", "full")
                     if entry in run.counters.get(name, {}) and name in variants]
            cells = [" → ".join(number(counter(side, column)) for side in sides) for column, _ in COUNTED_COLUMNS]
            yield [kernel, run.gpu, *gains, best_cell, *cells, " → ".join(map(top_stall, sides))]


@table
def corner_forms(*paths):
    gain = {}
    for path in paths:
        for line in lines_of(path)[1:]:
            words = line.split()
            if len(words) > 5:
                gain[path.stem.split("-")[1].upper(), words[0], words[1], words[2]] = words[5]
    for radius in "1234":
        for path in paths:
            gpu = path.stem.split("-")[1].upper()
            yield [f"{gpu}, {radius}", *(", ".join(gain[gpu, radius, block, form] for block in ("512x1", "128x1", "32x16"))
                                         for form in ("corners", "extra", "no-corner", "wide"))]


FORMS = (("original", "original"), ("a mask for each shuffle", "each"), ("one mask per region", "region"),
         ("one per region, `@full shfl ..., -1`", "pred"), ("one per region, `@full shfl ..., mask`", "predm"),
         ("one per region, `shfl ..., -1` (wrong when lanes are apart)", "const"))


@table
def code_forms(path):
    rows = {(row["kernel"], row["form"]): row for row in csv.DictReader(lines_of(path), delimiter=" ")}
    kernels = ("jacobi", "gaussblur", "tricubic", "tricubic2", "wave13pt", "whispering")
    for label, form in FORMS:
        what = "original, instructions" if form == "original" else label
        yield [what, *(rows[kernel, form]["sass_instructions"] for kernel in kernels)]
    for label, form in FORMS[1:5]:
        what = f"speed-up, {label}" if form == "each" else label
        yield [what, *(rows[kernel, form]["speedup_run1"] for kernel in kernels)]


# Launches, warnings, the cost model.


@table
def programs(*paths):
    of = []
    for path in paths:
        rows = {}
        for line in lines_of(path):
            found = re.match(r"(\w+): plain ([\d. ]+) profile ([\d. ]+) measuring ([\d. ]+)", line)
            if found:
                rows[found[1]] = [statistics.median(map(float, found[at].split())) for at in (2, 3, 4)]
        of.append(rows)
    for name in ("matmul", "activation", "heat", "wave", "axpy", "lattice", "image", "spmv", "nbody", "reduction"):
        cells = []
        for rows in of:
            plain, profile, measuring = rows[name]
            cells += [number(plain), number(profile), number(plain / profile), number(measuring)]
        yield [f"`{name}`", *cells]


@table
def faster_programs(path):
    """Programs under `ptxasw faster`, run after run; the last column is that after a run with --tune, where there was one."""
    rows, tuned = [], {}
    for line in lines_of(path):
        if found := re.match(r"(\w+) +([\d.]+ +)?([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)(?:  equal)?$", line):
            rows.append([found[1], float(found[2] or 0), *map(float, found.groups()[2:])])
        if found := re.match(r"(\w+) +[\d.]+  --tune ([\d.]+), then ([\d.]+)$", line):
            tuned[found[1]] = float(found[3])
    *programs, means = rows
    for name, plain, *gains in sorted(programs, key=lambda row: -max(row[-1], tuned.get(row[0], 0))):
        yield [f"`{name}`", number(plain), *map(number, gains), number(tuned[name]) if name in tuned else ""]
    yield ["geometric mean", "", *map(number, means[2:]), ""]


@table
def front(h100, h200, *shuffles):
    """The README's: programs by their profiles, and the kernels whose loads are replaced by shuffles."""
    for name, *cells in programs(h100, h200):
        if name.strip("`") in ("matmul", "activation", "heat", "wave", "axpy", "spmv", "nbody"):
            yield [None, cells[2], cells[6]]
    yield [None, *next(iter(shuffle_result(*shuffles)))[1:]]


PAIRS = (("uncoalesced_before", "uncoalesced_after"), ("records_before", "records_after"),
         ("indirect_before", "indirect_after"), ("rows_before", "rows_after"), ("bank_conflict_before", "uncoalesced_after"),
         ("contended_atomic_before", "contended_atomic_after"), ("division_before", "division_after"),
         ("divergent_loop_before", "divergent_loop_after"), ("local_memory_before", "local_memory_after"),
         ("uniform_load_before", "uniform_load_after", "uniform_load_shuffled"), ("redundant_load_before", "redundant_load_after"),
         ("wide_index_before", "wide_index_after"), (), ("vector_precondition_before", "vector_precondition_after"))


def pair_gains(path):
    """{kernel that gets a warning: how many times faster each right one is, by the mean of two runs' medians}."""
    times = defaultdict(list)
    for row in csv.reader(lines_of(path)):
        if len(row) == 5 and row[0] != "warning":
            times[row[1]].append(float(row[2]))
    time = {name: statistics.fmean(both) for name, both in times.items()}
    return {wrong: ", ".join(number(time[wrong] / time[one]) for one in right) for wrong, *right in filter(None, PAIRS) if wrong in time}


def walk_gains(path):
    walked = {(row["kernel"], row["block"]): float(row["ms"]) for row in tsv(path) if row["padding_bytes"] == "0"}
    gains = [walked[kernel, "256"] / walked[kernel, "32"] for kernel, block in walked if block == "32"]
    return f"{number(min(gains))}-{number(max(gains))}"


@table
def warning_pairs(*paths):
    """How many times faster the right kernel is, by GPU; `paths` are pairs, one for each GPU, then walks."""
    half = len(paths) // 2
    gains = list(map(pair_gains, paths[:half]))
    for wrong, *_ in [pair or ("",) for pair in PAIRS]:
        yield [None, None, None, *(one.get(wrong, "-") for one in gains)]
    yield [None, None, None, *map(walk_gains, paths[half:])]


@table
def choices(*paths):
    """How well the model chooses among versions: what `predict` prints last."""
    said = []
    for path in paths:
        found = re.findall(r"^\w+, (\w+)(, corrected)?: within 5 % of the best in (\d+) of (\d+), over the best ([\d.]+) .*gain "
                           r"([\d.]+)$", path.read_text(), flags=re.M)
        said.append({(what, bool(how)): numbers for what, how, *numbers in found})
    for what in ("streams", "suite"):
        yield [what, *(f"{one[what, False][0]}, corrected {one[what, True][0]} of {one[what, True][1]}" for one in said)]
    for label, at in (("over the best, geometric mean", 2), ("least gain", 3)):
        yield [label, *(f"{one['all', False][at]}, corrected {one['all', True][at]}" for one in said)]


def constant(files, name, digits=4, factor=1):
    """A constant of the probe's, that of both GPUs where they are the same to two digits, else one after the other."""
    values = [factor * json.loads(path.read_text())["constants"][name]["median"] for path in files]
    told = [f"{value:.{digits}g}" for value in values]
    same = f"{values[0]:.2g}" == f"{values[1]:.2g}" and abs(values[0] - values[1]) < 0.01 * values[0]
    return told[0] if same else ", ".join(told)


@table
def probe(h100, h200, model):
    def of(name, **how):
        return constant((h100, h200), name, **how)
    turn = re.findall(r"stream1.1024 against stream1.256 \*/ ([\d.]+)", model.read_text())
    yield [None, None, f"four per cycle: `rate.fma` {of('rate.fma')}, `rate.divide` {of('rate.divide')}, "
           f"`rate.root` {of('rate.root')} cycles"]
    yield [None, None, f"`rate.mad` {of('rate.mad')}, `rate.double` {of('rate.double')}, `rate.special` {of('rate.special')}"]
    yield [None, None, f"`rate.shared`, `rate.shfl` {of('rate.shared')}"]
    yield [None, None, None]
    yield [None, None, f"`l2.bytes` {of('l2.bytes.24mb', digits=6)} bytes per cycle; {of('l2.bytes.multiprocessor')} per "
           "multiprocessor"]
    yield [None, None, f"`dram.sparse_write32` {of('dram.sparse_write32', factor=1000)} ps"]
    yield [None, None, f"`dram.read` {of('dram.read')}, `dram.copy` {of('dram.copy')} GB/s; late sectors "
           "`dram.sparse256`, `dram.sparse_write256`"]
    yield [None, None, f"`latency.l1` {of('latency.l1')}, `latency.l2` {of('latency.l2')}, `latency.dram` "
           f"{of('latency.dram')} cycles; `turnover` {of('turnover.512')} cycles, and {', '.join(turn)} per warp"]
    yield [None, None, f"`start` {of('start.64')} ns per block"]


def printed_rows(path):
    """The rows of a table that a program printed."""
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines_of(path) if line.startswith("|")]


@table
def model_figures(*paths):
    """What `kernelgen-bench/shapes compare` printed, a file a GPU."""
    for path in paths:
        for gpu, group, kernels, cases, rank, loss, worst, always, within, signs in printed_rows(path):
            yield [gpu, group, kernels, cases, rank, loss, worst, always, within, signs]


@table
def openacc(path):
    """What `kernelgen-bench/openacc` printed."""
    yield from (row for row in printed_rows(path) if "/" in row[1])


@table
def published_figures(*paths):
    for path in paths:
        (row,) = [row for row in printed_rows(path) if row[1] == "all"]
        yield row[:1] + row[2:]


@table
def rodinia_lines(path):
    without, with_sizes = path.read_text().split("with --sizes:")
    rows = [{row[0]: row[1:] for row in ([cell.strip() for cell in line.strip("| ").split("|")] for line in part.splitlines())
             if len(row) == 8 and row[1].isdigit()} for part in (without, with_sizes)]
    for name, (lines, real, found, range_based, range_found, _, false) in rows[0].items():
        sized = rows[1][name]

        def share(part, whole):
            return f"{part} ({number(100 * int(part) / int(whole))} %)" if name == "all" else part
        yield [name, lines, real, share(found, real), share(sized[2], real), range_based, share(range_found, range_based),
               share(sized[4], range_based), false]


def lint_milliseconds(path):
    """{kernel: (with all warnings, without redundant-load, of reading alone)}"""
    return {row[0]: [float(cell.removesuffix(" ms")) for cell in (row[1], row[2], row[4])]
            for row in printed_rows(path) if row[1].endswith(" ms")}


@table
def lint_times(path):
    of = lint_milliseconds(path)
    for at, label in ((1, "all warnings except `redundant-load`"), (0, "all warnings")):
        longest = max(of, key=lambda kernel: of[kernel][at])
        yield [f"{label}, the middle", f"{statistics.median(times[at] for times in of.values()):.2f} ms"]
        yield [f"the longest, {longest}", f"{of[longest][at]} ms"]


@table
def reach(path):
    """Of each obstacle to whole blocks by one: ordinary kernels that have it, and those that have no other."""
    for line in path.read_text().split("\tkernels\talone\n")[1].splitlines():
        obstacle, having, alone = line.split("\t")
        reason, _, meaning = obstacle.partition(": ")
        yield [f"`{reason}`: {meaning}", having, alone]


@table
def reach_groups(path):
    """Of each set of modules: its kernels, and those that have a version."""
    for part in path.read_text().split("\n\n"):
        title, *_, last = [line.split("\t") for line in part.splitlines() if not line.startswith("#")]
        if title[-1] == "with a version":
            yield [title[0], *last[1:]]


SHARE = r"(\d+) of (\d+)(?: \(\d+ %\))?"


@table
def engines(path):
    """Before and after: how many times the interpreter's speed translated code has, and C's time."""
    found = {}
    for line in lines_of(path):
        cells = line.split()
        if len(cells) == 8 and cells[1].isdigit():
            found.setdefault(cells[0], []).append(cells)
    for name, (before, after) in found.items():
        yield [name, before[6], after[6], before[7], after[7], after[5]]


@table
def bound_shares(path):
    for part in path.read_text().strip().split("\n\n"):
        name, _, text = part.partition(":\n")
        branches = re.search(f"^branches known exactly: {SHARE}; loops: {SHARE}", text, flags=re.M).groups()
        kernels = re.search(r"kernels with all bounds: (\d+) of (\d+), all exact: (\d+); bounds: (\d+) of (\d+), exact: (\d+)",
                            text).groups()
        yield [name, share_cell(*branches[:2]), share_cell(*branches[2:]), f"{kernels[3]} of {kernels[4]}, {kernels[5]} exact",
               f"{kernels[0]} of {kernels[1]}"]


def share_cell(part, whole):
    return f"{part} of {whole} ({number(100 * int(part) / int(whole))} %)"


@table
def metric_shares(path):
    """The last part's branches and loops, by metric."""
    text = path.read_text().strip().split("\n\n")[-1]
    shares = {found[0]: found[1:] for found in re.findall(f"^(\\w+) known exactly: at branches {SHARE}, at loops {SHARE}", text, flags=re.M)}
    for label, at in (("branches", 0), ("loops", 2)):
        all_of = shares["sectors"][at + 1]
        yield [f"{label}, of {all_of}", *(share_cell(*shares[metric][at:at + 2]).replace(f" of {all_of}", "")
                                          for metric in ("sectors", "conflicts", "divwarps", "steps"))]


@table
def proofs(own, mutants):
    """What `prove` proves: of how many, and how many of these it must not."""
    kernels, proved, refuted = re.search(r"(\d+) kernels: (\d+) proved race free, (\d+) refuted", own.read_text()).groups()
    yield ["kernels of kernelgen-bench and of the examples", kernels, proved, None, f"{refuted} refuted"]
    text = mutants.read_text()
    tried, harmless, wrong = re.search(r"(\d+) mutants of \d+ kernels; (\d+) harmless ones and (\d+) others proved", text).groups()
    yield ["a synchronisation less or weaker", tried, str(int(harmless) + int(wrong)), wrong, None]
    tried, proved, wrong = re.search(r"(\d+) mutants, (\d+) proved, of which (\d+) race", text).groups()
    yield ["a special register for another one", tried, proved, wrong, None]
    line, wrong = re.search(r"^ *(.*\d+ proved.*); (\d+) wrong", text, flags=re.M).groups()
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (\w+)", line)}
    yield ["pairs of equal kernels", str(sum(counts.values())), str(counts["proved"]), wrong, None]


# What ptxasw itself says.


def ptxasw(*words):
    """What the program prints; PTXASW names it."""
    program = os.environ.get("PTXASW", str(ROOT / "build/ptxasw"))
    return subprocess.run([program, *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def became(module):
    """What the first rewrite of a module is, or None."""
    text = ptxasw("rewrite", module, "--shuffle", "always", "-o", "-")
    shuffle = re.search(r"shfl\.sync\.(down|up|bfly)\.b32 .*?, (\d+), \d+, ", text)
    if not shuffle:
        return "copy" if re.search(r"mov\.b32 \S+ %ptxasw", text) else None
    if shuffle[1] == "bfly":
        return "butterfly"
    return f"shuffle, {shuffle[2]} lane{'s' if shuffle[2] != '1' else ''}"


@table
def addresses(path):
    for line in lines_of(path):
        milliseconds, name = line.split()
        yield [None, None, None, became(f"tests/synth/golden/{name}.ptx"), None, milliseconds, f"`{name}`"]


COPPER_KERNELS = (("addSub0", "addSub0", "A,B,w,h"), ("SYN-BRDIS", "synBrdis", "out,n,m,val"), ("Rank", "rank", "a,b,w"),
                  ("addSub2", "addSub2", "A,B,w,h"), ("DVMM", "dvmm", "a,b,c,w,h"), ("1DConv", "conv1D", ""),
                  ("DMVM", "dmvm", "a,b,c,w,h"), ("ElementWise", "elementWise", "a,b,c,n"))


@table
def copper_bounds(published):
    told = {row["benchmark"]: row["words"] for row in tsv(published) if row["what"] == "bounds"}
    for benchmark, kernel, names in COPPER_KERNELS:
        module = "tests/bound/racuda/branches.ptx" if kernel == "synBrdis" else "tests/synth/optimize/copper.ptx"
        text = ptxasw("optimize", module, "--kernel", kernel, "--launch", "base-align=256,block=256", "--json")
        by_name = names.split(",") if names else []
        said = json.loads(re.sub(r"\bparam_(\d+)\b", lambda found: by_name[int(found[1])] if by_name else found[0], text))
        candidates = said["kernels"][0]["candidates"]
        found = [f"`{one['wsteps']}`" for one in candidates if not one["steps"] or one["chosen"]]
        yield [None, told.get(benchmark), ", ".join(found), None]


@table
def racuda_means(path):
    """Of each kernel the mean errors of the four bounds, each beside the published one."""
    kernels = defaultdict(list)
    for row in tsv(path):
        if row.get("published"):  # the points of the figure have no such column
            kernels[row["kernel"]] += [row["mean"], row["published"]]
    for kernel, cells in kernels.items():
        yield [kernel, *cells]


# The tables of the papers beside ours (docs/internals/evaluation.md).


def published_of(path, paper):
    """{(benchmark, sizes): what a table of a paper has}, in its order."""
    return {(row["benchmark"], row["sizes"]): row["words"] for row in tsv(path) if row["paper"] == paper}


def racuda_errors(path, metric):
    """RaCUDA's Tables 4 to 7: our mean errors by kind of size, and over all sizes beside the published mean."""
    for row in tsv(path):
        if row.get("published") and row["metric"] == metric:
            yield [row["kernel"], row["32N"], row["32N+1"], row["random"], row["mean"], row["published"]]


@table
def racuda_conflicts(path):
    return racuda_errors(path, "conflicts")


@table
def racuda_sectors(path):
    return racuda_errors(path, "sectors")


@table
def racuda_divwarps(path):
    return racuda_errors(path, "divwarps")


@table
def racuda_steps(path):
    return racuda_errors(path, "steps")


@table
def racuda_figure(path):
    """RaCUDA's Figure 8: bounds at growing sizes, with what is counted for the worst data and for random data."""
    points = Path(path).read_text().split("kernel\tmetric\tsize\t")[1].splitlines()[1:]
    for kernel, metric, size, bound, worst, drawn in (line.split("\t") for line in points):
        yield [kernel, metric, *(f"{int(cell):,}" if cell != "-" else cell for cell in (size, bound, worst, drawn))]


@table
def racuda_semantics(path, published):
    """RaCUDA's Table 3: how far what is simulated is from what a GPU counts, in the mean over a kernel's launches."""
    told, errors = published_of(published, "RaCUDA, Table 3"), defaultdict(list)
    for row in tsv(path):
        errors[row["launch"].split()[0]].append([
            int(row[what]) / int(row[f"{what} of GPU"]) - 1 if row[f"{what} of GPU"] != "0" else 0.0
            for what in ("sectors", "wavefronts")])
    for kernel, launches in errors.items():
        sectors, wavefronts = (number(statistics.fmean(column)) if any(column) else "0" for column in zip(*launches))
        published_sectors, conflicts = told.get((kernel, ""), "-, -").split(", ")
        yield [kernel, str(len(launches)), sectors, published_sectors, wavefronts, conflicts]


@table
def copper_times(path, published):
    """COpPER's Table 1: seconds of analysis."""
    taken = {row["kernel"]: row["seconds"] for row in tsv(path) if row["command"] == "optimize"}
    seconds = {row["benchmark"]: row["words"] for row in tsv(published) if row["what"] == "analysis seconds"}
    for benchmark, published_seconds in seconds.items():
        yield [benchmark, published_seconds, taken[benchmark]]


@table
def copper_rows(path, published):
    """COpPER's Table 2: addSub2 by its number of rows, one warp."""
    ours = {row["numbers"].split(",")[1]: row for row in tsv(path) if row["kernel"] == "addSub2" and row["blocks"] == "1"}
    for (_, sizes), words in published_of(published, "COpPER, Table 2").items():
        row = ours[sizes.removeprefix("h=")]
        before, after = map(float, words.split(", "))
        yield [f"{int(sizes.removeprefix('h=')):,}", words, number(before / after), f"{row['as_it_is_ms']}, {row['version_ms']}",
               row["speedup"]]


@table
def copper_melded(path, published):
    """COpPER's Table 3: all of its sizes that were measured here."""
    ours = {(row["M"], row["N"], row["blocks"]): row for row in tsv(path) if row["kernel"] == "SYN-BRDIS"}
    for (_, sizes), words in published_of(published, "COpPER, Table 3").items():
        row = ours.get((*sizes.split(", "), "1"))
        before, after = map(float, words.split(", "))
        yield [sizes, words, number(before / after),
               *((f"{row['as_it_is']}, {row['melded']}", row["speedup"]) if row else ("not measured", ""))]


# Kernels after PolyBench by their names here, and by those of KLARAPTOR's Tables 6.1 and 6.2.
KLARAPTOR = {"atax_rows": ("atax K1", "ATAX"), "atax_columns": ("atax K2", "ATAX"), "bicg_columns": ("bicg K1", "BICG"),
             "conv2d": ("convolution2d", "2DCONV"), "correlation": ("corr", "CORR"), "gemm": ("gemm", "GEMM"),
             "gesummv": ("gesummv", "GESUMMV"), "mm2": ("mm2 K1", "2MM"), "mvt_rows": ("mvt K1", "MVT"),
             "syr2k": ("syr2k", "SYR2K"), "syrk": ("syrk", "SYRK")}
N = ("2048", "4096", "8192")


def shape_choices(path):
    """{(kernel, size): (shape that the model chooses, its time over the best, best shape, least and most microseconds)}."""
    launches = defaultdict(list)
    for row in tsv(path):
        if row["version"] == "original":
            launches[row["kernel"], row["size"]].append((float(row["predicted_us"]), float(row["measured_us"]), row["block"]))
    found = {}
    for key, rows in launches.items():
        chosen, best = min(rows, key=lambda row: row[0]), min(rows, key=lambda row: row[1])
        found[key] = chosen[2], chosen[1] / best[1], best[2], best[1], max(row[1] for row in rows)
    return found


@table
def klaraptor_choices(path, published):
    """KLARAPTOR's Table 6.1: the shape chosen by size, its time over that of the best, and the best."""
    ours, told = shape_choices(path), published_of(published, "KLARAPTOR, Table 6.1")

    def cell(chosen, ratio, best):
        return f"{chosen}, {number(ratio)}" + (f" ({best})" if chosen != best else "")
    for kernel, (name, _) in KLARAPTOR.items():
        row = [cell(*ours[kernel, size][:3]) for size in ("small", "medium", "large")]
        for n in N:
            found = re.match(r"([\d.]+) \((.*?)\), ([\d.]+) \((.*?)\)", told.get((name, f"N={n}"), ""))
            row.append(cell(found[2], float(found[1]) / float(found[3]), found[4]) if found else "not legible")
        yield [kernel, *row]
    every = [geomean([one[1] for (_, at), one in ours.items() if at == size]) for size in ("small", "medium", "large")]
    count = len({kernel for kernel, _ in ours})
    yield [f"all {count} kernels, geometric mean", *map(number, every), "", "", ""]


@table
def klaraptor_by_size(path, published):
    """KLARAPTOR's choice as a function of N: by size, the shape that the model chooses and the published choice."""
    told, rows = published_of(published, "KLARAPTOR, Table 6.1"), defaultdict(dict)
    for row in tsv(path):
        rows[row["kernel"]][int(row["N"])] = row["block"]
    for kernel, (name, _) in KLARAPTOR.items():
        cells = []
        for n, block in rows[kernel].items():
            found = re.match(r"[\d.]+ \((.*?)\)", told.get((name, f"N={n}"), ""))
            cells.append(f"{block} ({found[1]})" if found else block)
        yield [kernel, *cells]


@table
def klaraptor_times(path, times, published):
    """KLARAPTOR's Table 6.2: seconds of analysis, and the least and the most that a launch of the largest size takes."""
    ours, told = shape_choices(path), published_of(published, "KLARAPTOR, Table 6.2")
    taken = {row["kernel"]: row["seconds"] for row in tsv(times) if row["command"] == "advise"}
    for kernel, (_, name) in KLARAPTOR.items():
        analysis, search, least, most = told[name, ""].split(", ")
        yield [kernel, taken[kernel], *(number(us / 1e3) for us in ours[kernel, "large"][3:]), analysis, search, least, most]


@table
def latencies(*paths):
    """PTXASW's Table 1: cycles of a shuffle, a load from shared memory, one that hits the L1."""
    *probes, published = paths
    for (gpu, _), words in published_of(published, "PTXASW, Table 1").items():
        yield [f"{gpu}, published", *words.split(", ")]
    for path in probes:
        yield [path.parent.parent.name.upper(), *(constant([path, path], f"latency.{name}") for name in ("shfl", "shared", "l1"))]


# What standing in front of ptxas costs, as kernelgen-bench/overhead --json wrote it.


def overhead_ratios(numbers, mode, base="ptxas"):
    """The median of the turns' ratios of processor time."""
    seconds = numbers["processor_seconds"]
    return statistics.median(over / under for over, under in zip(seconds[mode], seconds[base]))


def overhead_of(path):
    return json.loads(path.read_text())["modules"]


@table
def overhead(kernels, modules):
    with open(ROOT / "kernelgen-bench/kernels.toml", "rb") as file:
        suite = {name for name, kernel in tomllib.load(file)["kernel"].items() if kernel["group"] == "kernelgen"}
    of, large = overhead_of(kernels), overhead_of(modules)
    for label, mode, base, names in (("auto, to ptxas, all {} kernels", "auto", "ptxas", set(of)),
                                     ("auto, to ptxas, the {} of the suite", "auto", "ptxas", suite),
                                     ("always, to ptxas, all {} kernels", "always", "ptxas", set(of)),
                                     ("always, to ptxas, the {} of the suite", "always", "ptxas", suite),
                                     ("always, to ptxas on the rewrite, all {} kernels", "always", "rewritten", set(of))):
        ratios = {name: overhead_ratios(of[name], mode, base) for name in of if name in names}
        worst = max(ratios, key=ratios.get)
        yield [label.format(len(ratios)), number(statistics.median(ratios.values())), f"{number(ratios[worst])} ({worst})"]
    ratio, name, mode = max((overhead_ratios(large[name], mode), name, mode) for name in large for mode in ("auto", "always"))
    yield [f"auto and always, to ptxas, the {len(large)} large modules", "", f"{number(ratio)} ({name}, {mode})"]


@table
def overhead_each(*paths):
    for name, numbers in (one for path in paths for one in overhead_of(path).items()):
        peak = numbers["peak_kib"]
        yield [name, f"{numbers['ptx_bytes'] / 1e3:.3f} kB", number(overhead_ratios(numbers, "auto")),
               number(overhead_ratios(numbers, "always")), number(overhead_ratios(numbers, "always", "rewritten")),
               f"{peak['ptxas'] / 1024:.3f} MiB", f"{max(peak['auto'], peak['always']) / 1024:.3f} MiB"]


# What was tried and taken out again.

ROWS = [("row1", 16777216), ("row2", 16777216), ("row3", 16777216), ("row4", 16777216), ("row4", 2097152), ("row8", 16777216),
        ("row4_double", 8388608)]
PLANES = [(kernel, 4096) for kernel in ("star1", "star2", "star4", "box1")]
PLANES += [("box1", 1024), ("box2", 4096), ("box3", 4096), ("jacobi_loops", 4096)]
CUBES = [("cube7", 256), ("cube13", 256), ("cube27", 256)]


def halo_gains(path, cases, dimensions, shapes):
    gain = {}
    for line in lines_of(path):
        if not line.startswith("#"):
            kernel, numbers, threads, _, _, _, ratio, _ = line.split()
            gain[kernel, numbers, threads] = ratio
    for kernel, extent in cases:
        numbers = ",".join([str(extent)] * dimensions)
        yield [f"{kernel}, {' x '.join([str(extent)] * dimensions)}", *(gain[kernel, numbers, one] for one in shapes)]


@table
def halo_rows(path):
    return halo_gains(path, ROWS, 1, ("64", "128", "256", "512", "1024"))


@table
def halo_planes(path):
    return halo_gains(path, PLANES, 2, ("32x4", "32x8", "16x16", "64x8", "32x32"))


@table
def halo_cubes(path):
    return halo_gains(path, CUBES, 3, ("8x8x4", "32x4x2", "32x4x4", "8x8x8"))


@table
def shuffled_tiles(*paths):
    """The first of the runs of each file, a file a GPU."""
    of = []
    for path in paths:
        found = {}
        for line in lines_of(path):
            words = line.split()
            if len(words) == 6 and words[1] in ("shared", "delta-1"):
                found.setdefault((words[0], words[1]), words[2:5])
        of.append(found)
    for kernel in dict.fromkeys(kernel for kernel, _ in of[0]):
        yield [kernel, None, None, None, *(", ".join(found[kernel, cubin][at] for found in of)
                                           for cubin, at in (("shared", 0), ("shared", 2), ("delta-1", 2)))]


def hint_gains(path, wanted):
    """What versions that tell caches something gain: as `kernelgen-bench/siblings/table --by-variant` prints it."""
    cases = defaultdict(dict)
    for row in jsonl(path):
        if row["ms"]:
            cases[row["case"], tuple(row["block"])][row["variant"]] = row["gain"]
    for variant in wanted:
        cells = [variant]
        for group in ("2^22", "2^28", "chunks", "suite"):
            gains = [(found[variant], case.split("-2^")[0]) for (case, _), found in cases.items() if variant in found and group ==
                     (case.split("-")[-1] if "^" in case else "chunks" if case.startswith("chunk-") else "suite")]
            (least, at_least), (most, at_most) = min(gains, default=(0, "")), max(gains, default=(0, ""))
            cells.append(f"{number(geomean(gain for gain, _ in gains))}: {number(least)} {at_least}, {number(most)} {at_most} "
                         f"({len(gains)})" if gains else "")
        yield cells


@table
def taken_out(halos, h200_tiles, h100_tiles, hints):
    """What became of each in one line: the least and the most of its table."""
    every = [*halo_rows(halos), *halo_planes(halos), *halo_cubes(halos)]
    gains = [float(gain) for row in every for gain in row[1:]]
    yield [None, None, f"{number(min(gains))} to {number(max(gains))} on an H200, geometric mean {number(geomean(gains))}"]
    rows = list(shuffled_tiles(h200_tiles, h100_tiles))
    far, near = ([float(one) for row in rows for one in row[at].split(", ")] for at in (5, 6))
    yield [None, None, f"{number(min(far))} to {number(max(far))} on an H200 and an H100, at most {number(max(near))} between "
           "direct neighbours"]
    means = [float(cell.split(":")[0]) for row in cache_hints(hints) for cell in row[1:] if cell]
    yield [None, None, f"{number(min(means))} to {number(max(means))} in the mean on an H200"]


@table
def cache_hints(path):
    return hint_gains(path, ("no-allocate", "l2-128", "hints", "evict-last"))


@table
def read_only(path):
    return hint_gains(path, ("x2", "nc-apart"))


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in TABLES:
        sys.exit(f"usage: tables.py NAME FILE...; names: {', '.join(TABLES)}")
    for row in TABLES[sys.argv[1]](*map(Path, sys.argv[2:])):
        print("| " + " | ".join("" if cell is None else cell for cell in row) + " |")


if __name__ == "__main__":
    main()
