#!/usr/bin/env python3
"""check_mutants.py PTXASW --pairs PAIRS [--every N] [-j N] [-v]: of the kernels in PAIRS that agree with another one, every barrier, wait and
fence is deleted, weakened and moved, one at a time, as check_pairs.py does; `ptxasw prove` proves none of what is left, except
what PAIRS/harmless.txt explains.

check_mutants.py PTXASW --independence KERNELS [--every N] [-j N] [-v]: in kernels that are independent of the block's shape along an axis,
each of the axis' special registers is replaced by each other one. Where `prove` proves that there is no race, the emulator sees none."""

import argparse
import fnmatch
import json
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "pairs"))


def proved(arguments, source, *words):
    done = subprocess.run([arguments.ptxasw, "prove", source, "--json", "--only-given", "--launches", "0", *words],
                          capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(done.stderr)
    kernel = json.loads(done.stdout)["kernels"][0]
    return kernel["race_free"]["verdict"] == kernel["barriers"]["verdict"] == "proved"


def words_of(launch, kernel, text):
    """A launch as `prove` takes it."""
    import tomllib
    first = tomllib.loads(launch)
    second = {**first, **first["second"]}
    names = re.findall(r"\.param [^,;()]*?([\w$]+)(?:\[\d+\])?\s*[,)]", text[text.index(f".entry {kernel}("):].split("{")[0])
    at = ["block=" + "x".join(map(str, second.get("block", [32]))), "grid=" + "x".join(map(str, second.get("grid", [1])))]
    for name, argument in zip(names, second["argument"]):
        if isinstance(argument.get("value"), int):
            at.append(f"{name.removeprefix(kernel + '_')}={argument['value']}")
    return ["--kernel", kernel, "--launch", ",".join(at), "--assume", "disjoint"]


def each(arguments, ask, jobs):
    """What `ask` says of each job, in their order; so many at once as -j says."""
    with ThreadPoolExecutor(arguments.jobs) as pool:
        yield from pool.map(lambda job: ask(job[0], *job[1]), enumerate(jobs))


def check_pairs(arguments, folder):
    from check_pairs import PAIR, compiled, mutants
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc:
        print("skipped: no nvcc")
        sys.exit(77)
    harmless = [line.split(": ", 1)[0] for line in (arguments.what / "harmless.txt").read_text().split("\n")
                if line and line[0] != "#"]
    tried, counts, wrong, kernels, jobs = 0, {True: 0, False: 0}, [], {}, []
    for source in sorted(arguments.what.glob("*.cu")):
        text = compiled(nvcc, source, folder).read_text()
        for _, verdict, _, launch in PAIR.findall(source.read_text()):
            kernel = re.findall(r'second\b[^\w"]*kernel = "(\w+)"', launch)
            if verdict != "agree" or not kernel or kernel[0] in kernels:
                continue
            words = words_of(launch, kernel[0], text)
            for name, mutant in mutants(text, kernel[0]):
                tried += 1
                if tried % arguments.every:
                    continue
                kernels.setdefault(kernel[0], None)
                jobs.append((name, mutant, words))

    def ask(number, name, mutant, words):
        file = folder / f"{number}.ptx"
        file.write_text(mutant)
        return name, proved(arguments, file, *words)

    for name, got in each(arguments, ask, jobs):
        counts[got] += 1
        if got and not any(fnmatch.fnmatch(name, pattern) for pattern in harmless):
            wrong.append(name)
        if arguments.verbose:
            print(f"{name}: {'proved' if got else 'not proved'}", flush=True)
    print("\n".join(wrong))
    print(f"{counts[True] + counts[False]} mutants of {len(kernels)} kernels; {counts[True] - len(wrong)} harmless ones and "
          f"{len(wrong)} others proved")
    sys.exit(bool(wrong))


def launch_file(text, grid, block):
    buffers, values = [], []
    for number, kind in enumerate(re.findall(r"\.param \.(?:align \d+ )?\.?(\w+)", text[text.index(".entry"):].split("{")[0])):
        if kind.endswith("64"):
            buffers.append(f'[[buffer]]\nname = "b{number}"\nsize = 4194304\nfill = "small"\n')
            values.append(f'[[argument]]\nbuffer = "b{number}"\noffset = 1048576\n')
        else:
            values.append(f'[[argument]]\ntype = "{kind}"\nvalue = {30 + number}\n')
    return f"grid = {grid}\nblock = {block}\nsteps = 5000000\n" + "".join(buffers + values)


def check_independence(arguments, folder):
    tried, counts, wrong, jobs = 0, {True: 0, False: 0}, [], []
    folders = [arguments.what, ROOT.parent.parent / "shared" / "data" / "bsi" / "kernels"]
    for file in [file for folder in folders for file in sorted(folder.glob("*.ptx"))]:
        found = json.loads(subprocess.run([arguments.ptxasw, "independent", file, "--json"], capture_output=True,
                                          text=True).stdout)["kernels"][0]
        text = file.read_text()
        for number, axis in enumerate("xyz"):
            if found["axes"][axis] != "independent":
                continue
            names = [f"%{name}.{axis}" for name in ("tid", "ctaid", "ntid", "nctaid")]
            grid, block = [4 if n == number else 1 for n in range(3)], [64 if n == number else 4 for n in range(3)]
            for name in names:
                for place in re.finditer(re.escape(name), text):
                    for other in names:
                        if other == name:
                            continue
                        tried += 1
                        if tried % arguments.every:
                            continue
                        mutant = text[:place.start()] + other + text[place.end():]
                        jobs.append((f"{file.name}, byte {place.start()}, {other}", mutant, grid, block))

    def ask(number, name, mutant, grid, block):
        source, launch = folder / f"{number}.ptx", folder / f"{number}.toml"
        source.write_text(mutant)
        if not proved(arguments, source, "--launch", f"block={'x'.join(map(str, block))},grid={'x'.join(map(str, grid))}",
                      "--assume", "disjoint"):
            return name, False, ""
        launch.write_text(launch_file(mutant, grid, block))
        seen = subprocess.run([arguments.ptxasw, "emulate", source, "--launch", launch, "--check", "races,barriers"],
                              capture_output=True, text=True)
        return name, True, f"{seen.returncode}: {seen.stderr}{seen.stdout}" if seen.returncode else ""

    for name, got, fault in each(arguments, ask, jobs):
        counts[got] += 1
        if fault:
            wrong.append(f"{name}: {fault}")
        elif got and arguments.verbose:
            print(f"{name}: proved")
    print("\n".join(wrong))
    print(f"{counts[True] + counts[False]} mutants, {counts[True]} proved, of which {len(wrong)} race")
    sys.exit(bool(wrong))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptxasw")
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--independence", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("-j", dest="jobs", type=int, default=1)
    parser.add_argument("-v", dest="verbose", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        arguments.what = arguments.pairs or arguments.independence
        (check_pairs if arguments.pairs else check_independence)(arguments, Path(place))


if __name__ == "__main__":
    main()
