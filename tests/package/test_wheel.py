"""test_wheel.py BUILD: makes the Python wheel of a build, looks into it, installs it into a fresh virtual environment without
a network, and runs the package's tests there."""

import base64
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
SOURCE = Path(__file__).resolve().parents[2]
# Debian's Python has what the system's packages brought, such as NumPy.
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PTXASW", "PYTHON", "PIP_"))}


def run(*words, fails=False, **options):
    options.setdefault("env", ENVIRONMENT)
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=500,
                          **options)
    assert (done.returncode != 0) == fails, (words, done.stdout[-3000:], done.stderr[-4000:])
    return done.stdout


def module_is_here(name):
    return subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True, cwd="/").returncode == 0


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if "__asan" in run("objdump", "-T", BUILD / "ptxasw"):
            raise unittest.SkipTest("a build with sanitizers")
        if not module_is_here("pip, venv, ensurepip"):
            raise unittest.SkipTest("no pip, or no venv")
        cls.dir = Path(tempfile.mkdtemp(prefix="ptxasw-wheel-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        manifests = {path: path.read_bytes() for path in BUILD.glob("install_manifest*.txt")}
        run(PYTHON, "-m", "pip", "wheel", "--no-index", "--no-deps", "-w", cls.dir, "--config-settings", f"build-dir={BUILD}", SOURCE)
        assert manifests == {path: path.read_bytes() for path in BUILD.glob("install_manifest*.txt")}
        (cls.wheel,) = cls.dir.glob("*.whl")
        run(PYTHON, "-m", "venv", "--system-site-packages", cls.dir / "venv")
        cls.python = cls.dir / "venv/bin/python"
        run(cls.python, "-m", "pip", "install", "--no-index", cls.wheel)

    def test_binaries_ask_for_no_more_than_the_tag_says(self):
        minor = int(re.fullmatch(r"ptxasw-\d+\.\d+\.\d+-py3-none-manylinux_2_(\d+)_x86_64\.whl", self.wheel.name)[1])
        with zipfile.ZipFile(self.wheel) as wheel:
            wheel.extractall(self.dir / "content")
            binaries = [self.dir / "content" / name for name in wheel.namelist() if wheel.read(name).startswith(b"\x7fELF")]
        names = {path.name for path in binaries}
        self.assertLessEqual({"ptxasw", "libptxasw-exec.so", "libptxasw_launch.so", "libptxasw_emulate.so"}, names)
        newest = 0
        for path in binaries:
            said = run("objdump", "-T", path)
            newest = max(newest, *(int(version) for version in re.findall(r"\bGLIBC_2\.(\d+)", said)))
            # What Ubuntu 22.04 has in its libstdc++.
            self.assertLessEqual(max(map(int, re.findall(r"GLIBCXX_3\.4\.(\d+)", said)), default=0), 30, path)
            needed = set(re.findall(r"NEEDED +(\S+)", run("objdump", "-p", path)))
            self.assertLessEqual(needed - names, {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"})
        self.assertLessEqual(newest, minor)
        self.assertLessEqual(minor, max(newest, 35))

    def test_record(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            (record,) = (name for name in wheel.namelist() if name.endswith("/RECORD"))
            rows = [line.rsplit(",", 2) for line in wheel.read(record).decode().splitlines()]
            self.assertEqual(sorted(row[0] for row in rows), sorted(wheel.namelist()))
            for name, digest, size in rows:
                if name != record:
                    sha = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
                    self.assertEqual((digest, size), (f"sha256={sha}", str(len(wheel.read(name)))))
            bundled = {name.rsplit("/", 1)[1] for name in wheel.namelist() if "/licenses/" in name}
        self.assertLessEqual({"LICENSE", "libantlr4-runtime-dev", "nlohmann-json3-dev"}, bundled)

    def test_the_program_is_on_the_path(self):
        env = dict(ENVIRONMENT, PATH=f"{self.dir}/venv/bin:{ENVIRONMENT['PATH']}")
        version = re.search(r"VERSION (\S+) LANGUAGES", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertTrue(run("ptxasw", "--version", env=env).startswith(f"ptxasw {version}"))
        toolkit = self.dir / "ptxas"
        toolkit.write_text("#!/bin/sh\necho \"real $*\"\n")
        toolkit.chmod(0o755)
        said = run("ptxasw", "run", "--shuffle=always", "--log", self.dir / "log", "--", toolkit, "--version", env=env)
        self.assertIn("real --version", said)
        self.assertIn("information-only", (self.dir / "log").read_text())
        self.assertTrue((self.dir / "venv/share/man/man1/ptxasw.1.gz").exists())
        self.assertTrue((self.dir / "venv/libexec/ptxasw/libptxasw_launch.a").exists())

    def test_programs_are_checked_without_a_gpu(self):
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        runtime = self.dir / "venv/libexec/ptxasw/no-gpu"
        if not os.access(nvcc, os.X_OK) or not runtime.exists():
            self.skipTest("no CUDA toolkit")
        (self.dir / "app.cu").write_text(r"""#include <cstdio>
__global__ void square(int *a) { a[threadIdx.x] *= a[threadIdx.x]; }
int main(int count, char **) {
  int *a, b[32] = {5};
  cudaMalloc(&a, sizeof b);
  cudaMemcpy(a, b, sizeof b, cudaMemcpyHostToDevice);
  square<<<1, 31 + count>>>(a);
  cudaMemcpy(b, a, sizeof b, cudaMemcpyDeviceToHost);
  printf("%d\n", b[0]);
}
""")
        run(nvcc, "-cudart", "shared", "-arch=sm_90", "-o", self.dir / "app", self.dir / "app.cu")
        program = self.dir / "venv/bin/ptxasw"
        self.assertIn("25\n", run(program, "check", "--", self.dir / "app"))
        run(program, "check", "--", self.dir / "app", "more", fails=True)
        said = run("ldd", runtime / "libcudart.so.13", env=dict(ENVIRONMENT, LD_LIBRARY_PATH=str(runtime)))
        self.assertEqual({Path(path).parent for path in re.findall(r"(/\S+/lib(?:antlr4|fmt|lz4|zstd)\S+)", said)}, {runtime})

    def test_the_package_where_it_is_installed(self):
        copy = self.dir / "tests/wrapper/python/package.py"  # far from the sources
        copy.parent.mkdir(parents=True)
        shutil.copy(SOURCE / "tests/wrapper/python/package.py", copy)
        (self.dir / "docs").symlink_to(SOURCE / "docs")
        run(self.python, "-B", copy, cwd=self.dir)
        where = run(self.python, "-c", "import ptxasw; print(ptxasw.program(), ptxasw.__file__)", cwd=self.dir)
        self.assertEqual([Path(path).is_relative_to(self.dir / "venv") for path in where.split()], [True, True])

    def test_a_folder_of_its_own(self):
        place = self.dir / "target"
        run(self.python, "-m", "pip", "install", "--no-index", "--target", place, self.wheel)
        said = run(PYTHON, "-c", "import ptxasw; print(ptxasw.program())", cwd=self.dir, env=dict(ENVIRONMENT, PYTHONPATH=str(place)))
        self.assertEqual(said, f"{place.resolve()}/bin/ptxasw\n")

    def test_zz_nothing_is_left(self):
        run(self.python, "-m", "pip", "uninstall", "-y", "ptxasw")
        left = [path for path in (self.dir / "venv").rglob("*ptxasw*") if not path.is_dir()]
        self.assertEqual(left, [])

    def test_build(self):
        if not module_is_here("build"):
            self.skipTest("no python3-build")
        run(PYTHON, "-m", "build", "--wheel", "--outdir", self.dir / "built", f"-Cbuild-dir={BUILD}", SOURCE)
        self.assertEqual((self.dir / "built" / self.wheel.name).read_bytes(), self.wheel.read_bytes())

    def test_the_oldest_system_that_will_do(self):
        spec = importlib.util.spec_from_file_location("ptxasw_wheel", SOURCE / "wrapper/python/backend/ptxasw_wheel.py")
        backend = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(backend)
        asked = {"a": {"GLIBC": (2, 17)}, "b": {"GLIBC": (2, 36), "GLIBCXX": (3, 4, 30)}, "c": {"GLIBCXX": (3, 4, 31)},
                 "d": {"CXXABI": (1, 3, 16)}}
        backend.needed_by = lambda path: ([], asked[path])
        for binaries, minor in ("a", 35), ("ab", 36), ("ac", 39):
            self.assertRegex(backend.tag_of(binaries), f"^py3-none-manylinux_2_{minor}_")
        with self.assertRaises(RuntimeError):
            backend.tag_of("ad")


if __name__ == "__main__":
    unittest.main()
