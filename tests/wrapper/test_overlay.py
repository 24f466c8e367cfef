"""The overlay: made, refreshed, refused, removed; and nvcc and CMake working through it."""

import os
import shutil
import unittest

from support import EVERYTHING, JACOBI, PTXASW, Scratch, cuda_home, main, run

ALWAYS = "--ptxasw-shuffle=always"
NEVER = "--ptxasw-shuffle=never"

KERNEL = """
extern "C" __global__ void three(float *a, float *b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 2; i += blockDim.x * gridDim.x)
    b[i + 1] = a[i] + a[i + 1] + a[i + 2];
}
int main() { three<<<1, 32>>>(nullptr, nullptr, 0); }
"""


class Overlay(Scratch):
    """Against a toolkit of empty files; needs no CUDA."""

    def setUp(self):
        super().setUp()
        for name in ("bin/ptxas", "bin/nvcc", "bin/crt/link.stub", "include/cuda.h", "version.json"):
            self.write(f"cuda/{name}", "#!/bin/sh\n", executable=True)

    def overlay(self, *words):
        return run([PTXASW, "overlay", *words, "--cuda", self.dir / "cuda"])

    def tree(self, root):
        return {str(path.relative_to(root)): os.readlink(path) if path.is_symlink() else ""
                for path in root.rglob("*")}

    def test_made_twice_is_the_same(self):
        self.assertEqual(self.overlay("over").returncode, 0)
        once = self.tree(self.dir / "over")
        self.assertEqual(once["bin/ptxas"], str(PTXASW))
        self.assertEqual(once["bin/ptxas.real"], str(self.dir / "cuda/bin/ptxas"))
        self.assertEqual(once["bin/nvcc.toolkit"], str(self.dir / "cuda/bin/nvcc"))
        self.assertEqual(once["bin/nvcc"], "")  # a script with bytes of its own
        self.assertEqual(self.overlay("over").returncode, 0)
        self.assertEqual(self.tree(self.dir / "over"), once)

    def check(self):
        result = run([PTXASW, "overlay", "over", "--status"])
        return result.returncode, result.stdout.strip()

    def test_says_what_is_wrong_with_it(self):
        shutil.copy(PTXASW, "ptxasw-copy")
        self.write("cuda/bin/nvcc", "#!/bin/sh\necho real $0\n", executable=True)
        os.symlink("cuda", "current")
        made = run([self.dir / "ptxasw-copy", "overlay", "over", "--cuda", "current"])
        self.assertEqual(made.returncode, 0)
        self.assertIn("current leads to", made.stdout)
        self.assertIn("healthy", self.check()[1])
        nvcc = run(["over/bin/nvcc"])
        self.assertEqual(nvcc.stdout, "real over/bin/nvcc.toolkit\n")
        # An nvcc that is not the script, as of an older ptxasw.
        script = (self.dir / "over/bin/nvcc").read_text()
        self.write("over/bin/nvcc", script.replace("--ptxasw-cache-key", "--version"), executable=True)
        self.assertIn("OUTDATED", self.check()[1])
        os.unlink("over/bin/nvcc")
        self.assertEqual(self.check()[0], 1)
        self.write("over/bin/nvcc", script, executable=True)
        # The toolkit's link leads elsewhere.
        shutil.copytree("cuda", "other", symlinks=True)
        os.unlink("current")
        os.symlink("other", "current")
        self.assertEqual(self.check()[0], 1)
        self.assertIn("OUTDATED", self.check()[1])
        # ptxasw has gone: nvcc would find the next ptxas in PATH and say nothing.
        os.unlink("ptxasw-copy")
        nvcc = run(["over/bin/nvcc"])
        self.assertEqual((nvcc.returncode, nvcc.stdout), (1, ""))
        self.assertIn("the ptxasw of this overlay has gone", nvcc.stderr)
        self.assertIn("its ptxasw has gone", self.check()[1])
        path = f"{self.dir}/over/bin:{os.environ['PATH']}"
        status = run([PTXASW, "status"], env={**os.environ, "PATH": path})
        self.assertIn("its ptxasw has gone", status.stdout)
        # The toolkit has gone.
        shutil.rmtree("cuda")
        self.assertIn("the toolkit", self.check()[1])

    def test_follows_the_toolkit(self):
        self.overlay("over")
        (self.dir / "cuda/version.json").unlink()
        self.write("cuda/bin/nvlink", "", executable=True)
        self.assertEqual(self.overlay("over").returncode, 0)
        self.assertFalse(os.path.lexists("over/version.json"))
        self.assertTrue(os.path.lexists("over/bin/nvlink"))

    def test_removed_without_a_trace_and_without_harm(self):
        before = self.tree(self.dir / "cuda")
        self.overlay("over")
        self.assertEqual(self.overlay("over", "--remove").returncode, 0)
        self.assertFalse(os.path.exists("over"))
        self.assertEqual(self.tree(self.dir / "cuda"), before)
        self.assertEqual(self.overlay("over", "--remove").returncode, 0)

    def test_what_others_put_there_stays(self):
        self.overlay("over")
        self.write("over/bin/mine", "mine")
        self.overlay("over", "--remove")
        self.assertEqual(self.tree(self.dir / "over"), {"bin": "", "bin/mine": ""})

    def test_refuses_what_is_not_its_own(self):
        before = self.tree(self.dir / "cuda")
        for directory in ("cuda", "cuda/bin", "cuda/new"):
            with self.subTest(directory=directory):
                self.assertEqual(self.overlay(directory).returncode, 2)
                self.assertEqual(self.tree(self.dir / "cuda"), before)
        self.write("other/file", "")
        self.assertEqual(self.overlay("other").returncode, 2)
        self.assertEqual(self.overlay("other", "--remove").returncode, 2)
        self.assertEqual(self.overlay("other/file").returncode, 2)
        self.assertEqual(self.tree(self.dir / "other"), {"file": ""})
        self.assertEqual(run([PTXASW, "overlay", "x", "--cuda", "/nowhere"]).returncode, 2)

    def test_an_overlay_of_an_overlay_leads_to_the_toolkit(self):
        self.overlay("over")
        result = run([PTXASW, "overlay", "again", "--cuda", self.dir / "over"])
        self.assertEqual(result.returncode, 0)
        self.assertEqual(os.readlink("again/bin/ptxas.real"), str(self.dir / "cuda/bin/ptxas"))

    def test_status_says_whether_it_is_healthy(self):
        self.overlay("over")
        env = dict(os.environ, PATH=f"{self.dir}/over/bin:{os.environ['PATH']}")
        self.assertIn("healthy", run([PTXASW, "status"], env=env).stdout)
        (self.dir / "cuda/bin/ptxas").unlink()
        self.assertIn("BROKEN", run([PTXASW, "status"], env=env).stdout)


@unittest.skipUnless(cuda_home(), "no CUDA toolkit")
class Nvcc(Scratch):
    def setUp(self):
        super().setUp()
        self.cuda = cuda_home()
        run([PTXASW, "overlay", "over", "--cuda", self.cuda])
        self.write("three.cu", KERNEL)
        # No CUDA elsewhere in PATH: what works here works by the overlay alone.
        self.env = dict(os.environ, PATH="/usr/bin:/bin")
        self.env.pop("CUDA_HOME", None)

    def nvcc(self, *words, home=None, **options):
        # With C++11 nvcc reads the toolkit's headers in half the time.
        result = run([(home or self.dir / "over") / "bin/nvcc", "-std=c++11", *words], env=self.env, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def cubin(self, *words, home=None):
        self.nvcc("-cubin", "-o", "x.cubin", "three.cu", *words, home=home)
        return (self.dir / "x.cubin").read_bytes()

    def test_never_is_the_plain_cubin_and_always_is_another(self):
        plain = self.cubin("-arch=sm_90", home=self.cuda)
        self.assertEqual(self.cubin("-arch=sm_90", "-Xptxas", NEVER), plain)
        self.assertNotEqual(self.cubin("-arch=sm_90", "-Xptxas", ALWAYS), plain)

    def test_modes_of_nvcc(self):
        modes = (["-c"], ["-dc"], ["-rdc=true", "-c"], ["-c", "-lineinfo"], ["-c", "-G"],
                      ["-c", "-gencode", "arch=compute_80,code=sm_80", "-gencode",
                       "arch=compute_90,code=[sm_90,compute_90]"],
                      ["-c", "--split-compile=2"], ["-c", "-arch=sm_90a"], ["-fatbin"], ["-ptx"],
                      ["-c", "-Xptxas", "-v"], ["-c", "-t", "2", "-gencode",
                       "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90"])
        for words in modes if EVERYTHING else modes[2::3]:
            for mode in ([], ["-Xptxas", ALWAYS]) if EVERYTHING else (["-Xptxas", ALWAYS],):
                with self.subTest(words=words, mode=mode):
                    self.nvcc(*words, *mode, "three.cu", "-o", "out")
                    self.assertGreater((self.dir / "out").stat().st_size, 0)

    def test_linking_relocatable_code(self):
        self.nvcc("-arch=sm_90", "-rdc=true", "-Xptxas", ALWAYS, "three.cu", "-o", "program")

    def test_keep_keeps_the_compilers_own_ptx(self):
        self.nvcc("-arch=sm_90", "-c", "--keep", "-Xptxas", ALWAYS, "three.cu")
        ptx = next(self.dir.glob("three*.ptx")).read_text()
        self.assertNotIn("shfl", ptx)

    def test_broken_ptx_gets_the_real_message(self):
        self.write("bad.ptx", JACOBI.read_text().replace("mad.lo.s32", "mad.low.s32", 1))
        words = ["-arch=sm_90", "-cubin", "bad.ptx", "-o", "x"]
        wanted = run([self.cuda / "bin/nvcc", *words], env=self.env)
        got = run([self.dir / "over/bin/nvcc", *words, "-Xptxas", ALWAYS], env=self.env)
        self.assertEqual((got.returncode, got.stdout, got.stderr),
                         (wanted.returncode, wanted.stdout, wanted.stderr))

    def test_found_by_path(self):
        self.env["PATH"] = f"{self.dir}/over/bin:/usr/bin:/bin"
        log = self.dir / "log"
        result = run(["nvcc", "-arch=sm_90", "-cubin", "three.cu", "-o", "x", "-Xptxas",
                      f"{ALWAYS},--ptxasw-log={log}"], env=self.env)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("rewritten", log.read_text())

    @unittest.skipUnless(EVERYTHING, "test_pages.py configures such a project")
    def test_cmake_project(self):
        if not shutil.which("cmake", path=self.env["PATH"]):
            self.skipTest("no cmake")
        self.write("CMakeLists.txt", """cmake_minimum_required(VERSION 3.20)
project(three LANGUAGES CUDA)
add_executable(three three.cu)
target_compile_options(three PRIVATE -Xptxas=--ptxasw-shuffle=always)
""")
        self.env["PTXASW_LOG"] = str(self.dir / "log")
        for command in (["cmake", "-S", ".", "-B", "b", "-DCMAKE_CUDA_ARCHITECTURES=80;90",
                         f"-DCMAKE_CUDA_COMPILER={self.dir}/over/bin/nvcc"],
                        ["cmake", "--build", "b"]):
            result = run(command, env=self.env)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertGreaterEqual((self.dir / "log").read_text().count("\trewritten\t"), 2)

    def test_reports_of_several_targets_do_not_overwrite_each_other(self):
        (self.dir / "reports").mkdir()
        self.nvcc("-c", "-gencode", "arch=compute_80,code=sm_80", "-gencode",
                  "arch=compute_90,code=sm_90", "three.cu", "-o", "x", "-Xptxas",
                  f"{ALWAYS},--ptxasw-report={self.dir}/reports")
        self.assertEqual(len(os.listdir("reports")), 2)


if __name__ == "__main__":
    main()
