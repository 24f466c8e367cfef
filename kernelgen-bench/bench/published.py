"""Table 2 and section 8.5 on the published sources themselves, which are not here: the user has them."""

import json

from . import build, text
from .counts import fraction
from .progress import Progress

HEADER = ["kernel", "its function", "covered/loads", "published", "delta", "published", "remark"]
FULL = ["--variant", "full", "--shuffle", "always"]


def stem(kernel):
    """The name of a kernel's source: hypterm's three are in one."""
    return kernel.name.split("_")[0]


def find(folder, name):
    """The source of a benchmark below a folder, or None: NAME.ptx, NAME.cu, or kernel.cu in NAME or NAME-anything,
    as the artifact has it."""
    for pattern in (f"{name}.ptx", f"{name}.cu", f"{name}/kernel.cu", f"{name}-*/kernel.cu"):
        if found := sorted(folder.rglob(pattern)):
            return found[0]
    return None


def missing(folder, name):
    """Why there is nothing to build."""
    fortran = next(iter(sorted(folder.rglob(f"{name}.CUF"))), None)
    if fortran:
        return f"{fortran.relative_to(folder)} is CUDA Fortran: put {name}.ptx of nvfortran beside it"
    return f"no {name}.ptx, {name}.cu or {name}*/kernel.cu"


def counted(builder, source, name, options):
    """What ptxasw finds in each kernel of a source, as the report has it."""
    ptx = source
    if source.suffix == ".cu":
        ptx = builder.work / f"{name}.published.ptx"
        near = (source.parent, source.parent / "cuda", source.parent.parent)  # where the suite has its headers
        includes = [word for place in near for word in ("-I", place)]
        build.run_tool([builder.nvcc, "-ptx", f"-arch={builder.target}", "-Dreal=float", *includes, source, "-o", ptx])
    report = builder.work / f"{name}.published.json"
    build.run_tool([builder.ptxasw, "rewrite", ptx, "-o", builder.work / f"{name}.published.full.ptx", *FULL, *options,
                    "--report", report])
    said = json.loads(report.read_text())
    return [kernel for module in said.get("modules", [said]) for kernel in module["kernels"]]


def pairs(kernels, found):
    """(entry of the table, kernel of the source): one each where there are as many, else the table's first."""
    if len(kernels) == len(found):
        return list(zip(kernels, found))
    return [(kernels[0] if not at else None, kernel) for at, kernel in enumerate(found)]


def row(name, kernel, found):
    """A row: what the source gives beside what was published of it."""
    said = (kernel and kernel.published) or {}
    covered = found["shuffles"] + found["copies"]
    ours = said.get("on_source")
    recorded = fraction(ours["covered"], ours["loads"]) if ours else None
    here = fraction(covered, found["loads"])
    return [name, found["name"], here, fraction(said.get("covered"), said.get("loads")),
            text.number(found["mean_delta"] if covered else None), text.number(said.get("delta")),
            f"nvcc 13.0 for sm_90 gave {recorded}" if recorded and recorded != here else ""]


def table(suite, builder, folder):
    """(the table as text, the number of benchmarks without numbers): each benchmark of the suite by its own source."""
    by_source = {}
    for kernel in suite.kernels:
        if kernel.group in ("kernelgen", "application"):
            by_source.setdefault(stem(kernel), []).append(kernel)
    rows, without, progress = [], 0, Progress("build", len(by_source))
    for done, (name, kernels) in enumerate(by_source.items(), 1):
        source = find(folder, name)
        try:
            if source is None:
                raise build.BuildError(missing(folder, name))
            if source.suffix == ".cu" and not builder.nvcc:
                raise build.BuildError(f"{source.relative_to(folder)} needs nvcc on PATH or in CUDA_HOME")
            found = counted(builder, source, name, kernels[0].options)
            if not found:
                raise build.BuildError(f"{source.relative_to(folder)} has no kernel")
            rows += [row(name, *pair) for pair in pairs(kernels, found)]
        except build.BuildError as error:
            without += 1
            published = kernels[0].published or {}
            # Of a tool's message the line with the reason.
            lines = str(error).splitlines()
            why = next((line for line in lines if "error" in line.lower()), lines[0])
            rows.append([name, "-", "-", fraction(published.get("covered"), published.get("loads")), "-",
                         text.number(published.get("delta")), why])
        progress(done, name)
    return text.aligned(HEADER, rows), without
