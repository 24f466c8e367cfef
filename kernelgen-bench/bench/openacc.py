"""Table 2 for the OpenACC versions: what ptxasw finds in GCC's PTX of both forms, and in nvcc's of the
shape that NVHPC gives them."""

import json

from . import build
from .counts import covered, fraction
from .table import FOLDER

HEADER = ["kernel", "published", "nvcc", "nvcc, OpenACC shape", "GCC, acc parallel", "GCC, acc kernels", "versions"]
SOURCES = FOLDER / "acc"
FORMS = {"parallel": ["-DACC_PARALLEL"], "kernels": []}


def shaped(builder, kernel):
    """nvcc's PTX of an OpenACC version as the CUDA kernel that NVHPC maps it to."""
    source, ptx = builder.work / f"{kernel.name}.acc.cu", builder.work / f"{kernel.name}.acc.ptx"
    source.write_text(build.run_tool([FOLDER / "openacc-style", SOURCES / f"{kernel.name}.c"]))
    build.run_tool([builder.nvcc, "-ptx", f"-arch={builder.target}", "-I", SOURCES, source, "-o", ptx])
    return ptx


def versions(builder, ptx):
    """The versions that blocks re-tiled or made of wide accesses have, as options spell them."""
    said = build.run_tool([builder.ptxasw, "siblings", "--json", ptx])
    return [version["variant"] for kernel in json.loads(said)["kernels"] for version in kernel["siblings"]
            if version["family"] in ("retile", "vectorise")]


def facts(builder, gcc, kernel):
    """{column: what was found}; without a compiler a column is missing."""
    found = {}

    def rewrite(column, ptx):
        rewritten = ptx.with_suffix(".full.ptx")
        found[column] = builder.rewrite(ptx, rewritten, ["--shuffle", "always"])

    if builder.nvcc:
        source = builder.work / f"{kernel.name}.ptx"
        builder.ptx(kernel.source, source)
        rewrite("nvcc", source)
        rewrite("shaped", shaped(builder, kernel))
    for form, options in FORMS.items() if gcc else ():
        ptx = builder.work / f"{kernel.name}.gcc-{form}.ptx"
        build.gcc_ptx(gcc, SOURCES / f"{kernel.name}.c", ptx, *options)
        rewrite(form, ptx)
        if form == "parallel":
            found["versions"] = versions(builder, ptx)
    return found


def row(kernel, found):
    def cell(column):
        return fraction(covered(found[column]), found[column]["loads"]) if column in found else "-"

    return [kernel.name, fraction(kernel.published["covered"], kernel.published["loads"]),
            *map(cell, ("nvcc", "shaped", "parallel", "kernels")), ", ".join(found.get("versions", [])) or "-"]
