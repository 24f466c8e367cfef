"""What was added by the recipes of CONTRIBUTING.md is there: the family proposes, writes and is proved,
the command is in the help, runs and is described."""

import json
import pathlib
import subprocess
import sys
import tempfile

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
kernel = source / "tests/data/jacobi.ptx"
WAITS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry waits() {
  bar.sync 0;
  bar.warp.sync -1;
  barrier.cta.sync 0;
  ret;
}
"""


def run(*words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, (words, done)
    return done.stdout


with tempfile.TemporaryDirectory() as scratch:
    out = pathlib.Path(scratch) / "out.ptx"
    told = json.loads(run("siblings", kernel, "-o", out, "--json", "--retile=x4"))["kernels"][0]
    families = {one["family"] for one in told["siblings"]}
    assert {"twin", "retile"} <= families, families
    assert told["unproved"] == [], told
    assert "jacobi__ptxasw_twin_same(" in out.read_text()
    # Two runs need not reach every line of the re-tiled sibling; the twin has no line of its own.
    said = subprocess.run([program, "verify", kernel, out, "--runs=2", "--search=0"], capture_output=True, text=True)
    assert "jacobi__ptxasw_twin_same: agree" in said.stdout, said
    waits = pathlib.Path(scratch) / "waits.ptx"
    waits.write_text(WAITS)
    assert run("barriers", waits) == "waits: 2\n"
assert "count the barriers of each function" in run("describe", "man", "barriers")
assert "count the barriers" in run("help", "--all")
assert "twin" in run("explain", kernel)
print("the recipes work")
