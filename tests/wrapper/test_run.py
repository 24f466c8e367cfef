"""`ptxasw run`: every way to start a program, the shells in between, and drivers that call ptxas
by a path of their own."""

import os
import shutil
import subprocess
import sys
import unittest

from support import JACOBI, PTXASW, Scratch, cuda_home, main, run, words_of

# One line a member of the exec family; `word` is how the program is named.
WAYS = {
    "execv": "if (!fork()) execv(path, argv);",
    "execve": "if (!fork()) execve(path, argv, environ);",
    "execvp": "if (!fork()) execvp(\"ptxas\", argv);",
    "execvpe": "if (!fork()) execvpe(\"ptxas\", argv, environ);",
    "execl": "if (!fork()) execl(path, \"ptxas\", \"-arch=sm_90\", \"in.ptx\", (char *)0);",
    "execlp": "if (!fork()) execlp(\"ptxas\", \"ptxas\", \"-arch=sm_90\", \"in.ptx\", (char *)0);",
    "execle": "if (!fork()) execle(path, \"ptxas\", \"-arch=sm_90\", \"in.ptx\", (char *)0, environ);",
    "vfork": "if (!vfork()) { execv(path, argv); _exit(1); }",
    "posix_spawn": "posix_spawn(&pid, path, 0, 0, argv, environ);",
    "posix_spawnp": "posix_spawnp(&pid, \"ptxas\", 0, 0, argv, environ);",
    "system": "system(\"ptxas -arch=sm_90 in.ptx\");",
    "popen": "pclose(popen(\"ptxas -arch=sm_90 in.ptx\", \"r\"));",
    "shells": "system(\"sh -c 'exec sh -c \\\"ptxas -arch=sm_90 in.ptx\\\"'\");",
}

CALLER = """#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **words) {
  char *path = words[1], *argv[] = {"ptxas", "-arch=sm_90", "in.ptx", 0};
  pid_t pid;
  WAY
  while (wait(0) > 0) {}
  return 0;
}
"""


class Interposer(Scratch):
    def setUp(self):
        super().setUp()
        self.real, self.env = self.fake()
        del self.env["PTXASW_REAL"]
        self.env["PATH"] = f"{self.real.parent}:{self.env['PATH']}"
        self.env["PTXASW_LOG"] = str(self.dir / "log")
        self.write("in.ptx", JACOBI.read_text())

    def under_run(self, *command, settings=("--shuffle=never",), **options):
        return run([PTXASW, "run", *settings, "--", *command], env=self.env, **options)

    def outcomes(self):
        log = self.dir / "log"
        return [line.split("\t")[2] for line in log.read_text().splitlines()] if log.exists() else []

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_every_way_to_start_a_program(self):
        for name, way in WAYS.items():
            with self.subTest(way=name):
                for old in ("calls", "log"):
                    (self.dir / old).unlink(missing_ok=True)
                self.write("caller.c", CALLER.replace("WAY", way))
                subprocess.run(["cc", "-w", "caller.c", "-o", "caller"], check=True)
                self.under_run("./caller", self.real)
                self.assertEqual([words_of(call) for call in self.calls()],
                                 [["-arch=sm_90", "in.ptx"]])
                self.assertEqual(self.outcomes(), ["switched-off"])

    def test_a_driver_with_a_bundled_toolkit(self):
        # As NVHPC's nvc does it: ptxas by a full path in its own directory, given as a word.
        bundled, _ = self.fake("nvhpc/cuda/12.9/bin/ptxas")
        self.write("nvhpc/bin/nvc", "#!/bin/sh\nhere=${0%/*}\n$here/../cuda/12.9/bin/ptxas "
                   "-arch=sm_90 -m64 -v --maxrregcount 255 \"$1\" -o \"$1.cubin\"\n", executable=True)
        self.env["FAKE_INPUT"] = str(self.dir / "seen")
        result = self.under_run("nvhpc/bin/nvc", "in.ptx", settings=["--shuffle=always"])
        self.assertEqual((result.returncode, result.stderr),
                         (0, "ptxasw info    : 6 of 9 loads replaced\n"))  # the driver says -v
        self.assertEqual(self.outcomes(), ["rewritten"])
        self.assertIn("shfl.sync", (self.dir / "seen").read_text())

    def test_the_path_that_was_called_is_the_real_one(self):
        other = self.write("other/ptxas", "#!/bin/sh\necho other\n", executable=True)
        self.assertEqual(self.under_run(other, "in.ptx").stdout, "other\n")

    def test_the_environment_is_kept(self):
        self.env["SOMETHING"] = "kept"
        inside = self.under_run(sys.executable, "-c",
                                "import os; print(os.environ['SOMETHING'], os.environ['LD_PRELOAD'])")
        self.assertRegex(inside.stdout, r"^kept \S*/libptxasw-exec\.so\n$")

    def test_settings_reach_the_drop_in(self):
        result = self.under_run("ptxas", "--version", settings=["--max-delta", "5"])
        self.assertIn("max-delta=5", result.stdout)

    def test_other_programs_are_left_alone(self):
        self.write("bin/notptxas", "#!/bin/sh\necho $#\n", executable=True)
        self.assertEqual(self.under_run("bin/notptxas", "1", "2").stdout, "2\n")
        self.assertEqual(self.outcomes(), [])

    def test_exit_codes_as_shells_give_them(self):
        self.assertEqual(self.under_run("sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(self.under_run("nosuchprogram").returncode, 127)
        self.assertEqual(run([PTXASW, "run"], env=self.env).returncode, 2)

    def test_a_missing_ptxas_is_still_missing(self):
        result = self.under_run("sh", "-c", "/nowhere/ptxas x")
        self.assertEqual(result.returncode, 127)


OPENACC = """
void stencil(int n, float *restrict a, float *restrict b) {
#pragma acc parallel loop copyin(a[0:n]) copyout(b[0:n])
  for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i] + a[i + 1];
}
int main(void) { static float a[100], b[100]; stencil(100, a, b); return 0; }
"""


class GccOffload(Scratch):
    """GCC writes PTX, its own assembler passes it on, and the text is embedded in the program."""

    def setUp(self):
        super().setUp()
        self.gcc = shutil.which("gcc-12") or shutil.which("gcc")
        if not self.gcc or not shutil.which("nvptx-none-as"):
            self.skipTest("no GCC with nvptx offloading")
        self.write("stencil.c", OPENACC)
        self.log = self.dir / "log"
        # The check by ptxas that GCC's assembler makes knows only targets of its own day.
        self.command = [self.gcc, "-O2", "-w", "-fopenacc", "stencil.c", "-o", "program",
                        "-foffload-options=nvptx-none=-misa=sm_80 -Wa,--no-verify"]
        self.env = dict(os.environ, PTXASW_LOG=str(self.log), PTXASW_SHUFFLE="always")

    def check(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [line.split("\t") for line in self.log.read_text().splitlines()]
        self.assertTrue(any(line[2] in ("rewritten", "nothing-found") for line in lines), lines)
        self.assertIn(b".target sm_80", (self.dir / "program").read_bytes().replace(b"\t", b" "))

    def test_by_the_interposer(self):
        self.check(run([PTXASW, "run", "--", *self.command], env=self.env))

    def test_by_an_assembler_of_our_own(self):
        self.write("tools/as", f"#!/bin/sh\nexec {PTXASW} assemble --tool "
                   f"{shutil.which('nvptx-none-as')} -- \"$@\"\n", executable=True)
        self.check(run([*self.command, f"-foffload-options=nvptx-none=-B{self.dir}/tools/"],
                       env=self.env))


@unittest.skipUnless(cuda_home(), "no CUDA toolkit")
class NvccUnderRun(Scratch):
    def test_nvcc_by_its_full_path(self):
        self.write("k.cu", "__global__ void k(float *a) { a[threadIdx.x] += a[threadIdx.x + 1]; }\n")
        env = dict(os.environ, PTXASW_LOG=str(self.dir / "log"))
        result = run([PTXASW, "run", "--shuffle=always", "--", cuda_home() / "bin/nvcc",
                      "-arch=sm_90", "-c", "k.cu", "-o", "k.o"], env=env)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len((self.dir / "log").read_text().splitlines()), 1)


if __name__ == "__main__":
    main()
