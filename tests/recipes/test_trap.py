"""A trap is added as CONTRIBUTING.md and the README of the traps say: a file, and nothing else, in a copy of the folder.
What is expected of it is looked at: a head that says the contrary is told.

test_trap.py HAZARDS SOURCE"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

hazards, source = sys.argv[1], pathlib.Path(sys.argv[2])
# What one that is there has for what is special about it.
TRAP = (source / "tests/hazards/kernels/5-barrier-reduction.trap").read_text()

with tempfile.TemporaryDirectory() as scratch:
    copy, written = pathlib.Path(scratch) / "hazards", pathlib.Path(scratch) / "traps"
    for folder in ("kernels", "bases"):
        shutil.copytree(source / "tests/hazards" / folder, copy / folder)

    def told(text):
        (copy / "kernels/5-added.trap").write_text(text)
        subprocess.run([sys.executable, "-B", source / "tests/hazards/expand.py", copy, written], check=True)
        return subprocess.run([hazards, "kernels", "--from", written, "--only", "5-added"], capture_output=True, text=True)

    done = told(TRAP)
    assert done.returncode == 0 and "1 hazards, 1 naive rewrites found wrong" in done.stdout and "1 twins, 0 wrong" in done.stdout, done
    done = told(TRAP.replace("expect: shuffles=0", "expect: shuffles=1"))
    assert done.returncode != 0 and "added" in done.stdout + done.stderr, done
print("a trap is a file")
