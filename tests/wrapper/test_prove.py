"""`ptxasw prove`: its output and its errors; what it proves is tested in tests/prove."""

import json
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


class Prove(Scratch):
    def prove(self, text, *words):
        self.write("k.ptx", text)
        return run([PTXASW, "prove", "k.ptx", *words])

    def json(self, text, *words):
        result = self.prove(text, "--json", *words)
        document = json.loads(result.stdout)
        try:
            import jsonschema
            jsonschema.validate(document, json.loads((ROOT / "docs" / "prove.schema.json").read_text()))
        except ImportError:
            pass
        return result.returncode, document["kernels"][0]

    def test_proved(self):
        result = self.prove(KERNEL, "--launch", "block=64,grid=4", "--size", "a=1024")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertIn("  race free proved\n  barriers  proved\n  in bounds proved\n  if: block = 64x1x1\n", result.stdout)

    def test_of_no_launch_nothing_is_proved(self):
        for words in (("--launch", "block=16x16", "--assume", "1d"), ("--assume", "n >= 1,n <= 0"),
                      ("--launch", "block=128", "--assume", "blockDim.x <= 64")):
            result = self.prove(KERNEL, *words)
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            self.assertIn("no launch of `k` keeps all that is assumed: ", result.stderr)

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
        self.assertRegex(self.prove(KERNEL, "--launch", "block=64,grid=4", "-v").stdout, r"questions to Z3: \d+, without an answer: 0")

    def test_errors(self):
        for words, text in ((["--assume", "n >"], "--assume: `n >`"), (["--assume", "1<n<5"], "1<n<5"),
                            (["--assume", "m >= 0"], "no parameter `m`; there are: a, n"),
                            (["--launch", "m=1"], "--launch: no kernel has a parameter `m`"), (["--size", "a"], "--size: `a`"),
                            (["--kernel", "none"], "none"), (["--launch", "block"], "--launch block: expected NAME=NUMBER"), (["--launch", "none"], "none")):
            result = self.prove(KERNEL, *words)
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            self.assertTrue(re.search(re.escape(text), result.stderr), result.stderr)


if __name__ == "__main__":
    main()
