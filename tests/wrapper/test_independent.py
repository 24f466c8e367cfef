"""`ptxasw independent`: its output and its errors; what it proves is tested in tests/analysis."""

import json
from pathlib import Path

from support import JACOBI, PTXASW, Scratch, main, run

ROOT = Path(__file__).resolve().parents[2]

BOUND = """.version 8.0
.target sm_90
.address_size 64
.visible .entry fixed(.param .u64 p) .maxntid 256, 1, 1 {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  st.global.u32 [%rd1], %r1;
  ret;
}
"""


class Independent(Scratch):
    def test_text(self):
        result = run([PTXASW, "independent", JACOBI])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("  x: independent\n  y: independent\n  z: unused\n  if: no race\n", result.stdout)

    def test_json(self):
        self.write("a.ptx", BOUND)
        result = run([PTXASW, "independent", "--json", "a.ptx"])
        (kernel,) = json.loads(result.stdout)["kernels"]
        self.assertEqual(kernel["axes"], {"x": "dependent", "y": "unused", "z": "unused"})
        self.assertEqual((kernel["line"], kernel["conditions"]), (8, []))
        self.assertIn("do not cancel", kernel["reason"])
        self.assertEqual(kernel["bounds"], {"maxntid": [256, 1, 1]})
        self.assertTrue(kernel["blocks_independent"] and kernel["threads_independent"])
        self.assertIn("bounded by .maxntid 256, 1, 1", run([PTXASW, "independent", "a.ptx"]).stdout)

    def test_no_race_is_proved_or_assumed(self):
        for name, says in (("guarded-copy.ptx", "no race (proved)"), ("sum-by-exchange.ptx", "no race (proved)"),
                           ("calls-what-computes.ptx", "no race (assumed)")):
            file = ROOT / "tests" / "analysis" / "independence" / name
            self.assertIn(f"  if: {says}\n", run([PTXASW, "independent", file, "--prove"]).stdout)
            self.assertIn("  if: no race\n", run([PTXASW, "independent", file]).stdout)

    def test_errors(self):
        for words, text in ((["none.ptx"], "cannot read"), ([JACOBI, "--kernel", "none"], "none")):
            result = run([PTXASW, "independent", *words])
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(text, result.stderr)
        self.assertEqual(run([PTXASW, "independent"]).returncode, 2)


if __name__ == "__main__":
    main()
