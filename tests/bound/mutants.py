#!/usr/bin/env python3
"""mutants.py SOURCE OUT FILE...: copies of the analysis of bounds with all faults of mutants.txt.

Each fault is switched on by its number at run time, so that all of them are compiled once. OUT gets
a copy of each FILE of SOURCE and mutants.inc, the table of the faults. A fault whose text is
not found exactly once in its file is an error: the list has to follow the code.
"""

import pathlib
import sys


def entries(path):
    """Faults: dictionaries of name, file, kernels, old and new."""
    result, current, key = [], None, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("#") or not line:
            continue
        if line.startswith("fault "):
            current = {"name": line[6:], "kernels": [], "old": [], "new": [], "line": number}
            result.append(current)
        elif line.startswith("in "):
            current["file"] = line[3:]
        elif line.startswith("try "):
            current["kernels"] = line[4:].split()
        elif line[0] in "-+":
            current["old" if line[0] == "-" else "new"].append(line[1:])
        else:
            sys.exit(f"{path}:{number}: neither a field nor a line of code")
    return result


def main():
    source, out = (pathlib.Path(argument) for argument in sys.argv[1:3])
    files = sys.argv[3:]
    listed = source / "tests" / "bound" / "mutants.txt"
    faults = entries(listed)
    for file in files:
        text = (source / file).read_text()
        edits = []
        for number, fault in enumerate(faults, 1):
            if fault["file"] != file:
                continue
            old, new = "\n".join(fault["old"]), "\n".join(fault["new"])
            if text.count(old) != 1 or "BROKEN" not in new:
                sys.exit(f"{listed}:{fault['line']}: found {text.count(old)} times in {file}")
            edits.append((text.index(old), old, new.replace("BROKEN", f"test::broken({number})")))
        for at, old, new in sorted(edits, reverse=True):
            text = text[:at] + new + text[at + len(old):]
        target = out / file.replace("/", "_")
        text = '#include "tests/bound/fault.h"\n' + text
        if not target.exists() or target.read_text() != text:
            target.write_text(text)
    for fault in faults:
        if fault["file"] not in files:
            sys.exit(f"{listed}:{fault['line']}: {fault['file']} is not mutated")
    rows = [f'{{"{f["name"]}", "{" ".join(f["kernels"])}"}},\n' for f in faults]
    (out / "mutants.inc").write_text("".join(rows))


if __name__ == "__main__":
    main()
