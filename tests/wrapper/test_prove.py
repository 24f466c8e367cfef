"""`ptxasw prove`: its output and its errors; what it proves is tested in tests/prove."""

import json
import os
import re
from pathlib import Path

from support import PTXASW, Scratch, main, run

ROOT = Path(__file__).resolve().parents[2]

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n) {
  .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p;
  .shared .align 4 .b32 tile[64];
  ld.param.u64 %d0, [a];
  ld.param.u32 %r5, [n];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %r0, 4, %r1;
  st.shared.u32 [%r2], %r0;
  bar.sync 0;
  ld.shared.u32 %r3, [%r1];
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r6, %ntid.x;
  mad.lo.u32 %r7, %r4, %r6, %r0;
  mul.wide.u32 %d1, %r7, 4;
  add.u64 %d1, %d1, %d0;
  setp.lt.u32 %p, %r7, %r5;
  @%p st.global.u32 [%d1], %r3;
  ret;
}
"""

# All threads write one place, unless what is read of `n` is 0.
PARTS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, PARAMETER) {
  .reg .b32 %r<9>; .reg .b16 %h; .reg .b64 %d<4>; .reg .f32 %f; .reg .pred %p;
  ld.param.u64 %d0, [a];
  mov.u32 %r5, %tid.x;
  READS
  setp.eq.u32 %p, %r1, 0;
  @%p ret;
  st.global.u32 [%d0], %r5;
  ret;
}
"""

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {
  .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p;
  ld.param.u64 %d0, [x];
  ld.param.u64 %d1, [y];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d2, %r0, 4;
  add.u64 %d0, %d0, %d2;
  add.u64 %d1, %d1, %d2;
  ld.global.u32 %r1, [%d0];
"""


def check_schema(answer):
    try:
        import jsonschema
    except ImportError:
        return
    jsonschema.validate(answer, json.loads((ROOT / "docs" / "prove.schema.json").read_text()))


class Prove(Scratch):
    def prove(self, text, *words):
        self.write("k.ptx", text)
        return run([PTXASW, "prove", "k.ptx", *words])

    def json(self, text, *words):
        result = self.prove(text, "--json", *words)
        document = json.loads(result.stdout)
        check_schema(document)
        return result.returncode, document["kernels"][0]

    def test_proved(self):
        result = self.prove(KERNEL, "--launch", "block=64,grid=4", "--size", "a=1024")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertIn("  race free proved\n  barriers  proved\n  in bounds proved\n  if: block = 64x1x1\n", result.stdout)

    def test_without_z3_what_is_unknown_says_so(self):
        for name in ("libz3.so.4", "libz3.so"):  # found first, and no library
            self.write(name, "none\n")
        self.write("k.ptx", KERNEL)
        done = run([PTXASW, "prove", "k.ptx", "--assume", "1d"], env=dict(os.environ, LD_LIBRARY_PATH=str(self.dir)))
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("; Z3, which might know, is not installed (libz3.so.4)", done.stdout)

    def test_of_no_launch_nothing_is_proved(self):
        for words in (("--launch", "block=16x16", "--assume", "1d"), ("--assume", "n >= 1,n <= 0"),
                      ("--launch", "block=128", "--assume", "blockDim.x <= 64")):
            result = self.prove(KERNEL, *words)
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            self.assertIn("no launch of `k` keeps all that is assumed: ", result.stderr)

    def test_what_a_comparison_includes(self):
        text = PARTS.replace("PARAMETER", ".param .u32 n").replace(
            "READS", "ld.param.u32 %r2, [n]; setp.eq.u32 %p, %r2, 4; selp.u32 %r1, 1, 0, %p;")
        for assumed, code in (("n <= 4", 3), ("n < 4", 0), ("n >= 4", 3), ("n > 4", 0), ("n == 4", 3), ("n <= 3", 0)):
            result = self.prove(text, "--launch", "block=64,grid=1", "--assume", assumed, "--only-given", "--launches", "0")
            self.assertEqual(result.returncode, code, (assumed, result.stdout))

    def test_a_module_without_a_kernel(self):
        result = self.prove(KERNEL[:KERNEL.index(".visible")])
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("there is no kernel", result.stderr)

    def test_assumptions_that_are_not_needed_are_not_listed(self):
        code, kernel = self.json(KERNEL, "--launch", "block=64,grid=4", "--assume", "disjoint,no-wrap,n >= 0")
        self.assertEqual((code, kernel["assumptions"]), (0, ["block = 64x1x1", "grid = 4x1x1", "n >= 0"]))

    def test_what_would_do(self):
        code, kernel = self.json(KERNEL, "--assume", "1d", "--launches", "0")
        self.assertEqual((code, kernel["race_free"]["verdict"]), (3, "unknown"))
        self.assertIn("no-wrap", kernel["would_do"])

    def test_bounds(self):
        for words, code in (("a=1024", 0), ("a=1020", 3), ("b=4", 2)):
            self.assertEqual(self.prove(KERNEL, "--launch", "block=64,grid=4", "--size", words).returncode, code, words)
        code, kernel = self.json(KERNEL, "--launch", "block=96,grid=1", "--size", "a=1024")
        self.assertEqual((code, kernel["in_bounds"]["verdict"], kernel["in_bounds"]["line"]), (3, "unknown", 12))

    def test_a_refutation_runs(self):
        code, kernel = self.json(KERNEL.replace("bar.sync 0;", ""), "--launch", "block=64,grid=4", "--witness", ".")
        self.assertEqual((code, kernel["race_free"]["verdict"]), (1, "refuted"))
        self.assertEqual({kernel["race_free"]["line"], kernel["race_free"]["other_line"]}, {12, 14})
        seen = run([PTXASW, "emulate", "k.ptx", "--launch", kernel["race_free"]["launch"], "--check", "races"])
        self.assertEqual(seen.returncode, 1)
        self.assertIn("race", seen.stderr)

    def test_a_mask_of_lanes_is_no_index(self):
        """15 << 28 names lanes 28 to 31; as a number it would not be one that no-wrap allows."""
        tiles = KERNEL.replace("bar.sync 0;", "mov.u32 %r8, %laneid; and.b32 %r8, %r8, 28; mov.u32 %r9, 15; shl.b32 %r8, %r9, %r8; "
                               "bar.warp.sync %r8;")
        tiles = tiles.replace("%r<9>", "%r<10>")
        code, kernel = self.json(tiles, "--launch", "block=64,grid=1", "--assume", "no-wrap", "--witness", ".")
        self.assertEqual((code, kernel["race_free"]["verdict"]), (1, "refuted"))

    def test_what_is_given_of_parameters_is_read_by_parts(self):
        whole, array = ".param .u64 n", ".param .align 8 .b8 n[16]"
        upper = "ld.param.u32 %r1, [n+4];"
        for parameter, reads, words in (
                (whole, upper, "n=5"), (whole, "ld.param.v2.u32 {%r0, %r1}, [n];", "n=5"),
                (whole, "ld.param.u64 %d1, [n]; ld.param.u32 %r1, [n+4];", "n=5"),
                (whole, "ld.param.u8 %r1, [n+1];", "n=65541"), (array, upper, "n+4=0"),
                (array, "ld.param.u32 %r2, [n+4]; ld.param.u16 %h, [n+6]; cvt.u32.u16 %r1, %h;", "n+4=65535"),
                (array, "ld.param.u64 %d1, [n]; ld.param.u32 %r1, [n+4];", "n=5"),
                (array, "ld.param.u64 %d1, [n]; ld.param.u32 %r1, [n+8];", "n=5,n+8=0"), (array, upper, "n+0:u64=7"),
                (array, upper, "n+4:f32=0.0"), (".param .f32 n", "ld.param.u32 %r1, [n];", "n=0.0"),
                (".param .f32 n", "ld.param.f32 %f, [n]; setp.gt.f32 %p, %f, 0f40000000; selp.u32 %r1, 1, 0, %p;", "n=2")):
            text = PARTS.replace("PARAMETER", parameter).replace("READS", reads)
            code, kernel = self.json(text, "--only-given", "--launch", "block=64,grid=1," + words)
            self.assertNotEqual(kernel["race_free"]["verdict"], "refuted", (reads, words))
            self.assertEqual(code, 3 if "%f" in reads else 0, (reads, words))  # of real numbers nothing is known

    def test_a_refutation_has_what_is_given(self):
        text = PARTS.replace("PARAMETER", ".param .u64 n").replace("READS", "ld.param.u32 %r1, [n+4];")
        code, kernel = self.json(text, "--only-given", "--launch", "block=64,grid=1,n=0x500000006", "--witness", ".")
        self.assertEqual((code, kernel["race_free"]["verdict"]), (1, "refuted"))
        self.assertIn("0600000005000000", Path(kernel["race_free"]["launch"]).read_text())
        for words in (("--assume", "n >= 0,n <= 100"), ("--assume", "n % 4294967296 == 0,n >= 1,n <= 4294967295")):
            code, kernel = self.json(text, "--only-given", "--launch", "block=64,grid=1", *words)
            self.assertEqual((code, kernel["race_free"]["verdict"]), (3, "unknown"), words)
        code, kernel = self.json(text.replace("[%d0]", "[%d0+8]"), "--only-given", "--launch", "block=64,grid=1", "--size", "a=8")
        self.assertEqual((code, kernel["race_free"]["verdict"]), (3, "unknown"))

    def test_arguments_of_a_launch_file_are_bytes(self):
        for parameter, argument, reads, verdict in (
                (".u64 n", '{ value = 5 }', "ld.param.u32 %r1, [n+4];", "proved"),
                (".u64 n", '{ bytes = "00000000 01000000", fields = [{ at = 0, type = "u32", value = 5 }] }',
                 "ld.param.u64 %d1, [n]; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r1, %d1;", "refuted"),
                (".u64 n", '{ bytes = "01000000 01000000", fields = [{ at = 4, type = "u16", value = 0 }] }', "ld.param.u16 %r1, [n+4];",
                 "proved"),
                (".align 8 .b8 n[24]", '{ bytes = "00", fields = [{ at = 8, buffer = "a" }] }', "ld.param.u32 %r1, [n+20];", "proved"),
                (".align 8 .b8 n[24]", '{ bytes = "00", fields = [{ at = 8, buffer = "a" }] }', "ld.param.u32 %r1, [n+12];", "refuted"),
                (".u64 n", '{ type = "s32", value = -1 }', "ld.param.u32 %r1, [n+4];", "proved")):
            self.write("l.toml", 'kernel = "k"\ngrid = [1]\nblock = [64]\nbuffer = [{ name = "a", type = "u32", count = 256 }]\n'
                                 f'argument = [{{ buffer = "a" }}, {argument}]\n')
            text = PARTS.replace("PARAMETER", ".param " + parameter).replace("READS", reads)
            code, kernel = self.json(text, "--only-given", "--launch", "l.toml")
            self.assertEqual(kernel["race_free"]["verdict"], verdict, (argument, reads))

    def test_barriers(self):
        code, kernel = self.json(KERNEL.replace("bar.sync", "setp.lt.u32 %p, %r0, 8; @%p bar.sync"), "--launch", "block=64,grid=4")
        self.assertEqual((code, kernel["barriers"]["verdict"]), (1, "refuted"))

    def test_barriers_that_are_not_proved(self):
        for before in ("setp.lt.u32 %p, %r0, 8; @!%p bra over; around: bra around; over: bar.sync",
                       "shr.u32 %r8, %r0, 5; again: bar.sync 0; sub.u32 %r8, %r8, 1; setp.eq.u32 %p, %r8, 0; @%p bra again; bar.sync",
                       "again: ld.volatile.shared.u32 %r8, [%r1]; setp.eq.u32 %p, %r8, 0; @%p bra again; bar.sync"):
            code, kernel = self.json(KERNEL.replace("bar.sync", before), "--launch", "block=64,grid=4", "--launches", "0")
            self.assertEqual((code, kernel["barriers"]["verdict"]), (3, "unknown"), before)

    def test_computed_addresses_in_local_memory(self):
        text = KERNEL.replace(".shared", ".local .align 4 .b32 own[4];\n  .shared", 1).replace(
            "bar.sync", "mov.u64 %d2, own; mul.wide.u32 %d3, %r0, 4; add.u64 %d2, %d2, %d3; st.local.u32 [%d2], %r0; bar.sync")
        code, kernel = self.json(text, "--launch", "block=64,grid=4", "--size", "a=1024", "--launches", "0")
        self.assertEqual((code, kernel["in_bounds"]["verdict"]), (3, "unknown"))
        self.assertIn("size of a = 1024", kernel["assumptions"])

    def test_a_launch_file(self):
        self.write("l.toml", 'kernel = "k"\ngrid = [4]\nblock = [64]\n'
                             'buffer = [{ name = "a", type = "u32", count = 256 }]\n'
                             'argument = [{ buffer = "a" }, { value = 256 }]\n')
        result = self.prove(KERNEL, "--launch", "l.toml")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("n = 256", result.stdout)
        self.assertIn("in bounds proved", result.stdout)

    def test_verbose(self):
        self.assertRegex(self.prove(KERNEL, "--launch", "block=64,grid=4", "-v").stdout, r"  Z3: [1-9]\d* questions, [1-9]\d* unsat, \d+ sat, 0 without an answer, \d+\.\d\d s\n")

    def test_errors(self):
        for words, text in ((["--assume", "n >"], "--assume: `n >`"), (["--assume", "1<n<5"], "1<n<5"),
                            (["--assume", "m >= 0"], "no parameter `m`; there are: a, n"),
                            (["--launch", "m=1"], "--launch: no kernel has a parameter `m`"), (["--size", "a"], "--size: `a`"),
                            (["--kernel", "none"], "none"), (["--launch", "block"], "--launch block: expected NAME=NUMBER"), (["--launch", "none"], "none")):
            result = self.prove(KERNEL, *words)
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            self.assertTrue(re.search(re.escape(text), result.stderr), result.stderr)

    def test_sarif(self):
        for text, launches, level in ((KERNEL.replace("bar.sync 0;", ""), "24", "error"), (KERNEL.replace("bar.sync 0;", ""), "0", "warning")):
            self.prove(text, "--launch", "block=64,grid=4", "--sarif", "out.sarif", "--launches", launches, "--only-given")
            run_ = json.loads(Path("out.sarif").read_text())["runs"][0]
            result = run_["results"][0]
            self.assertEqual((result["ruleId"], result["level"]), ("race-free", level))
            self.assertEqual(run_["tool"]["driver"]["rules"][result["ruleIndex"]]["id"], "race-free")
            places = [one["physicalLocation"] for one in result["locations"] + result["relatedLocations"]]
            self.assertEqual([one["artifactLocation"]["uri"] for one in places], ["k.ptx", "k.ptx"])
            self.assertEqual({one["region"]["startLine"] for one in places}, {12, 14})
        self.prove(KERNEL, "--launch", "block=64,grid=4", "--sarif", "out.sarif")
        self.assertEqual(json.loads(Path("out.sarif").read_text())["runs"][0]["results"], [])

    def two(self, first, second, *words):
        for name, body in (("a.ptx", first), ("b.ptx", second)):
            self.write(name, HEAD + body + "  st.global.u32 [%d1], %r2;\n  ret;\n}\n")
        return run([PTXASW, "prove", "a.ptx", "--equal", "b.ptx", "--launch", "grid=1,block=32,x=random:u32:32,y=zeros:128", *words])

    def test_two_inputs(self):
        twice = "  add.u32 %r2, %r1, %r1;\n"
        result = self.two(twice, "  shl.b32 %r2, %r1, 1;\n", "-v")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertIn("equal: proved\n  if: shape, arguments and addresses as in the launch\n", result.stdout)
        self.assertIn("elements: 32", result.stdout)
        result = self.two(twice, "  add.u32 %r2, %r1, 7;\n", "--witness", ".", "--json")
        self.assertEqual(result.returncode, 1, result.stdout)
        answer = json.loads(result.stdout)
        check_schema(answer)
        self.assertEqual(answer["equal"]["verdict"], "refuted")
        seen = run([PTXASW, "verify", "a.ptx", "b.ptx", "--launch", answer["equal"]["launch"]])
        self.assertEqual(seen.returncode, 1, seen.stdout + seen.stderr)

    def test_a_difference_that_only_z3_finds(self):
        result = self.two("  mov.u32 %r2, %r1;\n", "  setp.eq.u32 %p, %r1, 305419896; selp.u32 %r2, 1, %r1, %p;\n")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("0x12345678 and 0x1", result.stdout)

    def test_what_two_inputs_leave_unknown(self):
        for body, text in (("  setp.eq.u32 %p, %r1, 3; @%p bra over; add.u32 %r1, %r1, 1; over: mov.u32 %r2, %r1;\n", "which way it goes depends on the data"),
                           ("  and.b32 %r1, %r1, 3; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; mov.u32 %r2, 0;\n", "its address depends on the data"),
                           ("  sub.u64 %d1, %d1, %d2; mov.u32 %r2, %r0;\n", "race"),
                           ("  bar.sync 1, 32; mov.u32 %r2, %r1;\n", "a barrier of a part of a block"),
                           ("  add.u32 %r2, %r1, %r3;\n", "it reads a register that was not written"),
                           ("  atom.global.add.u32 %r2, [%d1], %r1; add.u32 %r2, %r2, 0;\n", "the two are different expressions")):
            result = self.two(body, body, "--launches", "0")
            self.assertEqual(result.returncode, 3, body + result.stdout + result.stderr)
            self.assertIn(text, result.stdout)

    def test_errors_of_two_inputs(self):
        for words, text in ((["--assume", "1d"], "are for launches that are left open"), (["--size", "x=4"], "does not go with"),
                            (["--kernel", "a", "--kernel", "b", "--kernel", "c"], "one kernel"), (["c.ptx"], "one input"),
                            (["--launch", "m=1"], "no kernel has a parameter `m`")):
            result = self.two("", "", *words)
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            self.assertIn(text, result.stderr)
        result = self.prove(KERNEL, "--reals")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("--reals is for --equal", result.stderr)

    def always(self, first, second, *words):
        for name, body in (("a.ptx", first), ("b.ptx", second)):
            self.write(name, HEAD + body + "  st.global.u32 [%d1], %r2;\n  ret;\n}\n")
        return run([PTXASW, "prove", "a.ptx", "--equal", "b.ptx", *words])

    def test_two_inputs_in_all_launches(self):
        twice, shifted, other = "  add.u32 %r2, %r1, %r1;\n", "  shl.b32 %r2, %r1, 1;\n", "  add.u32 %r2, %r1, 7;\n"
        result = self.always(twice, shifted, "-v")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertIn("equal: proved\n  if: both are launched alike", result.stdout)
        self.assertRegex(result.stdout, r"if: .*no race \((proved|assumed)")
        self.assertIn("equal by normal form: 2", result.stdout)
        result = self.always(twice, other, "--witness", ".", "--json")
        self.assertEqual(result.returncode, 1, result.stdout)
        answer = json.loads(result.stdout)
        check_schema(answer)
        seen = run([PTXASW, "verify", "a.ptx", "b.ptx", "--launch", answer["equal"]["launch"]])
        self.assertEqual(seen.returncode, 1, seen.stdout + seen.stderr)
        result = self.always(twice, other, "--launches", "0")
        self.assertEqual(result.returncode, 3, result.stdout)
        self.assertIn("b.ptx, line", result.stdout)
        self.assertIn("it may store something else than the other kernel", result.stdout)

    def test_launches_that_are_left_open(self):
        result = self.always("  mov.u32 %r2, %ntid.x;\n", "  mov.u32 %r2, 64;\n", "--launches", "0")
        self.assertEqual(result.returncode, 3, result.stdout)
        for words in (["--launch", "block=64"], ["--assume", "blockDim.x == 64"]):
            result = self.always("  mov.u32 %r2, %ntid.x;\n", "  mov.u32 %r2, 64;\n", *words)
            self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("if: blockDim.x == 64\n", result.stdout)
        result = self.always("", "", "--assume", "blockDim.x == 64,blockDim.x < 3")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("no launch keeps all that is assumed", result.stderr)
        result = self.always("", "", "--assume", "nothing >= 0")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("there is no parameter `nothing`", result.stderr)
        result = self.always("", "", "--launch", "block=64,grid=1,x=random:u32:64")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertRegex(result.stderr, r"`x=random:u32:64` is for one launch, which gives a value to all parameters, and `y` has none")


if __name__ == "__main__":
    main()
