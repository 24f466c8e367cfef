"""The memory trace of every kernel in the tree, compared with the one that was reviewed.

golden.py PTXASW SOURCE_DIR [--write]

A golden holds what `ptxasw explain --trace` prints, with two abbreviations that lose nothing and keep it
reviewable: parameters are p0, p1, ... instead of NAME_param_0, and an extension that occurs again
is written out once, as a name in the table above the trace.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent / "golden"
# Folder and what the names of its goldens begin with.
FOLDERS = {"kernelgen-bench/suite": "suite", "kernelgen-bench/ptx": "kernelgen-bench", "tests/data": "tests"}


def extensions(text):
    """Every `zext64(...)` or `sext64(...)` in a line, whole."""
    for match in re.finditer(r"\b[zs]ext64\(", text):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield text[match.start():end]


def abbreviate(trace):
    result = []
    for kernel in re.split(r"^(?=\S+: \d+ undecided branch(?:es)?$)", trace, flags=re.M)[1:]:
        head, *lines = kernel.splitlines()
        name = head.split(":")[0]
        lines = [re.sub(rf"\b{re.escape(name)}_param_(\d+)", r"p\1", line) for line in lines]
        table = []
        while True:
            counts = Counter(e for line in lines for e in dict.fromkeys(extensions(line)) if len(e) > 16)
            repeated = [e for e in counts if counts[e] > 1]
            if not repeated:
                break
            longest = max(repeated, key=len)  # of equals the first met
            table.append((f"X{len(table)}", longest))
            lines = [line.replace(longest, table[-1][0]) for line in lines]
        result += [head] + [f"{n} = {text}" for n, text in table] + lines
    return "\n".join(result) + "\n"


def main():
    ptxasw, source = sys.argv[1], Path(sys.argv[2])
    write = "--write" in sys.argv
    failures = []
    expected = set()
    for folder, prefix in FOLDERS.items():
        for module in sorted((source / folder).glob("*.ptx")):
            golden = GOLDEN / f"{prefix}-{module.stem}.trace"
            expected.add(golden)
            trace = subprocess.run([ptxasw, "explain", "--trace", module], capture_output=True, text=True,
                                   check=True).stdout
            got = abbreviate(trace)
            if write:
                golden.write_text(got)
            elif not golden.exists():
                failures.append(f"{golden.name} is missing")
            elif golden.read_text() != got:
                old, new = golden.read_text().splitlines(), got.splitlines()
                first = next((i for i, (a, b) in enumerate(zip(old, new)) if a != b),
                             min(len(old), len(new)))
                failures.append(f"{golden.name}, line {first + 1}:\n  was {old[first:first + 1]}\n"
                                f"  is  {new[first:first + 1]}")
    for golden in sorted(set(GOLDEN.glob("*.trace")) - expected):
        if write:
            golden.unlink()
        else:
            failures.append(f"{golden.name} belongs to no module")
    for failure in failures:
        print(failure)
    if failures:
        print("If that is right: cmake --build build --target golden-traces")
    print(f"{len(expected)} modules, {len(failures)} differences")
    sys.exit(1 if failures or not expected else 0)


main()
