"""Blocks that run on several threads leave what blocks in order leave: also where they read, add to and
overwrite what others wrote."""

import unittest

from support import PTXASW, Scratch, main, run

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
{
\t.reg .pred %p<4>;
\t.reg .b32 %r<16>;
\t.reg .b64 %rd<16>;
\tld.param.u64 %rd1, [a];
\tld.param.u64 %rd2, [b];
\tmov.u32 %r1, %ctaid.x;
\tmov.u32 %r2, %tid.x;
\tmov.u32 %r3, %nctaid.x;
"""

KERNELS = {
    # Block b adds one to what block b - 1 wrote.
    "a chain": """
\tmul.wide.u32 %rd3, %r1, 4;
\tadd.s64 %rd4, %rd1, %rd3;
\tld.global.u32 %r4, [%rd4];
\tmad.lo.u32 %r5, %r4, 3, %r1;
\tst.global.u32 [%rd4+4], %r5;
""",
    # Block b reads what the block after it has not written yet.
    "the other way": """
\tmul.wide.u32 %rd3, %r1, 4;
\tadd.s64 %rd4, %rd1, %rd3;
\tld.global.u32 %r4, [%rd4+4];
\tadd.u32 %r5, %r4, 1;
\tst.global.u32 [%rd4], %r5;
""",
    # The last block's store stays.
    "one place": """
\tadd.u32 %r4, %r1, 7;
\tst.global.u32 [%rd1], %r4;
""",
    # Neighbouring bytes, one per block.
    "bytes": """
\tcvt.u64.u32 %rd3, %r1;
\tadd.s64 %rd4, %rd1, %rd3;
\tst.global.u8 [%rd4], %r1;
""",
    # The order in which blocks came is what they get.
    "tickets": """
\tmul.wide.u32 %rd3, %r1, 4;
\tadd.s64 %rd4, %rd2, %rd3;
\tatom.global.add.u32 %r4, [%rd1], 1;
\tst.global.u32 [%rd4], %r4;
""",
    "a histogram": """
\trem.u32 %r4, %r1, 5;
\tmul.wide.u32 %rd3, %r4, 4;
\tadd.s64 %rd4, %rd1, %rd3;
\tred.global.add.u32 [%rd4], %r1;
""",
    # Only every ninth block meets another, so that most of a batch stands.
    "now and then": """
\tmul.wide.u32 %rd3, %r1, 4;
\tadd.s64 %rd4, %rd1, %rd3;
\tst.global.u32 [%rd4], %r1;
\trem.u32 %r4, %r1, 9;
\tsetp.ne.u32 %p1, %r4, 8;
\t@%p1 bra DONE;
\tld.global.u32 %r5, [%rd4+-4];
\tmul.wide.u32 %rd5, %r1, 4;
\tadd.s64 %rd6, %rd2, %rd5;
\tst.global.u32 [%rd6], %r5;
DONE:
""",
}


class Threads(Scratch):
    def test_they_change_nothing(self):
        for name, body in KERNELS.items():
            with self.subTest(name):
                module = self.dir / "k.ptx"
                module.write_text(HEAD + body + "\tret;\n}\n")
                left = []
                for threads in ("1", "2", "7"):
                    done = run([PTXASW, "emulate", module, "--launch", "grid=300,block=1", "--launch",
                                "a=zeros:4096,b=zeros:4096", "--dump", "0:u32:400", "--dump", "1:u32:400",
                                  "--check", "none", "--jobs", threads])
                    self.assertEqual(done.returncode, 0, done.stderr)
                    left.append(done.stdout)
                self.assertEqual(left[0], left[1])
                self.assertEqual(left[0], left[2])
                self.assertGreater(len(set(left[0].split())), 5)

    def test_a_fault_is_the_first_one(self):
        module = self.dir / "k.ptx"
        module.write_text(HEAD + """
\tsetp.lt.u32 %p1, %r1, 100;
\tmul.wide.u32 %rd3, %r1, 4096;
\tadd.s64 %rd4, %rd1, %rd3;
\t@%p1 bra DONE;
\tst.global.u32 [%rd4], %r1;
DONE:
\tret;
}
""")
        said = [run([PTXASW, "emulate", module, "--launch",
                     "grid=300,block=1,a=zeros:4096,b=zeros:4096", "--check", "none", "--jobs", threads]) for threads in ("1", "4")]
        self.assertEqual(said[0].returncode, 1)
        self.assertEqual((said[0].returncode, said[0].stderr), (said[1].returncode, said[1].stderr))


if __name__ == "__main__":
    main()
