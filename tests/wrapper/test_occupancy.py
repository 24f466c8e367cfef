"""The occupancy of `ptxasw cost`: registers from the real ptxas, bounds of the architecture."""

import json
import os
import re

from support import JACOBI, PTXASW, Scratch, main, need_cuda, run

CUDA = need_cuda()

SHARED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry tiled(.param .u64 p) {MAX} {{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  .shared .align 4 .b8 buffer[40000];
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  st.shared.u32 [buffer], %r1;
  bar.sync 0;
  ld.shared.u32 %r1, [buffer];
  st.global.u32 [%rd1], %r1;
  ret;
}}
"""


class Occupancy(Scratch):
    def setUp(self):
        super().setUp()
        self.env = dict(os.environ, PATH=f"{CUDA}/bin:{os.environ['PATH']}")

    def json(self, *words):
        result = run([PTXASW, "cost", "--only", "occupancy", "--json", *words], env=self.env)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return [{**kernel, **kernel["occupancy"]} for kernel in json.loads(result.stdout)["kernels"]]

    def refused(self, text, *words):
        result = run([PTXASW, "cost", "--only", "occupancy", *words], env=self.env)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn(text, result.stderr)

    def test_the_registers_are_those_of_ptxas(self):
        (kernel,) = self.json(JACOBI)
        said = run([CUDA / "bin/ptxas", "-arch=sm_90", "-v", JACOBI, "-o", "/dev/null"]).stderr
        self.assertEqual(kernel["registers"], int(re.search(r"Used (\d+) registers", said)[1]))
        self.assertEqual([shape["threads"] for shape in kernel["shapes"]], list(range(32, 1025, 32)))
        by_size = {shape["threads"]: shape for shape in kernel["shapes"]}
        self.assertEqual((by_size[256]["blocks"], by_size[256]["occupancy"]), (8, 1.0))
        self.assertEqual(by_size[32]["limited_by"], ["blocks"])

    def test_text(self):
        result = run([PTXASW, "cost", "--only", "occupancy", JACOBI], env=self.env)
        self.assertRegex(result.stdout, r"^jacobi:\n  occupancy  100\.0 % in blocks of (\d+, ){3}\d+ threads and in \d+ other sizes?, "
                                        r"limited by [a-z ,]+; \d+ registers, 0 bytes of shared memory \(sm_\d+\)\n$")
        table = run([PTXASW, "cost", "--only", "occupancy", JACOBI, "--all"], env=self.env)
        self.assertEqual(table.stdout.count(" % "), 32)
        result = run([PTXASW, "cost", "--only", "occupancy", JACOBI, "--launch", "block=16x16"], env=self.env)
        self.assertRegex(result.stdout, r"^jacobi:\n  occupancy  100\.0 % in blocks of 256 threads, limited by warps, registers; \d+ registers, ")
        self.assertRegex(table.stdout, r"\n +256 +8 +64 +100.0 %  warps")

    def test_another_architecture(self):
        (kernel,) = self.json(JACOBI, "--arch", "sm_120", "--launch", "block=1024")
        self.assertEqual((kernel["arch"], kernel["shapes"][0]["blocks"]), ("sm_120", 1))
        (kernel,) = self.json(JACOBI, "--arch", "sm_110", "--registers-per-thread", "32")
        self.assertFalse(kernel["confirmed"])

    def test_shared_memory_and_bounds_of_the_kernel(self):
        self.write("a.ptx", SHARED.format(MAX=""))
        (kernel,) = self.json("a.ptx", "--launch", "block=64")
        self.assertEqual(kernel["static_shared"], 40000)
        self.assertEqual((kernel["shapes"][0]["blocks"], kernel["shapes"][0]["limited_by"]), (5, ["shared memory"]))
        (kernel,) = self.json("a.ptx", "--launch", "block=64,shared=60000")
        self.assertEqual(kernel["shapes"][0]["blocks"], 0)
        (kernel,) = self.json("a.ptx", "--launch", "block=64,shared=60000", "--opt-in")
        self.assertEqual(kernel["shapes"][0]["blocks"], 2)
        self.write("b.ptx", SHARED.format(MAX=".maxntid 128"))
        (kernel,) = self.json("b.ptx")
        self.assertEqual([shape["threads"] for shape in kernel["shapes"]], [32, 64, 96, 128])
        self.write("c.ptx", SHARED.format(MAX=".reqntid 8, 8, 1"))
        (kernel,) = self.json("c.ptx")
        self.assertEqual([shape["threads"] for shape in kernel["shapes"]], [64])

    def test_without_a_file(self):
        (kernel,) = self.json("--arch", "sm_90", "--registers-per-thread", "64", "--launch", "block=256")
        self.assertEqual(kernel["shapes"][0]["occupancy"], 0.5)
        self.refused("nothing to read", "--arch", "sm_90")

    def test_errors(self):
        self.refused("limits of `sm_52` are not known; there are sm_70", "--arch", "sm_52", "--registers-per-thread", "3")
        self.refused("none", JACOBI, "--kernel", "none")
        self.refused("cannot read", "missing.ptx")
        self.refused("sm_1", JACOBI, "--arch", "sm_1")
        text = JACOBI.read_text()
        self.write("odd.ptx", text.replace("ld.param.u64", "ld.nothing", 1))
        line = text[: text.index("ld.param.u64")].count("\n") + 1
        self.refused(f"ptxas odd.ptx, line {line}", "odd.ptx")
        result = run([PTXASW, "cost", "--only", "occupancy", JACOBI, "--launch", "block=0"], env=self.env)
        self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    main()
