#!/usr/bin/env python3
"""check_pairs.py [--mutants LIST | --every N] PTXASW FILE.cu...: the verdict on every pair of kernels that the
files describe, or on each N-th of a file. With --mutants instead: every barrier, wait and fence of every second kernel that agrees is
deleted, weakened and moved beyond the nearest access of its basic block, one at a time; `verify` must find
each, or LIST must say why it is harmless."""

import argparse
import fnmatch
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PAIR = re.compile(r"/\* pair (\S+) (agree|differ)([^\n]*)\n(.*?)\nend \*/", re.S)
CODES = {"agree": 0, "differ": 1}
BARRIER = re.compile(r"\s*(bar\.(sync|arrive|red|warp)|barrier\.|cp\.async\.wait|membar|fence|mbarrier\.test_wait|"
                     r"mbarrier\.try_wait)\b")
ORDERED = re.compile(r"\s*(@!?%\w+\s+)?(ld|st|atom|red|ldmatrix|stmatrix|cp\.async|wmma\.(load|store))\b(?!.*\.param)"
                     r"(?!.*async\.(wait|commit))")
ENDS_BLOCK = re.compile(r"\s*([\w$]+:|(@!?%\w+\s+)?(bra|ret|exit|call)\b|[{}]|bar|barrier)")
INSTRUCTION = re.compile(r"\s*(@!?%\w+\s+)?[a-z]\w*(\.\w+)*\s.*;$")


def compiled(nvcc, source, folder):
    ptx = folder / (source.stem + ".ptx")
    subprocess.run([nvcc, "-ptx", "-arch=sm_90", "-fmad=false", "-std=c++17", source, "-o", ptx], check=True,
                   stderr=subprocess.DEVNULL)
    return ptx


def verify(ptxasw, first, second, launch, options):
    return subprocess.run([ptxasw, "verify", first, second, "--launch", launch, *options],
                          capture_output=True, text=True)


def check(ptxasw, nvcc, source, folder, every):
    """Problems, and how many pairs there were."""
    ptx = compiled(nvcc, source, folder)
    problems, count = [], 0
    for name, verdict, options, launch in PAIR.findall(source.read_text())[::every]:
        count += 1
        file = folder / (name + ".toml")
        file.write_text(launch + "\n")
        done = verify(ptxasw, ptx, ptx, file, options.split())
        if done.returncode != CODES[verdict]:
            problems.append(f"{name}: not {verdict}: {done.stdout}{done.stderr}")
    return problems, count


def mutants(text, kernel):
    """The module with one barrier of a kernel changed, and what was done to it."""
    lines = text.split("\n")
    begin = next(n for n, line in enumerate(lines) if re.search(rf"\.entry {kernel}\(", line))
    end = next(n for n in range(begin, len(lines)) if lines[n] == "}")
    code = [n for n in range(begin, end) if INSTRUCTION.match(lines[n]) and not lines[n].strip().startswith(".")]
    for number, at in enumerate([n for n in code if BARRIER.match(lines[n])]):
        def changed(*edits):
            copy = list(lines)
            for place, line in edits:
                copy[place] = line
            return "\n".join(copy)
        yield f"{kernel} {number} deleted", changed((at, ""))
        group = re.search(r"wait_group (\d+)", lines[at])
        if group:
            yield f"{kernel} {number} weakened", changed((at, f"cp.async.wait_group {int(group[1]) + 1};"))
        elif re.search(r"\bbar(rier)?\.sync", lines[at]):
            yield f"{kernel} {number} weakened", changed((at, "bar.warp.sync 0xffffffff;"))
        for how, step in (("earlier", -1), ("later", 1)):
            place = at + step
            while not ENDS_BLOCK.match(lines[place]) and not ORDERED.match(lines[place]):
                place += step
            if ORDERED.match(lines[place]):
                pair = (lines[at], lines[place])[::step]
                yield f"{kernel} {number} {how}", changed((at, ""), (place, "\n".join(reversed(pair))))


def mutate(ptxasw, nvcc, source, folder, _):
    """The result for each mutant, and how many kernels there were."""
    ptx = compiled(nvcc, source, folder)
    results, kernels = {}, set()
    for name, verdict, options, launch in PAIR.findall(source.read_text()):
        kernel = re.findall(r'second\b[^\w"]*kernel = "(\w+)"', launch)
        if verdict != "agree" or not kernel or kernel[0] in kernels:
            continue
        file = folder / (name + ".toml")
        file.write_text(launch + "\n")
        for what, text in mutants(ptx.read_text(), kernel[0]):
            kernels.add(kernel[0])
            mutant = folder / (source.stem + ".mutant.ptx")
            mutant.write_text(text)
            results[what] = verify(ptxasw, ptx, mutant, file, [*options.split(), "--schedules", "6"]).returncode
    return results, len(kernels)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("ptxasw")
    parser.add_argument("sources", nargs="+", type=Path)
    arguments = parser.parse_args()
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc:
        print("skipped: no nvcc")
        sys.exit(77)
    work = mutate if arguments.mutants else check
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda source: work(arguments.ptxasw, nvcc, source, Path(place), arguments.every),
                             arguments.sources))
    count = sum(number for _, number in done)
    if not arguments.mutants:
        problems = [problem for found, _ in done for problem in found]
        print("\n".join(problems))
        print(f"{count} pairs, {len(problems)} with another verdict")
        sys.exit(bool(problems) or count < len(arguments.sources))  # each file has one
    results = {what: code for found, _ in done for what, code in found.items()}
    harmless = dict(line.split(": ", 1) for line in arguments.mutants.read_text().split("\n")
                    if line and line[0] != "#")
    survivors = {what for what, code in results.items() if code != 1}
    explained = {pattern: set(fnmatch.filter(results, pattern)) for pattern in harmless}
    missed = sorted(survivors.difference(*explained.values()))
    stale = sorted(f"{pattern}: {what}" for pattern, named in explained.items()
                   for what in (named - survivors or (() if named else {"no such mutant"})))
    for what in missed:
        print(f"{what}: survives ({results[what]})")
    for what in stale:
        print(f"called harmless, but found: {what}")
    print(f"{len(results)} mutants of {count} kernels, {len(results) - len(survivors)} found, "
          f"{len(survivors) - len(missed)} harmless, {len(missed)} missed")
    sys.exit(bool(missed or stale or not results))


if __name__ == "__main__":
    main()
