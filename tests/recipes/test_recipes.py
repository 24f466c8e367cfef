"""What was added by the recipes of CONTRIBUTING.md is there: the family has its words, its setting and its
traps, proposes, writes and is proved; the command is in the help, runs and is described."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

program, hazards, source = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
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

TRAP = """// hazard: it says how many threads its blocks have
// refused: directives
// twin: it does not
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a)
.maxntid 64 // hazard
{
  .reg .b64 %a;
  .reg .b32 %x;
  ld.param.u64 %a, [a];
  mov.u32 %x, %tid.x;
  st.global.u32 [%a], 1;
  ret;
}
"""


def run(*words, of=program, environment={}):
    done = subprocess.run([of, *map(str, words)], capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 0, (words, done)
    return done.stdout


with tempfile.TemporaryDirectory() as scratch:
    out = pathlib.Path(scratch) / "out.ptx"
    told = json.loads(run("siblings", kernel, "-o", out, "--json", "--retile=x4", "--twin=same"))["kernels"][0]
    families = {one["family"] for one in told["siblings"]}
    assert families == {"twin", "retile"}, families
    assert told["unproved"] == [], told
    assert "jacobi__ptxasw_twin_same(" in out.read_text()
    # Two runs need not reach every line of the re-tiled sibling; the twin has no line of its own.
    said = subprocess.run([program, "verify", kernel, out, "--runs=2", "--search=0"], capture_output=True, text=True)
    assert "jacobi__ptxasw_twin_same: agree" in said.stdout, said
    # The settings, from all of their origins, know it as the command does.
    for words, environment in ((["--twin=again"], {}), ([], {"PTXASW_TWIN": "again"})):
        run("rewrite", kernel, "-o", out, *words, environment=environment)
        assert "jacobi__ptxasw_twin_again(" in out.read_text()
        assert "jacobi__ptxasw_twin_same(" not in out.read_text()
    assert "| `--ptxasw-twin` | `PTXASW_TWIN` | `twin` | `same\\|again[,...]` |" in run("describe", "settings")
    assert "add the kernel once more" in run("siblings", "--help")
    trap = pathlib.Path(scratch) / "traps/twin/threads.ptx"
    trap.parent.mkdir(parents=True)
    trap.write_text(TRAP)
    assert "1 hazards, 1 twins, 0 wrong" in run("twin", "--from", trap.parents[1], of=hazards)
    waits = pathlib.Path(scratch) / "waits.ptx"
    waits.write_text(WAITS)
    assert run("barriers", waits) == "waits: 2\n"
assert "count the barriers of each function" in run("describe", "man", "barriers")
assert "count the barriers" in run("help", "--all")
assert "twin" in run("explain", kernel)
print("the recipes work")
