"""What `ptxasw lint` says of the kernels in lint/, one behaviour a file: the head of each says which
warnings it gets, or `nothing`. lint_golden.py PTXASW; with --write the heads are rewritten."""

import json
import subprocess
import sys
from pathlib import Path

PTXASW, FOLDER = sys.argv[1], Path(__file__).resolve().parent / "lint"
CODES = ("uncoalesced", "bank-conflict", "divergent-loop", "local-memory", "uniform-load", "redundant-load",
         "wide-index", "division", "misaligned-vector", "vector-precondition", "reuse-thrashing", "contended-atomic", "races")


def split(text):
    """The head and the rest of a file."""
    lines = text.split("\n")
    end = next(i for i, line in enumerate(lines) if not line.startswith("// "))
    return "".join(line + "\n" for line in lines[:end]), "\n".join(lines[end:])


def head_of(path, body):
    # Only the code that the file is about, and those on by default.
    code = next(c for c in CODES if path.name.startswith(c))
    found = subprocess.run([PTXASW, "lint", "-", "--json", "--launch", "base-align=256", "-W", code],
                           input=body, capture_output=True, text=True, check=True)
    (kernel,) = json.loads(found.stdout)["kernels"]
    return "".join(f"// warns: {w['code']}\n// says: {w['message']}\n// note: {w['note']}\n"
                   for w in kernel["warnings"]) or "// warns: nothing\n"


def main():
    failed, files = 0, sorted(FOLDER.glob("*.ptx"))
    for path in files:
        head, body = split(path.read_text())
        found = head_of(path, body)
        if "--write" in sys.argv:
            path.write_text(found + body)
        elif head != found:
            print(f"{path.name}: expected\n{head}found\n{found}")
            failed += 1
    wrong = {path.name.removesuffix("-wrong.ptx") for path in files if path.name.endswith("-wrong.ptx")}
    for code in CODES:
        if not any(name.startswith(code) for name in wrong):
            print(f"no kernel is wrong by {code}")
            failed += 1
    print(f"{len(files)} files")
    sys.exit(1 if failed or len(files) < 20 else 0)


main()
