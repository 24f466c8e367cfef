"""`ptxasw advise`: shapes that are legal, in the order of their predicted times."""

import json
import os
import re
from pathlib import Path

from support import JACOBI, PTXASW, Scratch, main, need_cuda, run

CUDA = need_cuda()
ROOT = Path(__file__).resolve().parent.parent.parent
LAUNCH = ["--launch", "threads=8190x4094,param_0=8192,param_1=4096"]

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

    def json(self, *words, code=0):
        result = self.advise("--json", *words)
        self.assertEqual((result.returncode, result.stderr), (code, ""))
        return json.loads(result.stdout)

    def refused(self, text, *words, code=2):
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
        for words in ([JACOBI, *LAUNCH], [JACOBI, *LAUNCH, "--launch", "block=512", "--gpu", "H200"],
                      ["barrier.ptx", "--launch", "threads=99"], ["barrier.ptx", "--launch", "threads=99,block=33"],
                      [JACOBI, "--launch", "threads=4"]):
            refused = words[-1] == "threads=99" or words[-1] == "threads=4"
            jsonschema.validate(self.json(*words, code=3 if refused else 0), schema)

    def test_only_shapes_that_are_asked_for(self):
        (kernel,) = self.json(JACOBI, *LAUNCH, "--launch", "shape=64x4,shape=256")["kernels"]
        self.assertEqual({tuple(shape["block"]) for shape in kernel["shapes"]}, {(64, 4, 1), (256, 1, 1)})

    def test_what_is_not_independent_stays(self):
        self.write("barrier.ptx", BARRIER)
        (kernel,) = self.json("barrier.ptx", "--launch", "threads=1024", code=3)["kernels"]
        self.assertIn("--launch block=", kernel["refusal"])
        self.assertEqual(kernel["shapes"], [])
        (kernel,) = self.json("barrier.ptx", "--launch", "threads=1024,block=128")["kernels"]
        self.assertEqual([shape["block"] for shape in kernel["shapes"]], [[128, 1, 1]])
        self.assertIsNotNone(kernel["fixed"]["x"])
        self.assertEqual(kernel["is_better"], False)
        result = self.advise("barrier.ptx", "--launch", "threads=1024")
        self.assertEqual(result.returncode, 3)
        self.assertIn("no advice", result.stdout)

    def test_text(self):
        result = self.advise(JACOBI, *LAUNCH, "--launch", "block=32x1", "--most", "3")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^jacobi on H100, 8190x4094 threads: \d+ registers")
        self.assertEqual(result.stdout.count(" us - "), 4)  # three and the current one
        self.assertIn("(as it is)", result.stdout)
        self.assertIn("the first is faster than 32", result.stdout)
        self.assertIn("if: no race", result.stdout)

    def test_an_order_without_sizes(self):
        result = self.advise(JACOBI, "--most", "3")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertNotIn(" us", result.stdout)
        self.assertEqual(len(re.findall(r"(?m)^ +\d+(?:x\d+)? +\d+\.\d %", result.stdout)), 3)
        found = re.search(r"the order is that of 2048x2048 threads, since no sizes are given; for times: --launch (\S+)\n", result.stdout)
        words = found[1].replace("NUMBER", "512")
        self.assertEqual(sorted(words.split(",")), ["param_0=512", "param_1=512", "threads=2048x2048"])
        timed = self.advise(JACOBI, "--launch", words)
        self.assertEqual((timed.returncode, "vague" in timed.stdout), (0, False), timed.stderr)
        untimed = self.advise(JACOBI, "--launch", "threads=2048x2048,param_0=512").stdout
        self.assertIn("  no times: the value of param_1 is not given: --launch param_1=NUMBER\n", untimed)
        self.assertNotIn(" us", untimed)

    def test_the_published_model(self):
        (kernel,) = self.json(JACOBI, *LAUNCH, "--model", "mwp-cwp")["kernels"]
        times = [shape["mwp_cwp"] for shape in kernel["shapes"]]
        self.assertEqual(times, sorted(times))
        self.refused("magic not in {measured,mwp-cwp}", JACOBI, *LAUNCH, "--model", "magic", code=2)

    def test_registers_need_no_ptxas(self):
        env = dict(os.environ, PATH="/nowhere")
        result = run([PTXASW, "advise", "--json", JACOBI, *LAUNCH, "--registers-per-thread", "200"], env=env)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for shape in json.loads(result.stdout)["kernels"][0]["shapes"]:
            self.assertLessEqual(shape["block"][0] * shape["block"][1], 256)

    def test_values_that_are_missing_are_told(self):
        (kernel,) = self.json(JACOBI, "--launch", "threads=8190x4094", code=3)["kernels"]
        self.assertTrue(any("is not given" in doubt for doubt in kernel["doubts"]), kernel["doubts"])

    def test_a_launch_that_is_told_to_the_kernel(self):
        """The suite's kernels step by the threads of the grid, which are in a struct."""
        laplacian = ROOT / "kernelgen-bench/suite/laplacian.ptx"
        words = [laplacian, "--launch", "threads=510x254x254,param_0=512,param_1=256,param_2=256", "--registers-per-thread", "32"]
        words += ["--launch", "shape=128", "--launch", "shape=512"]
        told = [word for n, axis in enumerate("xyz") for word in ("--launch", f"laplacian_param_3+{24 + 4 * n}:u32=threads.{axis}")]
        (kernel,) = self.json(*words, *told)["kernels"]
        self.assertEqual(kernel["doubts"], [])
        (untold,) = self.json(*words, *told[:4], code=3)["kernels"]
        self.assertTrue(any("laplacian_param_3 is not given" in doubt for doubt in untold["doubts"]), untold["doubts"])
        # What is asked for can be given as it is written.
        asked = self.advise(*words, *told[:4]).stdout
        self.assertIn("no times: the value of param_3+32:u32 is not given: --launch param_3+32:u32=NUMBER\n", asked)
        self.assertNotIn("no times", self.advise(*words, *told[:4], "--launch", "param_3+32:u32=threads.z").stdout)
        # The same numbers for one shape: 512 threads along x, and a member for each axis that is as long as the grid.
        numbers = ["--launch", "param_3+24:u32=512", "--launch", "param_3+28:u64=" + str(254 + (254 << 32))]
        (given,) = self.json(*words[:-4], *numbers, "--launch", "shape=512")["kernels"]
        self.assertEqual(given["shapes"], [shape for shape in kernel["shapes"] if shape["block"] == [512, 1, 1]])
        # A kernel that steps by half as many goes round twice.
        (half,) = self.json(*words[:-4], "--launch", "param_3+24:u32=256", *numbers[2:], "--launch", "shape=512")["kernels"]
        self.assertGreater(half["shapes"][0]["microseconds"], given["shapes"][0]["microseconds"])
        jacobi = ROOT / "kernelgen-bench/suite/jacobi.ptx"
        words = [jacobi, "--launch", "threads=8190x4094,param_0=8192,param_1=4096", "--registers-per-thread", "32"]
        (kernel,) = self.json(*words, "--launch", "param_2=threads.x,param_3=threads.y")["kernels"]
        self.assertEqual(kernel["doubts"], [])

    def test_bank_conflicts_cost(self):
        """A transposition whose tile is not padded, and one whose is."""
        def time(file):
            (kernel,) = self.json(ROOT / "tests/wrapper/reviewed" / file, "--kernel", "turn", "--arch", "sm_90",
                                  "--launch", "threads=4096x1024,block=32x8,param_2=4096")["kernels"]
            self.assertFalse([doubt for doubt in kernel["doubts"] if "banks" in doubt])
            return kernel["shapes"][0]
        wrong, right = time("wrong_tiles.cu"), time("turn.cu")
        self.assertEqual((wrong["limit"], right["limit"]), ("shared memory", "DRAM"))
        self.assertGreater(wrong["microseconds"], 1.3 * right["microseconds"])

    def test_bank_conflicts_of_short_rows_cost(self):
        """Rows of eight threads: four of them lie in the same banks, as lint says of such a block."""
        self.write("rows.cu", """extern "C" __global__ void rows(const int *in, int *out, int n) {
  __shared__ int tile[32][32];
  int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 32 + y) * n + blockIdx.x * 8 + x;
  tile[y][x] = in[at];
  __syncthreads();
  out[at] = tile[y][x ^ 1];
}
""")
        def time(shape):
            words = ["rows.cu", "--arch", "sm_90", "--launch", f"threads=4096x4096,n=4096,block={shape}"]
            (kernel,) = self.json(*words)["kernels"]
            self.assertEqual(kernel["doubts"], [])
            return next(one["terms"]["shared memory"] for one in kernel["shapes"] if "x".join(map(str, one["block"][:2])) == shape)
        self.assertAlmostEqual(time("8x32") / time("32x8"), 4, delta=0.05)

    def test_rounds_that_depend_on_the_thread_are_known(self):
        """A tile that the rows of a block fill in turn: `for (row = threadIdx.y; row < 32; row += 8)`."""
        with open(ROOT / "docs/results/lint/h100-pairs.csv", encoding="utf-8") as file:
            rows = [row.split(",") for row in file if not row.startswith("#")]
        for name in ("bank_conflict_before", "uncoalesced_after"):
            measured = next(1000 * float(row[2]) for row in rows if row[1] == name)
            (kernel,) = self.json(ROOT / "docs/examples/lint_pairs.cu", "--kernel", name, "--arch", "sm_90", "--gpu", "H100",
                                  "--launch", "block=32x8,grid=128x128,n=4096")["kernels"]
            self.assertEqual(kernel["doubts"], [])
            (shape,) = kernel["shapes"]
            self.assertTrue(shape["least"] <= measured <= shape["most"], (name, measured, shape))

    def test_errors_of_members(self):
        words = [ROOT / "kernelgen-bench/suite/laplacian.ptx", "--launch", "threads=64", "--registers-per-thread", "32", "--launch"]
        self.refused("no single number; NAME+OFFSET:TYPE", *words, "param_3=5")
        self.refused("its offset in bytes", *words, "param_3+24=5")
        self.refused("its offset in bytes", *words, "param_3+:u32=5")
        self.refused("one such as u32", *words, "param_3+24:u99=5")
        self.refused("has 56 bytes", *words, "param_3+54:u32=5")
        self.refused("has 4 bytes", *words, "param_0+1:u32=5")
        self.refused("member's type, u32", *words, "param_3+24:u32=threads.w")
        self.refused("member's type, f32", *words, "param_3+24:f32=threads.x")
        self.refused("no kernel has a parameter", *words, "+24:u32=5")

    def first(self, gpu, *words):
        """The first shape of the Jacobi step, and what is vague about it."""
        (kernel,) = self.json(JACOBI, *LAUNCH, "--registers-per-thread", "32", "--launch", "shape=32x8", "--gpu", gpu, *words)["kernels"]
        (shape,) = kernel["shapes"]
        return shape, kernel["doubts"], kernel["gpu"]

    def test_a_file_of_the_probe(self):
        for name in ("h100", "h200"):
            known, doubts, _ = self.first(name)
            read, also, device = self.first(str(ROOT / f"docs/results/{name}/shapes/probe.json"))
            self.assertEqual((doubts, also), ([], []))
            self.assertIn(name.upper(), device)
            for number in ("microseconds", "least", "most"):
                self.assertAlmostEqual(read[number] / known[number], 1, delta=0.01)
            self.assertEqual(read["limit"], known["limit"])
        probe = json.loads((ROOT / "docs/results/h100/shapes/probe.json").read_text())
        slow = json.loads(json.dumps(probe))
        for number in ("median", "least", "most"):
            for name in ("dram.read", "dram.copy"):
                slow["constants"][name][number] /= 10
        self.write("slow.json", json.dumps(slow))
        self.assertGreater(self.first("slow.json")[0]["microseconds"], 5 * self.first("H100")[0]["microseconds"])
        del probe["constants"]["clock"]
        for text, why in ((json.dumps(probe), "key 'clock' not found"), ("{", "is no file of kernelgen-bench/probe"), ("[]", "is no file"),
                          ('{"device": 3}', "is no file")):
            self.write("bad.json", text)
            self.refused(why, JACOBI, *LAUNCH, "--gpu", "bad.json")
        self.refused("cannot read `none.json`", JACOBI, *LAUNCH, "--gpu", "none.json")

    def test_a_gpu_that_is_only_documented(self):
        measured, _, _ = self.first("H100")
        told, doubts, name = self.first("multiprocessors=132,clock=1.98,bandwidth=3350,l2=50")
        self.assertEqual((doubts, name), (["the GPU was not measured, only what is documented of it is known"], "a GPU of 132 multiprocessors"))
        self.assertAlmostEqual(told["microseconds"] / measured["microseconds"], 1, delta=0.05)
        self.assertGreater(told["most"] / told["least"], 2 * measured["most"] / measured["least"])
        # By name, however it is written; this kernel waits for memory.
        times = {gpu: self.first(gpu)[0]["microseconds"] for gpu in ("T4", "a100", "A100-80GB", "RTX 3090", "V100")}
        self.assertEqual(sorted(times, key=times.get), ["A100-80GB", "a100", "RTX 3090", "V100", "T4"])
        self.assertEqual([self.first(gpu)[2] for gpu in ("rtx4090", "rtx-5090", "l40s")], ["RTX 4090", "RTX 5090", "L40S"])
        text = self.advise(JACOBI, *LAUNCH, "--registers-per-thread", "32", "--gpu", "L4").stdout
        self.assertIn(" on L4, ", text)
        self.assertIn("vague: the GPU was not measured", text)
        # Without a name it is the first of the target.
        self.write("old.ptx", JACOBI.read_text().replace(".target sm_90", ".target sm_80"))
        self.assertIn(" on A100, ", self.advise("old.ptx", *LAUNCH, "--registers-per-thread", "32").stdout)
        for wrong, why in (("multiprocessors=132,clock=1.98,bandwidth=3350", "`l2=` is missing"), ("clock=fast", "each a number above 0"),
                           ("clock=1,clock=1", "each a number above 0"), ("clocks=1", "each a number above 0"), ("clock=", "each a number above 0"),
                           ("multiprocessors=-1,clock=1", "each a number above 0"), ("multiprocessors=0.5,clock=1,bandwidth=1,l2=1", "0.5 multiprocessors are no whole number"),
                           ("l2=nan", "each a number above 0")):
            self.refused(why, JACOBI, *LAUNCH, "--gpu", wrong)

    def test_errors(self):
        self.refused("--launch threads=", JACOBI, "--json", code=2)
        self.refused("from 1 on", JACOBI, "--launch", "threads=0", code=2)
        self.refused("the shape of a block", JACOBI, "--launch", "threads=64,shape=0", code=2)
        self.refused("the shape of a block", JACOBI, "--launch", "threads=64,shape=4096", code=2)
        self.refused("NAME=NUMBER", JACOBI, "--launch", "threads=64,n")
        self.refused("no kernel has a parameter `nothing`", JACOBI, "--launch", "threads=64,nothing=3")
        self.refused("no kernel has a parameter `param_99`", JACOBI, "--launch", "threads=64,param_99=3")
        self.refused("it is a number from", JACOBI, "--launch", "threads=64,param_0=4294967296")
        self.refused("no whole number", JACOBI, "--launch", "threads=64,param_0=")
        self.refused("no number that fits", JACOBI, "--launch", "threads=64,param_2=fast")
        self.refused("there are H100 (sm_90), H200 (sm_90), which were measured", JACOBI, "--launch", "threads=64", "--gpu", "Voodoo")
        self.refused("sm_60", JACOBI, "--launch", "threads=64", "--arch", "sm_60")
        self.refused("none", JACOBI, "--launch", "threads=64", "--kernel", "none")
        self.refused("cannot read", "missing.ptx", "--launch", "threads=64")
        self.write("empty.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n")
        self.refused("no kernel in `empty.ptx`", "empty.ptx", "--launch", "threads=64")


if __name__ == "__main__":
    main()
