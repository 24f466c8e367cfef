"""The PTX that nvcc puts into programs, objects and libraries is the PTX that it writes by itself."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

READER = Path(sys.argv.pop(1)).resolve()
NVCC = next((str(p) for p in [shutil.which("nvcc") or "", "/usr/local/cuda/bin/nvcc"] if p and Path(p).exists()), None)
if not NVCC:
    print("skipped: no nvcc")
    sys.exit(77)

SOURCE = """
__device__ int counter;
__constant__ float factors[4] = {1, 2, 3, 4};
__global__ void add(float *a, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += b[i] * factors[i & 3];
  atomicAdd(&counter, 1);
}
int main() { add<<<1, 32>>>(nullptr, nullptr, 0); }
"""


def squeezed(text):
    """Without comments and layout, and without what differs by module's number."""
    text = re.sub(r"//[^\n]*", "", text)
    return " ".join(text.split())


class Nvcc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = Path(tempfile.mkdtemp(prefix="ptxasw-test-"))
        (cls.dir / "k.cu").write_text(SOURCE)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def nvcc(self, *words):
        subprocess.run([NVCC, *words, "k.cu"], cwd=self.dir, check=True)

    def images(self, name):
        out = subprocess.run([READER, name], cwd=self.dir, check=True, capture_output=True, text=True).stdout
        return [line.split(" ") for line in out.splitlines()]

    def ptx(self, name, sm=0):
        out = subprocess.run([READER, name, str(sm)], cwd=self.dir, check=True, capture_output=True, text=True)
        return squeezed(out.stdout)

    def expected(self, *words):
        self.nvcc("-ptx", "-o", "k.ptx", *words)
        return squeezed((self.dir / "k.ptx").read_text())

    def test_every_way_to_pack(self):
        text = self.expected("-arch=sm_90")
        for mode, packed in ("default", "2"), ("size", "2"), ("speed", "1"), ("balance", "2"), ("none", "0"):
            self.nvcc("-arch=sm_90", "-c", f"--compress-mode={mode}", "-o", "k.o")
            self.assertEqual(self.ptx("k.o", 90), text, mode)
            self.assertEqual([i[4] for i in self.images("k.o") if i[2] == "ptx"], [packed], mode)
        self.nvcc("-arch=sm_90", "-c", "-Xfatbin", "-compress-all", "-lineinfo", "-o", "k.o")
        self.assertEqual(self.ptx("k.o", 90), self.expected("-arch=sm_90", "-lineinfo"))
        self.assertEqual(self.images("k.o")[1][6:], ["k.cu"])

    def test_every_kind_of_file(self):
        text = self.expected("-arch=sm_90")
        for name, words in ("k.fatbin", ["-fatbin"]), ("k.o", ["-c"]), ("k", []), \
                ("k.so", ["-shared", "-Xcompiler", "-fPIC"]):
            self.nvcc("-arch=sm_90", *words, "-o", name)
            self.assertEqual(self.ptx(name), text, name)
        subprocess.run(["ar", "rc", "libk.a", "k.o"], cwd=self.dir, check=True)
        self.assertEqual(self.ptx("libk.a"), text)
        self.assertEqual(self.images("libk.a")[0][1:3], ["k.o:", ".nv_fatbin"])

    def test_architectures(self):
        self.nvcc("-c", "-o", "k.o", *(f"-gencode=arch=compute_{a},code=[{c}compute_{a}]" for a, c in
                                       (("75", "sm_75,"), ("90", ""), ("90a", ""), ("100f", ""))))
        self.assertEqual([i[2] + i[3] for i in self.images("k.o")],
                         ["codesm_75", "ptxsm_75", "ptxsm_90", "ptxsm_90a", "ptxsm_100f"])
        self.assertEqual(self.ptx("k.o", 90), self.expected("-arch=compute_90"))
        self.assertEqual(self.ptx("k.o", 80), self.expected("-arch=compute_75"))
        self.nvcc("-c", "-o", "none.o", "-gencode=arch=compute_90,code=sm_90")
        self.assertEqual(self.ptx("none.o"), "")
        self.assertEqual([i[2] for i in self.images("none.o")], ["code"])

    def test_relocatable_code(self):
        text = self.expected("-arch=sm_90", "-rdc=true")
        for name, words in ("k.o", ["-c"]), ("k", []):
            self.nvcc("-arch=sm_90", "-rdc=true", *words, "-o", name)
            self.assertEqual(re.sub(r"_[0-9a-f]{8}_", "_", self.ptx(name)), re.sub(r"_[0-9a-f]{8}_", "_", text))
            self.assertEqual([i[5] for i in self.images(name) if i[2] == "ptx"], ["relocatable"])


if __name__ == "__main__":
    os.environ.pop("NVCC_APPEND_FLAGS", None)
    unittest.main(verbosity=1)
