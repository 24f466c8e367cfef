"""What `ptxasw advise` predicts for launches that were measured, and how well."""

import collections
import csv
import json
import math
import pathlib
import subprocess

from . import build

# Where the strides begin in the suite's LaunchPlan (suite/plan.h), bytes.
STRIDES = 24

Launch = collections.namedtuple("Launch", "kernel size version block registers measured")
Predicted = collections.namedtuple("Predicted", "launch microseconds least most limit")


def read_times(path):
    """The launches of a times.tsv, each once, with the extents of their grids and arrays."""
    launches, extents = {}, {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            key = row["kernel"], row["size"], row["version"]
            launch = Launch(
                *key,
                (int(row["block_x"]), int(row["block_y"])),
                (int(row["registers"]), int(row["local_bytes"])),
                float(row["median_us"]),
            )
            launches.setdefault((*key, launch.block), launch)
            extents[row["kernel"], row["size"]] = [int(row[name]) for name in ("nx", "ny", "nz")]
    return list(launches.values()), extents


def threads(kernel, extents):
    """Threads that a kernel needs along the axes of its grid."""
    return [extents["xyz".index(axis)] - rim for axis, rim in zip(kernel.grid, kernel.rim)]


def arguments(kernel, extents):
    """The words of --launch: extents, scalars and what the launch is told of itself; pointers are assumed."""
    words = []
    for place, argument in enumerate(kernel.arguments):
        if argument["kind"] == "extent":
            words += ["--launch", f"param_{place}={extents['xyz'.index(argument['name'][1])]}"]
        elif argument["kind"] == "scalar":
            words += ["--launch", f"param_{place}={argument['value']}"]
        elif argument["kind"] == "stride":
            words += ["--launch", f"param_{place}=threads.{argument['axis']}"]
        elif argument["kind"] == "plan":
            for n, axis in enumerate("xyz"):
                words += ["--launch", f"param_{place}+{STRIDES + 4 * n}:u32=threads.{axis}"]
    return words


class Predictor:
    """Runs ptxasw; keeps PTX of rewritten versions in `work`."""

    def __init__(self, ptxasw, gpu, table, work):
        self.ptxasw, self.gpu, self.work = str(ptxasw), gpu, pathlib.Path(work)
        self.kernels = {kernel.name: kernel for kernel in table.kernels}
        self.variants = {variant.name: variant for variant in table.variants}
        self.work.mkdir(parents=True, exist_ok=True)
        self.ptxas = build.find_toolkit_program("ptxas")
        self.codes = {}

    def same_code(self, a, b):
        """True if ptxas makes the same instructions of both launches' versions: what differs in time
        then is chance. Without a ptxas nothing is known to be the same."""
        return self.ptxas is not None and a.registers == b.registers and self.code(a) == self.code(b)

    def code(self, launch):
        key = launch.kernel, launch.version
        if key not in self.codes:
            cubin = self.work / ".".join((*key, "cubin"))
            limit = self.variants[launch.version].registers
            words = [f"-maxrregcount={limit}"] if limit else []
            ptx = self.ptx(*key)
            build.run_tool([self.ptxas, f"-arch={build.BUNDLED_TARGET}", *words, ptx, "-o", cubin])
            self.codes[key] = build.machine_code(cubin)
        return self.codes[key]

    def ptx(self, name, version):
        source = build.bundled_ptx(self.kernels[name].source)
        rewrite = self.variants[version].rewrite
        if rewrite is None:
            return source
        made = self.work / f"{name}.{version}.ptx"
        if not made.exists():
            build.run_tool([self.ptxasw, "rewrite", source, "-o", made, *rewrite, *self.kernels[name].options])
        return made

    def __call__(self, launches, extents):
        """Launches of one kernel, size and version; returns a Predicted for each that is legal. A
        shape that may not change is asked for by itself, as the one that there is."""
        kernel, size, version = launches[0][:3]
        kernel = self.kernels[kernel]
        (registers, local_bytes), extents = launches[0].registers, extents[kernel.name, size]
        command = [self.ptxasw, "advise", self.ptx(kernel.name, version), "--json", "--gpu", self.gpu]
        command += ["--kernel", kernel.entry, "--registers-per-thread", registers, "--spills", local_bytes]
        command += ["--launch", "threads=" + "x".join(map(str, threads(kernel, extents)))]
        command += arguments(kernel, extents)
        words = ["x".join(map(str, launch.block)) for launch in launches]
        found = self.ask(command, *(word for text in words for word in ("--launch", f"shape={text}")))
        if found["refusal"]:
            found = {"shapes": []}
            for text in words:
                found["shapes"] += self.ask(command, "--launch", f"block={text},shape={text}")["shapes"]
        by_block = {tuple(shape["block"][:2]): shape for shape in found["shapes"]}
        return [
            Predicted(launch, *(by_block[launch.block][key] for key in ("microseconds", "least", "most", "limit")))
            for launch in launches
            if launch.block in by_block
        ]

    @staticmethod
    def ask(command, *words):
        (found,) = json.loads(build.run_tool([*command, *words]))["kernels"]
        return found


def predict_all(predictor, launches, extents, progress):
    groups = collections.defaultdict(list)
    for launch in launches:
        groups[launch.kernel, launch.size, launch.version, launch.registers].append(launch)
    found = []
    for done, (key, group) in enumerate(sorted(groups.items()), 1):
        found += predictor(group, extents)
        progress(done, key[0])
    return found


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    result, at = [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for i in range(at, end + 1):
            result[order[i]] = (at + end) / 2
        at = end + 1
    return result


def spearman(a, b):
    """The correlation of ranks; 0 where one side has but one rank."""
    a, b = ranks(a), ranks(b)
    middle = (len(a) - 1) / 2
    product = sum((x - middle) * (y - middle) for x, y in zip(a, b))
    squares = sum((x - middle) ** 2 for x in a) * sum((y - middle) ** 2 for y in b)
    return product / math.sqrt(squares) if squares else 0.0


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def median(values):
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


ALWAYS = ((16, 16), (32, 8), (256, 1))


def shape_figures(predicted):
    """How well shapes of one kernel at one size are ranked; `cases` by (kernel, size)."""
    groups = collections.defaultdict(list)
    for p in predicted:
        if p.launch.version == "original":
            groups[p.launch.kernel, p.launch.size].append(p)
    cases = {}
    for key, group in groups.items():
        if len(group) < 4:
            continue
        best = min(p.launch.measured for p in group)
        advised = min(group, key=lambda p: p.microseconds).launch.measured / best
        always = {}
        for shape in ALWAYS:
            flat = (shape[0] * shape[1], 1)
            times = {p.launch.block: p.launch.measured for p in group}
            if shape in times or flat in times:
                always[shape] = times.get(shape, times.get(flat)) / best
        rank = spearman([p.launch.measured for p in group], [p.microseconds for p in group])
        cases[key] = rank, advised, always
    return cases


def version_figures(predicted, same_code, least=0.02):
    """(right, all) pairs of versions of a kernel at one launch that are not the same code and whose
    times differ by more than `least`: right if the prediction has the same one faster."""
    groups = collections.defaultdict(list)
    for p in predicted:
        groups[p.launch.kernel, p.launch.size, p.launch.block].append(p)
    right = count = 0
    for group in groups.values():
        for i, a in enumerate(group):
            for b in group[:i]:
                if max(a.launch.measured, b.launch.measured) < (1 + least) * min(a.launch.measured, b.launch.measured):
                    continue
                if same_code(a.launch, b.launch):
                    continue
                count += 1
                right += (a.launch.measured < b.launch.measured) == (a.microseconds < b.microseconds) and a.microseconds != b.microseconds
    return right, count
