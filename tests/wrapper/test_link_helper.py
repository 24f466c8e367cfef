"""Programs with the launch helper linked in by the overlay's nvcc."""

import shutil
import subprocess
import unittest

from support import PTXASW, Scratch, cuda_home, main, need_cuda, run

need_cuda()

# A kernel, a sibling that only a launch helper would ever launch, and a launch.
PROGRAM = r"""
#include <cstdio>
extern "C" __global__ void k(int *p) { p[threadIdx.x] = 1; }
extern "C" __global__ void k__ptxasw_s(int *p) { p[threadIdx.x] = 1; }
int main() {
  int *p = nullptr;
  const cudaError_t error = cudaMalloc(&p, 128);
  if (error == cudaSuccess)
    k<<<1, 32>>>(p);
  std::puts(cudaGetErrorString(error));
}
"""


class LinkHelper(Scratch):
    def setUp(self):
        super().setUp()
        self.write("p.cu", PROGRAM)
        self.assertEqual(run([PTXASW, "overlay", "o", "--cuda", cuda_home()]).returncode, 0)

    def nvcc(self, *words):
        done = run(["o/bin/nvcc", "-arch=sm_90", *words])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_helper_is_in_the_program_and_at_work(self):
        self.nvcc("-o", "plain", "p.cu")
        self.nvcc("--link-helper", "-c", "-o", "p.o", "p.cu")
        self.nvcc("-o", "linked", "p.o", "--link-helper")
        self.nvcc("--link-helper", "-cudart", "shared", "-o", "shared", "p.o")
        self.assertIn("not linked in", run([PTXASW, "status", "plain"]).stdout)
        plain = run(["./plain"])
        for program in ("linked", "shared"):
            self.assertIn("linked in, version", run([PTXASW, "status", program]).stdout)
            environment = {"PTXASW_LAUNCH_MODE": "nonsense", "LD_LIBRARY_PATH": f"{cuda_home()}/lib64"}
            done = run([f"./{program}"], env=environment)
            self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout))
            self.assertIn("`nonsense`, which is no mode", done.stderr)
            shown = run(["nm", "-D", "--defined-only", program]).stdout
            for name in ("dlsym", "dlopen", "cuLaunchKernel", "cuGetProcAddress_v2"):
                self.assertRegex(shown, rf"[TW] {name}\n")

    def test_the_device_linker_keeps_siblings(self):
        self.nvcc("-rdc=true", "-o", "without", "p.cu")
        self.nvcc("--link-helper", "-rdc=true", "-o", "with", "p.cu")
        kept = [name for name in ("without", "with") if b".text.k__ptxasw_s" in (self.dir / name).read_bytes()]
        self.assertEqual(kept, ["with"])

    def test_no_archive(self):
        alone = self.dir / "alone"
        alone.mkdir()
        shutil.copy(PTXASW, alone / "ptxasw")
        subprocess.run([alone / "ptxasw", "overlay", "a", "--cuda", cuda_home()], check=True, capture_output=True)
        done = run(["a/bin/nvcc", "--link-helper", "-o", "p", "p.cu"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("no libptxasw_launch.a beside", done.stderr)


if __name__ == "__main__":
    main()
