"""`ptxasw advise`: shapes that are legal, in the order of their predicted times."""

import json
import os
from pathlib import Path

from support import JACOBI, PTXASW, Scratch, main, need_cuda, run

CUDA = need_cuda()
ROOT = Path(__file__).resolve().parent.parent.parent
LAUNCH = ["--threads", "8190,4094", "--arg", "0=8192", "--arg", "1=4096"]

BARRIER = """.version 8.0
.target sm_90
.address_size 64
.visible .entry first(.param .u64 p) {
  .reg .b32 %r<2>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  bar.sync 0;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r1;
  ret;
}
"""


class Advise(Scratch):
    def setUp(self):
        super().setUp()
        self.env = dict(os.environ, PATH=f"{CUDA}/bin:{os.environ['PATH']}")

    def advise(self, *words):
        return run([PTXASW, "advise", *words], env=self.env)

    def json(self, *words):
        result = self.advise("--json", *words)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def refused(self, text, *words, code=1):
        result = self.advise(*words)
        self.assertEqual((result.returncode, result.stdout), (code, ""), result.stderr)
        self.assertIn(text, result.stderr)

    def test_shapes_are_ranked(self):
        (kernel,) = self.json(JACOBI, *LAUNCH)["kernels"]
        times = [shape["microseconds"] for shape in kernel["shapes"]]
        self.assertEqual(times, sorted(times))
        self.assertGreater(len(times), 20)
        self.assertEqual((kernel["refusal"], kernel["doubts"], kernel["gpu"]), (None, [], "H100"))
        for shape in kernel["shapes"]:
            self.assertTrue(shape["least"] < shape["microseconds"] < shape["most"])
            self.assertEqual(shape["block"][0] * shape["block"][1] * shape["block"][2] % 32, 0)
            for threads, block, grid in zip((8190, 4094, 1), shape["block"], shape["grid"]):
                self.assertEqual(grid, -(-threads // block))
        # One warp a block: the GPU cannot start blocks fast enough.
        slow = [shape for shape in kernel["shapes"] if shape["block"] == [32, 1, 1]]
        self.assertEqual(slow[0]["limit"], "block start")

    def test_json_is_as_its_schema_says(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("no jsonschema")
        schema = json.loads((ROOT / "docs/advise.schema.json").read_text())
        self.write("barrier.ptx", BARRIER)
        for words in ([JACOBI, *LAUNCH], [JACOBI, *LAUNCH, "--block", "512", "--gpu", "H200"],
                      ["barrier.ptx", "--threads", "99"], ["barrier.ptx", "--threads", "99", "--block", "33"],
                      [JACOBI, "--threads", "4"]):
            jsonschema.validate(self.json(*words), schema)

    def test_only_shapes_that_are_asked_for(self):
        (kernel,) = self.json(JACOBI, *LAUNCH, "--shape", "64,4", "--shape", "256")["kernels"]
        self.assertEqual({tuple(shape["block"]) for shape in kernel["shapes"]}, {(64, 4, 1), (256, 1, 1)})

    def test_what_is_not_independent_stays(self):
        self.write("barrier.ptx", BARRIER)
        (kernel,) = self.json("barrier.ptx", "--threads", "1024")["kernels"]
        self.assertIn("--block", kernel["refusal"])
        self.assertEqual(kernel["shapes"], [])
        (kernel,) = self.json("barrier.ptx", "--threads", "1024", "--block", "128")["kernels"]
        self.assertEqual([shape["block"] for shape in kernel["shapes"]], [[128, 1, 1]])
        self.assertIsNotNone(kernel["fixed"]["x"])
        self.assertEqual(kernel["is_better"], False)
        result = self.advise("barrier.ptx", "--threads", "1024")
        self.assertEqual(result.returncode, 0)
        self.assertIn("no advice", result.stdout)

    def test_text(self):
        result = self.advise(JACOBI, *LAUNCH, "--block", "32,1", "--most", "3")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^jacobi on H100, 8190x4094 threads: \d+ registers")
        self.assertEqual(result.stdout.count(" us - "), 4)  # three and the current one
        self.assertIn("(as it is)", result.stdout)
        self.assertIn("the first is faster than 32", result.stdout)
        self.assertIn("if: no race", result.stdout)

    def test_the_published_model(self):
        (kernel,) = self.json(JACOBI, *LAUNCH, "--model", "mwp-cwp")["kernels"]
        times = [shape["mwp_cwp"] for shape in kernel["shapes"]]
        self.assertEqual(times, sorted(times))
        self.refused("no `magic`", JACOBI, *LAUNCH, "--model", "magic", code=2)

    def test_registers_need_no_ptxas(self):
        env = dict(os.environ, PATH="/nowhere")
        result = run([PTXASW, "advise", "--json", JACOBI, *LAUNCH, "--registers", "200"], env=env)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for shape in json.loads(result.stdout)["kernels"][0]["shapes"]:
            self.assertLessEqual(shape["block"][0] * shape["block"][1], 256)

    def test_values_that_are_missing_are_told(self):
        (kernel,) = self.json(JACOBI, "--threads", "8190,4094")["kernels"]
        self.assertTrue(any("is not given" in doubt for doubt in kernel["doubts"]), kernel["doubts"])

    def test_errors(self):
        self.refused("--threads", JACOBI, code=2)
        self.refused("0 threads", JACOBI, "--threads", "0", code=2)
        self.refused("no shape of a block", JACOBI, "--threads", "64", "--shape", "0", code=2)
        self.refused("no shape of a block", JACOBI, "--threads", "64", "--shape", "4096", code=2)
        self.refused("NAME=VALUE", JACOBI, "--threads", "64", "--arg", "n")
        self.refused("no such parameter", JACOBI, "--threads", "64", "--arg", "nothing=3")
        self.refused("no such parameter", JACOBI, "--threads", "64", "--arg", "99=3")
        self.refused("no number that fits", JACOBI, "--threads", "64", "--arg", "0=4294967296")
        self.refused("no number that fits", JACOBI, "--threads", "64", "--arg", "0=")
        self.refused("no number that fits", JACOBI, "--threads", "64", "--arg", "2=fast")
        self.refused("there are H100 (sm_90), H200 (sm_90)", JACOBI, "--threads", "64", "--gpu", "V100")
        self.refused("sm_70", JACOBI, "--threads", "64", "--arch", "sm_70")
        self.refused("none", JACOBI, "--threads", "64", "--kernel", "none")
        self.refused("cannot read", "missing.ptx", "--threads", "64")
        self.write("empty.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n")
        self.assertEqual(self.json("empty.ptx", "--threads", "64")["kernels"], [])


if __name__ == "__main__":
    main()
