"""docs/ci-and-large-jobs.md over a repository of several sources: the commands of the page, with as many processes as
it says, print what one process prints."""

import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from support import PTXASW, Scratch, cuda_home, main, run

PAGE = (Path(__file__).resolve().parents[2] / "docs/ci-and-large-jobs.md").read_text()
KERNEL = """__global__ void {0}(float *a) {{
  a[(threadIdx.x + blockDim.x * blockIdx.x) * STRIDE] = 1;
}}
"""


def commands(beginning):
    return re.findall(rf"^    ({beginning}.*)$", PAGE, re.M)


@unittest.skipUnless(cuda_home(), "no nvcc")
class Repository(Scratch):
    def setUp(self):
        super().setUp()
        (self.dir / "bin").mkdir()
        (self.dir / "bin/ptxasw").symlink_to(PTXASW)
        (self.dir / "build-lint").mkdir()
        entries = []
        # The flags are the build's: without them no source compiles.
        for name, stride in (("a/one", 1), ("b/two", 16)):
            path = self.dir / f"src/{name}.cu"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(KERNEL.format(path.stem))
            entries.append({"directory": str(self.dir), "file": f"src/{name}.cu",
                            "command": f"nvcc -arch=sm_80 -DSTRIDE={stride} -c src/{name}.cu -o {path.stem}.o"})
        self.write("build-lint/compile_commands.json", json.dumps(entries))

    def shell(self, command):
        return subprocess.run(["sh", "-c", command], cwd=self.dir, capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.dir / 'bin'}:{os.environ['PATH']}"})

    def test_a_process_for_each_source(self):
        whole = self.shell("ptxasw lint -q -p build-lint")
        told = set(re.findall(r"^src/\S+:\d+:\d+: .*", whole.stdout, re.M))
        self.assertEqual({line.split(":")[0] for line in told}, {"src/b/two.cu"}, whole)
        (lint,) = commands("find .* xargs")
        done = self.shell(lint)
        self.assertEqual(done.returncode, 123, done)  # of xargs: one of them failed
        self.assertEqual({line.replace("error", "warning") for line in re.findall(r"^src/\S+:\d+:\d+: .*", done.stdout, re.M)},
                         {line.replace("error", "warning") for line in told})

    def test_by_gnu_parallel(self):
        if not shutil.which("parallel"):
            self.skipTest("no GNU parallel")
        (prove,) = commands("find .* parallel")
        done = self.shell(prove.replace("parallel", "parallel --will-cite"))
        one_by_one = [self.shell(f"ptxasw prove -p build-lint {path}")
                      for path in self.shell("find src -name '*.cu'").stdout.split()]
        self.assertEqual(done.stdout, "".join(one.stdout for one in one_by_one))
        self.assertEqual(done.stdout.count("race free refuted"), 2, done)
        self.assertEqual(done.returncode, sum(one.returncode != 0 for one in one_by_one))


if __name__ == "__main__":
    main()
