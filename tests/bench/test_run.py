"""`run` says first what is missing, and counts in the published sources that the user has."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import common
from bench import build

PTXASW = os.environ["PTXASW"]
needs_toolkit = unittest.skipIf(build.find_toolkit_program("nvcc") is None, "no CUDA toolkit")

STENCIL = """extern "C" __global__ void NAME(float *__restrict__ out, const float *__restrict__ in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i + 1 >= n) return;
  out[i] = in[i - 1] + in[i] + in[i + 1];
}
"""


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, name, text, executable=False):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if executable else 0o644)
        return path

    def run_bench(self, *arguments, **environment):
        command = [sys.executable, "-B", common.BENCH / "run", "--ptxasw", PTXASW, "--work", self.folder / "work",
                   *arguments]
        return subprocess.run([str(part) for part in command], capture_output=True, text=True,
                              env={**os.environ, **environment})


class Missing(Case):
    ONE = ("--kernel", "vecadd", "--variant", "full", "--no-gcc")

    def fake_build(self, runner):
        """A build folder, and a cmake in front that makes this runner there."""
        self.write("build/CMakeCache.txt", "")
        self.write("bin/cmake", f"#!/bin/sh\nmkdir -p '{self.folder}/build/kernelgen-bench'\n"
                   f"printf '{runner}' > '{self.folder}/build/kernelgen-bench/runner'\n"
                   f"chmod +x '{self.folder}/build/kernelgen-bench/runner'\n", executable=True)
        return {"PATH": f"{self.folder}/bin:{os.environ['PATH']}"}

    @needs_toolkit
    def test_the_runner_is_built_where_nobody_names_one(self):
        """With a GPU, and without one."""
        path = self.fake_build(r'#!/bin/sh\n[ "$1" = --target ] && echo sm_80 && exit\necho ran "$@"\n')
        done = self.run_bench("--build", self.folder / "build", *self.ONE, **path)
        self.assertEqual((done.returncode, done.stderr.count("Traceback")), (0, 0), done.stderr)
        self.assertIn(f"ran {self.folder}/work/manifest.json", done.stdout)
        self.assertIn('"target": "sm_80"', (self.folder / "work/manifest.json").read_text())
        done = self.run_bench("--build", self.folder / "build", "--no-gpu", *self.ONE, **path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("packed", done.stdout)

    @needs_toolkit
    def test_what_is_missing_is_said_before_the_build(self):
        done = self.run_bench("--build", self.folder / "nowhere", *self.ONE)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, f"run: no {self.folder}/nowhere/kernelgen-bench/runner: build the project first, "
                         "or name the program with --runner\n")
        self.assertFalse((self.folder / "work").exists())
        done = self.run_bench("--build", self.folder / "nowhere", "--no-gpu", *self.ONE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stderr.startswith(f"run: missing: {self.folder}/nowhere/kernelgen-bench/runner: nothing will be packed"))
        self.assertNotIn("packed", done.stdout)

    def test_without_a_toolkit_or_gcc_it_says_so_and_counts(self):
        self.write("bin/gcc", "#!/bin/sh\nexit 1\n", executable=True)
        for program in ("gcc-12", "gcc-13", "gcc-14"):
            self.write(f"bin/{program}", "#!/bin/sh\nexit 1\n", executable=True)
        done = self.run_bench("--kernel", "vecadd", "--variant", "full", "--bundled",
                              PATH=f"{self.folder}/bin:{os.environ['PATH']}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stderr.startswith("run: missing: a GCC that offloads"), done.stderr)
        self.assertIn("\nvecadd ", done.stdout)


class Published(Case):
    def published(self, *arguments):
        done = self.run_bench("--published", self.folder / "theirs", *arguments)
        self.assertNotIn("Traceback", done.stderr)
        rows = {}
        for line in done.stdout.splitlines()[2:]:
            name, *cells = line.split(None, 6)
            rows.setdefault(name, []).append(cells)
        return done, rows

    @needs_toolkit
    def test_the_names_of_the_artifact_and_of_the_suite(self):
        """hypterm is three kernels in one source; headers lie beside, in cuda/ or above."""
        self.write("theirs/CUDA/hypterm-3-float/kernel.cu", "".join(STENCIL.replace("NAME", f"hypterm_{n}") for n in "123"))
        self.write("theirs/CUDA/derivative-2-float/kernel.cu", STENCIL.replace("NAME", "curvi"))
        self.write("theirs/suite/laplacian/laplacian.cu", '#include "here.h"\n#include "above.h"\n' +
                   STENCIL.replace("NAME", "laplacian").replace("float", "real"))
        self.write("theirs/suite/laplacian/cuda/here.h", "")
        self.write("theirs/suite/above.h", "")
        self.write("theirs/suite/jacobi/jacobi.ptx", (common.BENCH / "suite/jacobi.ptx").read_text())
        names = ("hypterm_x", "hypterm_y", "hypterm_z", "derivative", "laplacian", "jacobi")
        done, rows = self.published(*(word for name in names for word in ("--kernel", name)))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([cells[:5] for cells in rows["hypterm"]],
                         [["hypterm_1", "2/3", "12/48", "1.00", "1.00"],
                          ["hypterm_2", "2/3", "-", "1.00", "-"], ["hypterm_3", "2/3", "-", "1.00", "-"]])
        self.assertEqual(rows["hypterm"][0][5], "nvcc 13.0 for sm_90 gave 24/48")
        self.assertEqual(rows["derivative"], [["curvi", "2/3", "52/166", "1.00", "1.00", "nvcc 13.0 for sm_90 gave 52/169"]])
        self.assertEqual(rows["laplacian"][0][:5], ["laplacian", "2/3", "2/7", "1.00", "1.50"])
        self.assertEqual(rows["jacobi"][0][1:3], ["6/9", "6/9"])

    def test_what_is_not_there_is_named(self):
        self.write("theirs/jacobi/jacobi.CUF", "")
        self.write("theirs/divergence.ptx", "int main() {}")
        names = ("jacobi", "vecadd", "divergence")
        done, rows = self.published(*(word for name in names for word in ("--kernel", name)))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(rows["jacobi"][0][5], "jacobi/jacobi.CUF is CUDA Fortran: put jacobi.ptx of nvfortran beside it")
        self.assertEqual(rows["vecadd"][0][5], "no vecadd.ptx, vecadd.cu or vecadd*/kernel.cu")
        self.assertIn("divergence.ptx", rows["divergence"][0][5])
        self.assertEqual(rows["divergence"][0][2], "1/6")

    def test_without_nvcc_only_ptx_counts(self):
        self.write("theirs/vecadd.cu", STENCIL.replace("NAME", "vecadd"))
        _, rows = self.published("--kernel", "vecadd", "--bundled")
        self.assertEqual(rows["vecadd"][0][5], "vecadd.cu needs nvcc on PATH or in CUDA_HOME")

    def test_no_such_folder(self):
        done = self.run_bench("--published", self.folder / "none")
        self.assertEqual((done.returncode, done.stderr), (1, f"run: --published {self.folder}/none: no such folder\n"))


if not pathlib.Path(PTXASW).exists():
    print("skipped: ptxasw is not built")
    sys.exit(common.SKIPPED)
common.main()
