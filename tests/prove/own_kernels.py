#!/usr/bin/env python3
"""own_kernels.py PTXASW [-v] [--every N]: `ptxasw prove` on the kernels of kernelgen-bench and docs/examples, for launches with no more
dimensions than a kernel uses, disjoint buffers and index arithmetic that does not overflow. At least 80 % of those that do not race are
proved: of those that nothing refutes. Prints what is in the way of the others."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("kernelgen-bench/ptx", "kernelgen-bench/polybench", "docs/examples")


def assumptions(text):
    """Axes that nothing in a module reads have one block of one thread."""
    unused = [axis for axis in "xyz" if not re.search(rf"%(?:tid|ctaid)\.{axis}\b", text)]
    return ",".join(["disjoint", "no-wrap"] + [f"{extent}.{axis} == 1" for axis in unused for extent in ("blockDim", "gridDim")])


def main():
    ptxasw, verbose = sys.argv[1], "-v" in sys.argv
    every = int(sys.argv[sys.argv.index("--every") + 1]) if "--every" in sys.argv else 1
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).glob("*.ptx"))][::every]
    counts = {"proved": 0, "unknown": 0, "refuted": 0}
    for file in files:
        done = subprocess.run([ptxasw, "prove", file, "--json", "--only-given", "--assume", assumptions(file.read_text())],
                              capture_output=True, text=True)
        if done.returncode not in (0, 1, 3):
            sys.exit(f"{file}: {done.stderr}")
        for kernel in json.loads(done.stdout)["kernels"]:
            races = kernel["race_free"]
            counts[races["verdict"]] += 1
            if verbose or races["verdict"] != "proved":
                print(f"{kernel['name']}: {races['verdict']}{', line ' + str(races['line']) if races['line'] else ''}: {races['reason'] or ''}",
                      flush=True)
    share = 100 * counts["proved"] // max(1, counts["proved"] + counts["unknown"])
    print(f"{sum(counts.values())} kernels: {counts['proved']} proved race free, {counts['refuted']} refuted, {counts['unknown']} unknown; "
          f"{share} % of those that nothing refutes are proved")
    sys.exit(share < 80)


main()
