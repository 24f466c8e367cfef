"""`ptxasw run`: every way to start a program, the shells in between, and drivers that call ptxas
by a path of their own."""

import json
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

    def test_caches_are_given_a_command_that_tells_the_key(self):
        result = run([PTXASW, "run", "--", "sh", "-c", 'eval "${CCACHE_COMPILERCHECK#*;}"; echo; echo "$CCACHE_NAMESPACE"'])
        key, namespace = result.stdout.split()
        self.assertRegex(key, "^ptxasw-[0-9a-f]{16}$")
        self.assertEqual(key, namespace, result.stderr)

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
#pragma acc parallel loop gang vector vector_length(32) copyin(a[0:n]) copyout(b[0:n])
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
        self.command = [self.gcc, "-O2", "-w", "-fopenacc", "stencil.c", "-o", "program"]
        self.env = dict(os.environ, PTXASW_LOG=str(self.log), PTXASW_SHUFFLE="always")

    def under_run(self, *settings, command=None):
        result = run([PTXASW, "run", *settings, "--", *(command or self.command)], env=self.env)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr

    def program(self):
        return (self.dir / "program").read_bytes().replace(b"\t", b" ")

    def outcomes(self):
        return [line.split("\t")[2] for line in self.log.read_text().splitlines()]

    def test_it_needs_no_options(self):
        # GCC 12's own target is older than what the ptxas of CUDA 13 takes, and than PTX 6.2.
        self.under_run()
        self.assertTrue(set(self.outcomes()) <= {"rewritten", "nothing-found"}, self.outcomes())
        self.assertRegex(self.program(), rb"\.version (6\.[3-9]|[7-9]\.[0-9])")

    def test_what_the_user_says_stays(self):
        option = "-foffload-options=nvptx-none=-misa=sm_80"
        self.under_run(command=[*self.command, option])
        self.assertIn(b".target sm_80", self.program())

    def test_by_an_assembler_of_our_own(self):
        self.write("tools/as", f"#!/bin/sh\nexec {PTXASW} assemble --assembler "
                   f"{shutil.which('nvptx-none-as')} -- \"$@\"\n", executable=True)
        result = run([*self.command, f"-foffload-options=nvptx-none=-B{self.dir}/tools/",
                      "-foffload-options=nvptx-none=-misa=sm_80 -Wa,--no-verify"], env=self.env)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(set(self.outcomes()) <= {"rewritten", "nothing-found"}, self.outcomes())
        self.assertIn(b".target sm_80", self.program())

    def test_report_and_journal(self):
        (self.dir / "reports").mkdir()
        said = self.under_run("--report=reports", "--journal=journal", "--verbose", "--registers")
        (report,) = (self.dir / "reports").iterdir()
        self.assertRegex(report.name, r"^gcc\.sm_\d+\.[0-9a-f]{16}\.json$")
        (kernel,) = json.loads(report.read_text())["kernels"]
        self.assertEqual(kernel["name"], "stencil$_omp_fn$0")
        self.assertGreater(kernel["loads"], 2)
        if shutil.which("ptxas"):
            self.assertGreater(kernel["resources"]["before"]["registers"], 4)
        self.assertEqual(len((self.dir / "journal").read_text().splitlines()), 1)
        self.assertIn("stencil$_omp_fn$0: ", said)

    def test_versions_are_embedded(self):
        self.under_run("--retile=x2", "--shuffle=never")
        program = self.program()
        self.assertIn(b"stencil$_omp_fn$0__ptxasw_retile_apart_x2", program)
        # What GCC's run-time library looks for comes first.
        self.assertLess(program.index(b".entry stencil$_omp_fn$0"), program.index(b"__ptxasw_retile"))
        plain = self.dir / "plain"
        run([PTXASW, "run", "--", *self.command[:-1], plain], env=self.env)
        self.assertNotIn(b"__ptxasw_retile", plain.read_bytes())

    def test_warnings_have_lines_of_the_source(self):
        strided = OPENACC.replace("b[i] = a[i - 1]", "b[i] = a[32 * i]")
        self.write("stencil.c", strided)
        self.assertRegex(self.under_run("--lint"), r"(?m)^stencil\.c:4:\d+: warning\[uncoalesced\]: ")
        gate = run([PTXASW, "run", "--lint", "--lint-errors=uncoalesced", "--", *self.command], env=self.env)
        self.assertNotEqual(gate.returncode, 0)

    def test_it_says_what_runs_on_one_thread(self):
        note = "note: stencil$_omp_fn$0: one thread does all of it"
        self.assertNotIn(note, self.under_run("--verbose"))
        kernels = OPENACC.replace("parallel loop gang vector vector_length(32)", "kernels loop")
        self.write("stencil.c", kernels.replace("restrict ", ""))
        self.assertIn(note, self.under_run("--verbose"))
        self.assertNotIn(note, self.under_run())


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
