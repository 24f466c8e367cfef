"""A trap is added as CONTRIBUTING.md and the README of the traps say: a title and what is special about it, at the end of a
file in a copy of the folder. What is expected of it is looked at: a head that says the contrary is told.

test_trap.py HAZARDS SOURCE"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

hazards, source = sys.argv[1], pathlib.Path(sys.argv[2])
FILE = "kernels/5-same-word-phases.trap"
TRAP = """=== 5-added: the barrier has a number (twin: written before both)
//instead of bar.sync 0; // hazard
	bar.sync 1; // hazard
"""

with tempfile.TemporaryDirectory() as scratch:
    copy, written = pathlib.Path(scratch) / "hazards", pathlib.Path(scratch) / "traps"
    for folder in ("kernels", "bases"):
        shutil.copytree(source / "tests/hazards" / folder, copy / folder)

    def told(text):
        (copy / FILE).write_text((source / "tests/hazards" / FILE).read_text() + text)
        subprocess.run([sys.executable, "-B", source / "tests/hazards/expand.py", copy, written], check=True)
        return subprocess.run([hazards, "kernels", "--from", written, "--only", "5-added"], capture_output=True, text=True)

    done = told(TRAP)
    assert done.returncode == 0 and "1 hazards, 1 naive rewrites found wrong" in done.stdout and "1 twins, 0 wrong" in done.stdout, done
    done = told(TRAP.replace("//instead", "// expect: shuffles=1\n//instead", 1))
    assert done.returncode != 0 and "added" in done.stdout + done.stderr, done
print("a trap is a title and a few lines")
