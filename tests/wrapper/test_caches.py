"""ccache in front of nvcc: no object of one configuration is served to another, and hits stay hits."""

import os
import re
import shutil

from support import PTXASW, Scratch, main, need, need_cuda, run

CUDA = need_cuda()
CCACHE = need("ccache")

KERNEL = """
extern "C" __global__ void three(float *a, float *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i] + a[i + 1] + a[i + 2];
}
"""
ALWAYS = ["-Xptxas", "--ptxasw-shuffle=always"]


class Caches(Scratch):
    def setUp(self):
        super().setUp()
        self.write("three.cu", KERNEL)
        self.overlay = self.dir / "over"
        run([PTXASW, "overlay", self.overlay, "--cuda", CUDA])
        self.env = {**os.environ, "CCACHE_DIR": str(self.dir / "cache"),
                    "PATH": f"{CUDA}/bin:{os.environ['PATH']}"}

    def compile(self, nvcc, *words, through=(), **environment):
        """The object, and whether it came from the cache."""
        env = {**self.env, **environment}
        before = self.hits(env)
        command = [*through, CCACHE, nvcc, "-arch=sm_90", "-c", "three.cu", "-o", "three.o", *words]
        result = run(command, env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        # nvcc writes the names of its temporary files, with its process number, into objects.
        made = re.sub(rb"tmpxft_\w+-\d+", b"", (self.dir / "three.o").read_bytes())
        return made, self.hits(env) > before

    def hits(self, env):
        text = run([CCACHE, "--print-stats"], env=env).stdout
        return sum(int(n) for n in re.findall(r"^(?:direct|preprocessed)_cache_hit\s+(\d+)", text, re.M))

    def test_the_overlay_and_the_plain_toolkit(self):
        plain, hit = self.compile(CUDA / "bin/nvcc")
        self.assertFalse(hit)
        through, hit = self.compile(self.overlay / "bin/nvcc", *ALWAYS)
        self.assertFalse(hit)
        self.assertNotEqual(plain, through)
        # By the environment, which ccache does not see: still nothing of the plain nvcc's.
        hidden, hit = self.compile(self.overlay / "bin/nvcc", PTXASW_SHUFFLE="always")
        self.assertFalse(hit)
        self.assertEqual(self.compile(CUDA / "bin/nvcc"), (plain, True))
        self.assertEqual(self.compile(self.overlay / "bin/nvcc", *ALWAYS), (through, True))
        self.assertNotEqual(hidden, plain)

    def test_options_reach_the_key(self):
        results = {}
        for words in ((), tuple(ALWAYS), (*ALWAYS, "-Xptxas", "--ptxasw-max-delta=1")):
            results[words], hit = self.compile(self.overlay / "bin/nvcc", *words)
            self.assertFalse(hit)
            self.assertEqual(self.compile(self.overlay / "bin/nvcc", *words), (results[words], True))
        self.assertEqual(len(set(results.values())), 3)

    def test_run_tells_the_cache(self):
        plain, _ = self.compile("nvcc")
        settings = ({"PTXASW_SHUFFLE": "always"}, {"PTXASW_SHUFFLE": "never"},
                    {"PTXASW_SHUFFLE": "always", "PTXASW_LAST": "1"})
        first = {}
        for number, environment in enumerate(settings):
            first[number], hit = self.compile("nvcc", through=(PTXASW, "run", "--"), **environment)
            self.assertFalse(hit, environment)
        self.assertEqual(len({first[0], first[1], first[2]}), 3)
        # A settings file changes the key, too, and so does taking it away.
        self.write("ptxasw.toml", "shuffle = 'always'\n")
        through = (PTXASW, "run", "--")
        self.assertEqual(self.compile("nvcc", through=through)[0], first[0])
        self.write("ptxasw.toml", "shuffle = 'always'\nlast = 1\n")
        self.assertEqual(self.compile("nvcc", through=through)[0], first[2])
        os.unlink("ptxasw.toml")
        self.assertNotEqual(self.compile("nvcc", through=through)[0], first[0])
        for number, environment in enumerate(settings):
            self.assertEqual(self.compile("nvcc", through=through, **environment),
                             (first[number], True))
        self.assertEqual(self.compile("nvcc"), (plain, True))
        # Another ptxasw is another key.
        shutil.copy(PTXASW, "ptxasw")
        shutil.copy(PTXASW.parent / "libptxasw-exec.so", "libptxasw-exec.so")
        with open("ptxasw", "ab") as program:
            program.write(b"another build")
        self.assertEqual(self.compile("nvcc", through=(self.dir / "ptxasw", "run", "--"),
                                      PTXASW_SHUFFLE="always"), (first[0], False))


if __name__ == "__main__":
    main()
