"""sccache in front of nvcc, with its server on the loopback address: `ptxasw run` keeps objects apart."""

import os
import re
import socket

from support import PTXASW, Scratch, main, need, need_cuda, run

CUDA = need_cuda()
SCCACHE = need("sccache")

KERNEL = """
extern "C" __global__ void three(float *a, float *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i] + a[i + 1] + a[i + 2];
}
"""


class Sccache(Scratch):
    def setUp(self):
        super().setUp()
        self.write("three.cu", KERNEL)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.env = {**os.environ, "SCCACHE_DIR": str(self.dir / "cache"), "SCCACHE_SERVER_PORT": str(port),
                    "PATH": f"{CUDA}/bin:{os.environ['PATH']}"}
        self.addCleanup(run, [SCCACHE, "--stop-server"], env=self.env)

    def compile(self, *through):
        """The object, and whether it came from the cache."""
        before = self.hits()
        result = run([*through, SCCACHE, "nvcc", "-arch=sm_90", "-c", "three.cu", "-o", "three.o"], env=self.env)
        self.assertEqual(result.returncode, 0, result.stderr)
        made = re.sub(rb"tmpxft_\w+-\d+", b"", (self.dir / "three.o").read_bytes())
        return made, self.hits() > before

    def hits(self):
        return int(re.search(r"^Cache hits +(\d+)", run([SCCACHE, "--show-stats"], env=self.env).stdout, re.M)[1])

    def test_objects_are_kept_apart(self):
        always = (PTXASW, "run", "--shuffle=always", "--")
        plain, hit = self.compile()
        self.assertFalse(hit)
        rewritten, hit = self.compile(*always)
        self.assertFalse(hit)
        self.assertNotEqual(plain, rewritten)
        self.assertEqual(self.compile(), (plain, True))
        self.assertEqual(self.compile(*always), (rewritten, True))


if __name__ == "__main__":
    main()
