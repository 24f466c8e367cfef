"""Callers that find ptxas in their own ways: clang, ccache."""

import os
import shutil
import subprocess
import unittest

from support import JACOBI, PTXASW, Scratch, cuda_home, link_as_ptxas, main, run

KERNEL = """
extern "C" __global__ void three(float *a, float *b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 2; i += blockDim.x * gridDim.x)
    b[i + 1] = a[i] + a[i + 1] + a[i + 2];
}
"""

# The same for a clang that knows no CUDA headers as new as these.
BARE_KERNEL = """
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
extern "C" __global__ void three(float *a, float *b) {
  int i = __nvvm_read_ptx_sreg_tid_x();
  b[i] = a[i] + a[i + 1] + a[i + 2];
}
"""


@unittest.skipUnless(cuda_home() and shutil.which("clang"), "needs CUDA and clang")
class Clang(Scratch):
    def setUp(self):
        super().setUp()
        self.env = dict(os.environ, PTXASW_LOG=str(self.dir / "log"), CUDA_HOME=str(cuda_home()))
        self.write("three.cu", BARE_KERNEL)
        self.ptxas = link_as_ptxas(self.dir / "bin")
        self.words = ["clang", "-x", "cuda", "three.cu", "--cuda-gpu-arch=sm_80", "-nocudainc",
                      "-nocudalib", "--cuda-device-only", "--no-cuda-version-check", "-O2", "-c",
                      "-Wno-unknown-cuda-version", f"--cuda-path={cuda_home()}", "-o", "out"]

    def test_a_ptxas_path(self):
        for mode, outcome in (("always", "rewritten"), ("never", "switched-off")):
            result = run([*self.words, f"--ptxas-path={self.ptxas}", "-Xcuda-ptxas",
                          f"--ptxasw-shuffle={mode}"], env=self.env)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn(f"\t{outcome}\t", (self.dir / "log").read_text())
            self.assertGreater((self.dir / "out").stat().st_size, 0)

    def test_an_overlay_as_the_cuda_path(self):
        run([PTXASW, "overlay", "over", "--cuda", cuda_home()])
        result = run([*self.words, f"--cuda-path={self.dir}/over"], env=self.env)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertNotEqual((self.dir / "log").read_text(), "")

    def test_under_run(self):
        result = run([PTXASW, "run", "--shuffle=always", "--", *self.words], env=self.env)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("\trewritten\t", (self.dir / "log").read_text())


@unittest.skipUnless(cuda_home() and shutil.which("ccache"), "needs CUDA and ccache")
class Ccache(Scratch):
    """ccache takes nvcc into its key and not ptxas; the overlay's nvcc tells it (test_caches.py)."""

    def setUp(self):
        super().setUp()
        run([PTXASW, "overlay", "over", "--cuda", cuda_home()])
        self.write("three.cu", KERNEL)
        self.env = dict(os.environ, CCACHE_DIR=str(self.dir / "cache"), PATH="/usr/bin:/bin")

    def compile(self, **environment):
        result = run(["ccache", self.dir / "over/bin/nvcc", "-arch=sm_90", "-c", "three.cu", "-o",
                      "three.o"], env=dict(self.env, **environment))
        self.assertEqual(result.returncode, 0, result.stderr)
        return (self.dir / "three.o").read_bytes()

    def test_settings_of_the_environment_are_part_of_the_key(self):
        plain = self.compile(PTXASW_SHUFFLE="never")
        self.assertNotEqual(self.compile(PTXASW_SHUFFLE="always"), plain)

    def test_options_of_nvcc_are_part_of_the_key(self):
        plain = self.compile()
        result = run(["ccache", self.dir / "over/bin/nvcc", "-arch=sm_90", "-c", "three.cu", "-o",
                      "three.o", "-Xptxas", "--ptxasw-shuffle=always"], env=self.env)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotEqual((self.dir / "three.o").read_bytes(), plain)


@unittest.skipUnless(cuda_home() and shutil.which("make") and shutil.which("ccache"),
                     "needs CUDA, make and ccache")
class MakeWithCcache(Ccache):
    """Two files at once, each compile twice: once for real, once out of the cache."""

    test_options_of_nvcc_are_part_of_the_key = None  # says nothing new here

    def compile(self, **environment):
        for path in self.dir.glob("*.o"):
            path.unlink()
        for number in range(2):
            self.write(f"k{number}.cu", KERNEL.replace("three", f"three{number}"))
        self.write("Makefile", "%.o: %.cu\n\tccache over/bin/nvcc -arch=sm_90 -c $< -o $@\n"
                   "all: k0.o k1.o\n")
        result = run(["make", "-j2", "all"], env=dict(self.env, **environment))
        self.assertEqual(result.returncode, 0, result.stderr)
        return b"".join((self.dir / f"k{number}.o").read_bytes() for number in range(2))


class Sccache(Scratch):
    """sccache replays what `nvcc --dryrun` printed: a stem of ptxas, a .ptx and a separate -o."""

    def test_the_replayed_line(self):
        real, env = self.fake()
        ptxas = link_as_ptxas(self.dir / "bin")
        self.write("in.ptx", JACOBI.read_text())
        env["PTXASW_SHUFFLE"] = "never"
        subprocess.run([str(ptxas), "-arch=sm_90", "-m64", "in.ptx", "-o", "in.cubin"], env=env,
                       check=True)
        self.assertEqual(self.calls()[0][:5], [f"word {word}" for word in (
            "-arch=sm_90", "-m64", "in.ptx", "-o", "in.cubin")])


class Triton(Scratch):
    """Triton runs what TRITON_PTXAS_PATH names and keeps the whole version text in its key."""

    def test_the_version_text_changes_with_the_settings(self):
        real, env = self.fake()
        ptxas = link_as_ptxas(self.dir / "bin")
        texts = {run([ptxas, "--version"], env=dict(env, PTXASW_SHUFFLE=mode)).stdout
                 for mode in ("auto", "always", "never")}
        self.assertEqual(len(texts), 3)


if __name__ == "__main__":
    main()
