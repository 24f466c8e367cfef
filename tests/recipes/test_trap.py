"""A trap is added as CONTRIBUTING.md and the README of the traps say: a file, and nothing else, in a copy of the folder.
What is expected of it is looked at: a head that says the contrary is told.

test_trap.py HAZARDS SOURCE"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

hazards, source = sys.argv[1], pathlib.Path(sys.argv[2])
TRAP = """// hazard: a barrier lies between the loads
// naive: N=1
// expect: shuffles=0 kept=sync-between
// twin: none does
// twin-expect: shuffles=1
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
	bar.sync 0; // hazard
	ld.global.f32 %f2, [%rd3+4];
	add.f32 %f3, %f1, %f2;
	st.global.f32 [%rd6], %f3;
	ret;
}
"""

with tempfile.TemporaryDirectory() as scratch:
    copy, written = pathlib.Path(scratch) / "hazards", pathlib.Path(scratch) / "traps"
    (copy / "kernels").mkdir(parents=True)
    shutil.copytree(source / "tests/hazards/bases", copy / "bases")

    def told(text):
        (copy / "kernels/added.trap").write_text(text)
        subprocess.run([sys.executable, "-B", source / "tests/hazards/expand.py", copy, written], check=True)
        return subprocess.run([hazards, "kernels", "--from", written], capture_output=True, text=True)

    done = told(TRAP)
    assert done.returncode == 0 and "1 hazards, 1 twins, 0 wrong" in done.stdout, done
    done = told(TRAP.replace("expect: shuffles=0", "expect: shuffles=1"))
    assert done.returncode != 0 and "added" in done.stdout + done.stderr, done
print("a trap is a file")
