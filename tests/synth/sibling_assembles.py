#!/usr/bin/env python3
"""sibling_assembles.py PTXASW SOURCE TRAPS [--all] [--shard I/N] [--opt LEVEL] [--jobs J]

Has the real ptxas assemble the siblings of the tree's kernels and of the traps of tests/hazards, which are written
out in the folder TRAPS. By default a sample: some of the
files, three siblings of each kernel, one target each. With --all every sibling that is proposed
for any kernel of the tree, for all targets; --shard does only the I-th of N parts of the files.
A target for which ptxas refuses the module without siblings is left out, and one for which it dies of the
kernel twice, as ptxas 13.0 does of the trap stage/no-allocation. Where it dies at a lower level of
optimization, as 13.0 does at -O1 of two versions with at most 128 registers, its own level counts."""

import argparse
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zlib

TARGETS = [75, 80, 90, 100, 120]
SAMPLED = 20  # one in so many files
OWN_LEVEL = 3  # of optimization, if none is asked for


def assemble(path, target, level, cubin):
    """What ptxas says against a module; empty if nothing."""
    done = subprocess.run(
        ["ptxas", f"-arch=sm_{target}", f"-O{level}", str(path), "-o", str(cubin)],
        capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr or f"exit code {done.returncode}"


def dies_of_two(path, target, options, cubin):
    """True if ptxas dies, too, where the version beside the kernel has its body byte for byte."""
    two = cubin.with_suffix(".two.ptx")
    subprocess.run([options.ptxasw, "siblings", str(path), "-o", str(two), "--retile=z8", "--maxnreg=128"],
                   capture_output=True, check=True)
    return ".maxnreg 128" in two.read_text() and assemble(two, target, options.opt, cubin).startswith("exit code -")


def check(path, options, work):
    """Numbers of siblings, assemblies and targets left out, and faults, for one file."""
    name = str(path.relative_to(options.traps if path.is_relative_to(options.traps) else options.source))
    number = zlib.crc32(name.encode())
    if not options.all and number % SAMPLED:
        return 0, 0, 0, []
    out, cubin = work / f"{number}.ptx", work / f"{number}.cubin"
    command = [options.ptxasw, "siblings", str(path), "-o", str(out), "--meld=all", "--meld=costly",
               "--cache=nc", "--cache=nc-apart", "--maxnreg=64", "--promote=all", "--carry=all", "--shuffle-siblings=all",
               "--resize=b64", "--resize=b256", "--stage=4k", "--stage=16k"]
    if not options.all:
        command.append("--siblings=3")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not out.exists():
        return 0, 0, 0, []  # no module: the malformed ones, which have tests of their own
    text = out.read_text()
    siblings = text.count("__ptxasw_siblings[")
    entries = text.count(".entry") - path.read_text().count(".entry")
    if siblings == 0:
        return 0, 0, 0, []
    faults, assembled, left_out = [], 0, 0
    for target in TARGETS if options.all else [TARGETS[number // SAMPLED % len(TARGETS)]]:
        if assemble(path, target, 0, cubin):
            left_out += 1
            continue
        why = assemble(out, target, options.opt, cubin)
        if why.startswith("exit code -") and dies_of_two(path, target, options, cubin):
            left_out += 1
            continue
        if why.startswith("exit code -"):
            why = assemble(out, target, OWN_LEVEL, cubin)
        assembled += 1
        if why:
            faults.append(f"{name} with siblings, sm_{target}:\n{why}")
    out.unlink()
    return entries, assembled, left_out, faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ptxasw")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("traps", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--opt", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not shutil.which("ptxas"):
        print("no ptxas here")
        return 77
    part, parts = map(int, options.shard.split("/"))
    folders = (options.source / "tests", options.source / "kernelgen-bench", options.traps)
    files = sorted(path for folder in folders for path in folder.rglob("*.ptx"))[part - 1::parts]
    with tempfile.TemporaryDirectory() as work, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda path: check(path, options, pathlib.Path(work)), files))
    faults = [fault for result in results for fault in result[3]]
    print("\n".join(faults[:20]))
    modules = sum(result[0] > 0 for result in results)
    print(f"{len(files)} files, {modules} with siblings, {sum(r[0] for r in results)} siblings; "
          f"{sum(r[1] for r in results)} modules assembled, {sum(r[2] for r in results)} left out, "
          f"{len(faults)} refused")
    return 1 if faults or modules == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
