"""The bounds of `ptxasw cost`, and `ptxasw emulate --count`: text, JSON as its schema has it, evaluation, comparison, errors."""

import json
import os
import re
import time
from pathlib import Path

from support import PTXASW, Scratch, main, run

ROOT = Path(__file__).resolve().parent.parent.parent
RACUDA = ROOT / "tests/bound/racuda"


def bound(*words):
    return run([PTXASW, "cost", "--only", "bounds", *words])


class Bound(Scratch):
    def one(self, *words):
        result = bound(*words, "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)["kernels"][0]

    def test_formulas(self):
        kernel = self.one(RACUDA / "addsub.ptx", "--kernel", "addSub0", "--launch", "block=256,base-align=256")
        self.assertEqual(kernel["bounds"]["sectors"]["warp"], "65*max(0, param_2)")
        self.assertEqual(kernel["bounds"]["conflicts"]["launch"], "0")
        self.assertEqual(kernel["bounds"]["conflicts"]["verdict"], "exact")

    def test_numbers(self):
        words = [RACUDA / "addsub.ptx", "--kernel", "addSub0", "--launch"]
        kernel = self.one(*words, "param_2=100,addSub0_param_3=256,block=256,grid=1")
        self.assertEqual(kernel["bounds"]["sectors"]["launch"], str(65 * 100 * 8))
        result = bound(*words, "param_3=256,block=256,grid=1")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("--launch says nothing of param_2", result.stderr)
        result = bound(*words, "param_2=100000000,param_3=256,block=256,grid=256")
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertIn("the bounds hold only if", result.stderr)

    def test_numbers_reach_addresses(self):
        # s[tid.x * gridDim.x]: what lanes are apart is a number at a launch.
        kernel = self.write("stride.ptx", """.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
  .reg .b32 %r<8>;
  .shared .align 4 .b8 s[8192];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  mul.lo.s32 %r4, %r2, %r3;
  shl.b32 %r4, %r4, 2;
  mov.u32 %r5, s;
  add.s32 %r5, %r5, %r4;
  st.shared.u32 [%r5], %r2;
  ret;
}
""")
        self.assertEqual(self.one(self.dir / "stride.ptx")["bounds"]["conflicts"]["warp"], "31")
        for grid, conflicts in ((1, 0), (2, 1), (8, 7), (32, 31)):
            found = self.one(self.dir / "stride.ptx", "--launch", f"block=64,grid={grid}")["bounds"]["conflicts"]
            self.assertEqual(found["warp"], str(conflicts), grid)
            counted = run([PTXASW, "emulate", "stride.ptx", "--launch", f"grid={grid},block=64", "--count"])
            self.assertRegex(counted.stdout, rf"\n *conflicts +{conflicts} ", grid)

    def test_long_formulas_are_cut(self):
        """Rounds that depend on many parameters: of each formula 120 characters, unless all is asked for."""
        names = [f"a_parameter_with_a_long_name_{i}" for i in range(8)]
        text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(" + ", ".join(f".param .u32 {name}" for name in names)
        text += ") {\n.reg .pred %p<2>; .reg .b32 %r<4>;\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\n"
        text += "".join(f"ld.param.u32 %r3, [{name}];\nadd.s32 %r1, %r1, %r3;\n" for name in names)
        self.write("long.ptx", text + "L:\nsetp.ge.s32 %p1, %r2, %r1;\n@%p1 bra E;\nadd.s32 %r2, %r2, 1;\nbra L;\nE:\nret;\n}\n")
        words = [PTXASW, "cost", "--only", "bounds", "long.ptx"]
        for more in ([], ["--compare", "long.ptx"]):
            cut, whole = run([*words, *more]).stdout, run([*words, *more, "-v"]).stdout
            formulas = [formula for line in cut.splitlines() for formula in re.findall(r"\S+\.\.\. \(-v\)", line.replace(" + ", "+"))]
            self.assertTrue(formulas, cut)
            self.assertIn(names[7], whole)
            self.assertNotIn("(-v)", whole)
            self.assertLess(max(map(len, cut.splitlines())), 2 * 120 + 40)
        self.assertRegex(run(words).stdout, r"\n  loop, line \d+: .{111}\.\.\. \(-v\) rounds\n")

    def test_a_loop_that_data_decides(self):
        """The rounds of a row of a sparse matrix: the message says which line brings the number."""
        self.write("rows.ptx", """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [%rd1];
  mov.u32 %r2, 0;
L:
  add.s32 %r2, %r2, 1;
  st.global.u32 [%rd1+8], %r2;
  setp.lt.s32 %p1, %r2, %r1;
  @%p1 bra L;
  ret;
}
""")
        words = [PTXASW, "cost", "--only", "bounds", "rows.ptx"]
        said = run(words)
        self.assertEqual(said.returncode, 0)
        self.assertIn("  loop, line 13: rounds_10 rounds: its bound is not known: line 7 of the PTX makes it\n", said.stdout)
        self.assertIn("  sectors    warp    at most  rounds_10 + 1\n", said.stdout)
        # At a launch a formula is no answer, unless the rounds are said.
        at = [*words, "--launch", "block=32,grid=1"]
        said = run(at)
        self.assertEqual(said.returncode, 3)
        self.assertIn("  sectors    no bound: line 13: a loop: its bound is not known: line 7 of the PTX makes it;"
                      " --rounds 10=N says how often it runs\n", said.stdout)
        for given in [*at, "--rounds", "10=17"], [*words, "--rounds", "10=17"]:
            said = run(given)
            self.assertEqual(said.returncode, 0)
            self.assertIn("  sectors    warp    at most  18\n", said.stdout)
            self.assertIn("  loop, line 13: at most 17 rounds\n", said.stdout)
        loop = json.loads(run([*words, "--json"]).stdout)["kernels"][0]["loops"][0]
        self.assertEqual((loop["variable"], loop["rounds"], loop["verdict"]), ("rounds_10", None, "none"))
        for wrong, message in ("10", "expected LINE=NUMBER"), ("10=0", "expected a number from 1 on"), \
                ("10=x", "expected a number from 1 on"), ("11=3", "no loop whose rounds are not known begins there"):
            said = run([*words, "--rounds", wrong])
            self.assertEqual(said.returncode, 2)
            self.assertIn(f"--rounds {wrong.split('=')[0]}", said.stderr)
            self.assertIn(message, said.stderr)

    def test_conditions_that_nothing_keeps(self):
        # Only n = 0 keeps both tid + n and tid - n from wrapping around, and then no thread gets there.
        self.write("back.ptx", """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mul.lo.s32 %r3, %r1, %r1;
  setp.ge.u32 %p1, %r2, %r3;
  @%p1 bra DONE;
  add.s32 %r4, %r2, %r1;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r5, [%rd3];
  sub.s32 %r4, %r2, %r1;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r5;
DONE:
  ret;
}
""")
        kernel = self.one("back.ptx", "--launch", "block=256")
        self.assertEqual(kernel["conditions"], ["0 <= n"])
        self.assertEqual(kernel["bounds"]["sectors"]["warp"], "11")

    def test_numbers_are_read_as_bits(self):
        # The loop counts from a parameter up to 10: what is passed as an unsigned number begins below 0.
        kernel = self.dir / "count.ptx"
        for width in (32, 64):
            kernel.write_text(f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u{width} n)
{{
  .reg .pred %p<2>;
  .reg .b{width} %r<2>;
  ld.param.u{width} %r1, [n];
L:
  setp.ge.s{width} %p1, %r1, 10;
  @%p1 bra E;
  add.s{width} %r1, %r1, 1;
  bra L;
E:
  ret;
}}
""")
            for number in (-100, 2**width - 100, 3):
                told = self.one(kernel, "--launch", f"n={number},block=32,grid=1")["bounds"]["steps"]
                counted = run([PTXASW, "emulate", kernel, "--launch", f"block=32,n={number}", "--count"]).stdout
                (steps,) = [line.split()[-1] for line in counted.splitlines() if line.split()[0] == "steps"]
                self.assertEqual((told["verdict"], told["launch"]), ("exact", steps), number)
            for command in ("cost", "lint", "report"):
                result = run([PTXASW, command, kernel, "--launch", f"n={2**width},block=32,grid=1"])
                self.assertIn(f"--launch n={2**width}: it is a number from {-2**(width - 1)} to {2**width - 1}",
                              result.stderr, command)
                self.assertEqual((result.returncode, result.stdout), (2, ""))

    def test_parameters_that_are_read_with_two_widths(self):
        # Both loops count up to the parameter, to its 16 or 32 lowest bits: no number is both.
        kernel = self.dir / "both.ptx"
        first, second = "ld.param.u32 %r1, [n];", "ld.param.u16 %h1, [n];"
        for loads in (first + second, second + first):
            kernel.write_text(f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n)
{{
  .reg .pred %p1;
  .reg .b16 %h1;
  .reg .b32 %r<5>;
  {loads}
  cvt.u32.u16 %r4, %h1;
  mov.u32 %r2, 0;
L:
  add.s32 %r2, %r2, 1;
  setp.lt.s32 %p1, %r2, %r1;
  @%p1 bra L;
  mov.u32 %r3, 0;
M:
  add.s32 %r3, %r3, 1;
  setp.lt.s32 %p1, %r3, %r4;
  @%p1 bra M;
  ret;
}}
""")
            steps = self.one(kernel, "--launch", "block=32")["bounds"]["steps"]["launch"]
            self.assertRegex(steps, r"\bn:(16|32)\b")
            for number in (70000, 2**31 + 5):
                self.assertEqual(bound(kernel, "--launch", f"n={number},block=32,grid=1").returncode, 2)

    def test_numbers_of_one_kernel(self):
        words = [RACUDA / "addsub.ptx", "--kernel", "addSub0", "--launch"]
        kernel = self.one(*words, "param_2=7,addSub0:param_2=100,param_3=256,block=256,grid=1")
        self.assertEqual(kernel["bounds"]["sectors"]["launch"], str(65 * 100 * 8))

    def test_weights(self):
        weights = self.dir / "weights.json"
        weights.write_text('{"instructions": 1, "sectors": 5, "conflicts": 1, "divwarps": 1}')
        words = [RACUDA / "vectoradd.ptx", "--launch", "block=256,base-align=256"]
        kernel = self.one(*words, "--weights", weights)
        self.assertEqual(int(kernel["bounds"]["weighted"]["warp"]),
                         int(kernel["bounds"]["steps"]["warp"]) + 4 * 12)
        weights.write_text('{"sectors": "many"}')
        result = bound(*words, "--weights", weights)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("no whole number", result.stderr)

    def test_comparison(self):
        result = bound(RACUDA / "addsub.ptx", "--kernel", "addSub2", "--compare", RACUDA / "addsub.ptx", "--json")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(json.loads(result.stdout)["kernels"][0]["lower"]["sectors"], "equal")

    def test_no_bound(self):
        text = (ROOT / "tests/data/jacobi.ptx").read_text()
        spinning = self.dir / "spin.ptx"
        spinning.write_text(text.replace("ld.param.u64", "SPIN: bra SPIN;\n  ld.param.u64", 1))
        result = bound(spinning)
        self.assertEqual(result.returncode, 3)
        self.assertIn("no bound: line", result.stdout)

    def test_words_of_constant_variables(self):
        kernel = self.dir / "table.ptx"
        kernel.write_text(""".version 8.0
.target sm_80
.address_size 64
.const .align 4 .b32 table[4];
.visible .entry k(.param .u32 n)
{
  .reg .pred %p1;
  .reg .b32 %r<3>;
  ld.const.u32 %r1, [table+8];
  mov.u32 %r2, 0;
L:
  add.s32 %r2, %r2, 1;
  setp.lt.s32 %p1, %r2, %r1;
  @%p1 bra L;
  ret;
}
""")
        at = ["block=32,grid=1"]
        self.assertEqual(self.one(kernel, "--launch", *at, "--launch", "table+8=5")["bounds"]["steps"]["launch"], "18")
        self.assertIn("says nothing of table+8", bound(kernel, "--launch", *at).stderr)
        self.assertIn("no kernel has a parameter `tabel+8`", bound(kernel, "--launch", *at, "--launch", "tabel+8=5").stderr)
        # A name of either file of a comparison is one.
        words = [RACUDA / "addsub.ptx", "--kernel", "addSub0", "--launch", "param_2=4,param_3=4,block=32,grid=1", "--launch"]
        self.assertIn("no kernel has a parameter `n`", bound(*words, "n=1").stderr)
        self.assertIn("has no kernel `addSub0`", bound(*words, "n=1", "--compare", kernel).stderr)

    def test_counts_of_bits(self):
        # Half a minute, when every order of the 31 quotients was tried.
        kernel = self.dir / "popc.ptx"
        kernel.write_text(""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n)
{
  .reg .pred %p1;
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [n];
  popc.b32 %r2, %r1;
  mov.u32 %r3, 0;
L:
  add.s32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, %r2;
  @%p1 bra L;
  ret;
}
""")
        begin = time.process_time() + sum(os.times()[2:4])
        steps = self.one(kernel, "--launch", "n=255,block=32,grid=1")["bounds"]["steps"]
        self.assertLess(time.process_time() + sum(os.times()[2:4]) - begin, 10)
        self.assertGreaterEqual(int(steps["launch"]), 3 + 3 * 8 + 1)

    def test_bad_words(self):
        for words, said in ((["--launch", "q=5"], "no kernel has a parameter `q`"),
                            (["--launch", "ntid.q=5"], "no kernel has a parameter `ntid.q`"),
                            (["--launch", "w"], "expected NAME=NUMBER"), (["--launch", "block=0"], "expected X, XxY"),
                            (["--launch", "base-align=3"], "a power of two"), (["--kernel", "none"], "no kernel")):
            result = bound(RACUDA / "vectoradd.ptx", *words)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(said, result.stderr)

    def test_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("no jsonschema")
        schema = json.loads((ROOT / "docs/cost.schema.json").read_text())
        for path in [*sorted(RACUDA.glob("*.ptx")), *sorted((ROOT / "kernelgen-bench/ptx").glob("*.ptx"))[::6]]:
            result = bound(path, "--json")
            self.assertIn(result.returncode, (0, 3))
            jsonschema.validate(json.loads(result.stdout), schema)

    def test_counts(self):
        result = run([PTXASW, "emulate", RACUDA / "reduce.ptx", "--kernel", "reduce1", "--launch",
                      "block=256,grid=4,shared=1024,param_0=zeros:4096,param_1=zeros:16,param_2=1024", "--check", "none", "--count"])
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"(?m)^ +conflicts +87 +105 +420$")


if __name__ == "__main__":
    main()
