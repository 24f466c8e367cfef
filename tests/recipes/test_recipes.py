"""What was added by the recipes of CONTRIBUTING.md is there: the family has its words, its setting and its
traps, proposes, writes and is proved; the command is in the help, runs and is described."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

program, hazards, source = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
tests, tree = sys.argv[4], pathlib.Path(sys.argv[5])
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

TURN = """.version 8.0
.target sm_90
.address_size 64
.visible .entry turn(.param .u64 a) {
  .reg .b64 %a, %o;
  .reg .b32 %t;
  .reg .b16 %x;
  ld.param.u64 %a, [a];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, 2;
  add.s64 %a, %a, %o;
  ld.global.u16 %x, [%a];
  brev.b16 %x, %x;
  st.global.u16 [%a], %x;
  ret;
}
"""

GOLDEN = """// What a contributor adds: two lanes read one word.
// expect: loads=2 shuffles=1 copies=0 delta=1 kept=is-source:1
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q)
.reqntid 128, 1, 1
{
	.reg .b64 %rd<8>;
	.reg .b32 %r<4>;
	.reg .f32 %f<4>;
	ld.param.u64 %rd1, [p];
	ld.param.u64 %rd5, [q];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	add.s64 %rd6, %rd5, %rd2;
	ld.global.f32 %f1, [%rd3];
	ld.global.f32 %f2, [%rd3+4];
	add.f32 %f3, %f1, %f2;
	st.global.f32 [%rd6], %f3;
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

# The instruction: both emulators compute it, the page has its row, the property tests try it.
with tempfile.TemporaryDirectory() as scratch:
    turn = pathlib.Path(scratch) / "turn.ptx"
    turn.write_text(TURN)
    data, after = pathlib.Path(scratch) / "data", pathlib.Path(scratch) / "after"
    data.write_bytes(bytes([1, 0, 0x40, 0x20]))
    run("emulate", turn, "--launch", f"block=2,grid=1,a=file:{data}", "--check", "none", "--dump", f"a:file:{after}")
    assert after.read_bytes() == bytes([0, 0x80, 4, 2]), after.read_bytes()
    turn.write_text(TURN.replace("mul.wide.u32 %o, %t, 2", "cvt.u16.u32 %x, %t; brev.b16 %x, %x; mul.wide.u16 %o, %x, 2"))
    assert "brev" not in run("explain", "--trace", turn) and "tid.x" in run("explain", "--trace", turn), run("explain", "--trace", turn)

shutil.rmtree(tree, ignore_errors=True)
for folder in ("docs/internals", "tests/synth/golden", "tests/synth/rewritten"):
    shutil.copytree(source / folder, tree / folder)
page = "docs/internals/instructions.md"
run("-tc=docs*", of=tests, environment={"PTXASW_WRITE_DOCS": "1"})
new = [line for line in (tree / page).read_text().splitlines() if line not in (source / page).read_text().splitlines()]
assert new == ["| `brev` | b16 |  | type = type |"], new
said = run("-tc=every line*,what the table*,expressions*", of=tests, environment={"PTXASW_TABLE_ROUNDS": "20"})
assert "0 failed" in said and "assertions: 0 |" not in said, said

# A test: a file with its expectation in the head.
(tree / "tests/synth/golden/added.ptx").write_text(GOLDEN)
run("-tc=golden rewrites", of=tests, environment={"WRITE_GOLDEN": "1"})
run("-tc=golden rewrites,no text*", of=tests)
for folder in ("tests/synth/golden", "tests/synth/rewritten"):
    files = {path.name: path.read_bytes() for path in (source / folder).iterdir()}
    now = {path.name: path.read_bytes() for path in (tree / folder).iterdir()}
    assert {name for name in now if now[name] != files.get(name)} == {"added.ptx" if folder.endswith("golden") else "added.diff"}
(tree / "tests/synth/golden/added.ptx").write_text(GOLDEN.replace("shuffles=1", "shuffles=0"))
failed = subprocess.run([tests, "-tc=golden rewrites"], capture_output=True, text=True)
assert failed.returncode != 0 and "added.ptx" in failed.stdout, failed
print("the recipes work")
