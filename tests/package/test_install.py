"""test_install.py BUILD: installs, tries what was installed, and takes it away again; packs, and looks into
the packages."""

import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
SOURCE = Path(__file__).resolve().parent.parent.parent
JACOBI = SOURCE / "tests/data/jacobi.ptx"

COLUMN = """.version 7.8
.target sm_90
.address_size 64
.visible .entry column(.param .u64 in, .param .u64 out)
{
.reg .b32 %r<3>;
.reg .b64 %rd<6>;
.reg .f32 %f<2>;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4096;
mul.wide.u32 %rd4, %r1, 4;
add.s64 %rd5, %rd1, %rd3;
ld.global.f32 %f1, [%rd5];
add.s64 %rd5, %rd2, %rd4;
st.global.f32 [%rd5], %f1;
ret;
}
"""


def run(*words, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    options["env"] = {**os.environ, **options.get("env", {})}
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True, timeout=500, **options)
    assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-4000:])
    return done.stdout


def maintainer():
    """Whom the packages have to name: as configured, or the author of the last commit."""
    said = re.search(r"^PTXASW_MAINTAINER:STRING=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)[1]
    return said or run("git", "-C", SOURCE, "log", "-1", "--format=%an <%ae>").strip()


class Installed(unittest.TestCase):
    """The tree is installed once for all tests."""

    @classmethod
    def setUpClass(cls):
        cls.dir = Path(tempfile.mkdtemp(prefix="ptxasw-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        # What someone else's installation of this build folder left is not ours to change.
        kept = {path: path.read_bytes() for path in BUILD.glob("install_manifest*.txt")}
        for path in kept:
            path.unlink()

        def restore():
            for path in BUILD.glob("install_manifest*.txt"):
                path.unlink()
            for path, content in kept.items():
                path.write_bytes(content)

        cls.addClassCleanup(restore)
        run("cmake", "--install", BUILD, "--prefix", cls.dir / "tree")
        cls.tree = cls.dir / "tree"

    def ptxasw(self, *words, **options):
        return run(self.tree / "bin/ptxasw", *words, **options)

    def test_1_every_command_has_its_page(self):
        described = json.loads(self.ptxasw("describe", "json"))
        pages = {path.name for path in (self.tree / "share/man/man1").iterdir()}
        names = ["ptxasw" + ("-" + c["name"] if c["name"] else "") for c in described["commands"]]
        self.assertEqual({re.sub(r"\.gz$", "", page) for page in pages}, {name + ".1" for name in names})

    def test_1_completions_and_example(self):
        for file in ("share/bash-completion/completions/ptxasw", "share/zsh/vendor-completions/_ptxasw",
                     "share/fish/vendor_completions.d/ptxasw.fish", "share/doc/ptxasw/examples/ptxasw.toml",
                     "share/doc/ptxasw/lint-codes/uncoalesced.md", "share/doc/ptxasw/copyright", "share/doc/ptxasw/changelog.gz"):
            self.assertGreater((self.tree / file).stat().st_size, 100, file)

    def test_1_the_program_works_where_it_lies(self):
        out = self.dir / "out.ptx"
        self.ptxasw("rewrite", JACOBI, "-o", out, "--shuffle=always")
        self.assertIn("shfl.sync", out.read_text())

    def test_1_run_preloads_the_installed_library(self):
        toolkit = self.dir / "ptxas"
        toolkit.write_text("#!/bin/sh\necho \"real $*\"\n")
        toolkit.chmod(0o755)
        said = self.ptxasw("run", "--shuffle=always", "--log", self.dir / "log", "--", toolkit, "--version")
        self.assertIn("real --version", said)
        self.assertIn("information-only", (self.dir / "log").read_text())

    def test_1_others_build_against_the_libraries(self):
        if "__asan" in run("nm", "-u", next(self.tree.glob("lib*/libptxasw_grammar.a"))):
            self.skipTest("a build with sanitizers")
        example = self.tree / "share/doc/libptxasw-dev/examples/list_accesses"
        run("cmake", "-S", example, "-B", self.dir / "example", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.tree}",
            "-DCMAKE_BUILD_TYPE=Debug")
        run("cmake", "--build", self.dir / "example")
        program = self.dir / "example/list_accesses"
        # A row of a matrix for each thread: each lane of a warp has a sector of its own.
        ptx = self.dir / "column.ptx"
        ptx.write_text(COLUMN)
        self.assertEqual(run(program, ptx),
                         "column, line 15: ld.global.f32 moves exact 32 sectors per warp, needs 4\n")
        shown = re.search(r"prints `(.*?)`", (SOURCE / "docs/libraries.md").read_text())[1]
        self.assertIn(shown + "\n", run(program, SOURCE / "kernelgen-bench/ptx/jacobi.ptx"))
        ptx.write_text("nonsense")
        done = subprocess.run([program, ptx], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"column.ptx:1:\d+: error: ")

    def test_1_programs_load_the_emulator(self):
        library = next(self.tree.glob("lib*/**/libptxasw_emulate.so"))
        if "__asan" in run("nm", "-D", library):
            self.skipTest("a build with sanitizers")
        example = self.tree / "share/doc/libptxasw-emulate/examples"
        program = self.dir / "saxpy"
        run("cc", f"-I{self.tree}/include", example / "saxpy.c", f"-L{library.parent}",
            f"-Wl,-rpath,{library.parent}", "-lptxasw_emulate", "-o", program)
        self.assertIn("y[999] = 1999\n", run(program, example / "saxpy.ptx"))
        if importlib.util.find_spec("numpy"):
            self.assertEqual(run(sys.executable, "-B", example / "saxpy.py", library, example / "saxpy.ptx"),
                             "y[999] = 1999.0\n")

    def test_1_the_pages_commands_build_the_examples(self):
        """As they are printed, with the installation in the home directory and another place for temporary files."""
        if "__asan" in run("nm", "-D", next(self.tree.glob("lib*/**/libptxasw_emulate.so"))):
            self.skipTest("a build with sanitizers")
        home = self.dir / "home"
        home.mkdir()
        (home / ".local").symlink_to(self.tree)
        (config,) = self.tree.glob("lib*/**/ptxasw_emulate.pc")
        env = {"HOME": str(home), "PKG_CONFIG_PATH": str(config.parent), "LD_LIBRARY_PATH": str(config.parent.parent)}
        (self.dir / "docs").symlink_to(SOURCE / "docs")
        (self.dir / "kernelgen-bench").symlink_to(SOURCE / "kernelgen-bench")
        begins = {"ptx-run.md": ["cc docs/examples/saxpy.c $(pkg-config "], "libraries.md":
                  ["cmake -S docs/examples/list_accesses ", "cmake --build ", "/tmp/list_accesses/"]}
        for page, beginnings in begins.items():
            lines = [line.strip() for line in (SOURCE / "docs" / page).read_text().split("\n") if line.startswith("    ")]
            for beginning in beginnings:
                (line,) = (line for line in lines if line.startswith(beginning))
                if "pkg-config" in line and not shutil.which("pkg-config"):
                    continue
                run("sh", "-c", line.replace("/tmp/", f"{self.dir}/made/"), cwd=self.dir, env=env)
        if (self.dir / "saxpy").exists():
            self.assertIn("y[999] = 1999\n", run(self.dir / "saxpy", "docs/examples/saxpy.ptx", cwd=self.dir, env=env))

    def test_1_what_is_missing_is_built(self):
        (BUILD / "changelog.gz").unlink()
        said = run("cmake", "--install", BUILD, "--component", "development", "--prefix", self.dir / "again")
        self.assertIn("Building what development lacks", said)
        self.assertTrue((self.dir / "again/share/doc/libptxasw-dev/changelog.gz").exists())

    def test_1_needs_nothing_newer_than_ubuntu_22_04(self):
        if not shutil.which("objdump"):
            self.skipTest("no objdump")
        symbols = run("objdump", "-T", self.tree / "bin/ptxasw")
        if "__asan" in symbols:
            self.skipTest("a build with sanitizers")
        versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([0-9.]+)", symbols)}
        self.assertLessEqual(max(versions), (2, 35))
        libraries = set(re.findall(r"NEEDED +(\S+)", run("objdump", "-p", self.tree / "bin/ptxasw")))
        self.assertLessEqual(libraries, {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"})

    def test_2_uninstall_leaves_nothing(self):
        run("cmake", "--build", BUILD, "--target", "uninstall")
        left = [str(path) for path in self.tree.rglob("*") if not path.is_dir() or "ptxasw" in path.name]
        self.assertEqual(left, [])


class Packed(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="ptxasw-pack-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def pack(self, kind):
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", kind, "-B", self.dir, cwd=BUILD)

    def test_debian(self):
        if not shutil.which("dpkg-shlibdeps") or not shutil.which("file"):
            self.skipTest("no dpkg-dev, or no file")
        self.pack("DEB")
        packages = sorted(self.dir.glob("*.deb"))
        self.assertEqual([path.name.split("_")[0] for path in packages], ["libptxasw-dev", "libptxasw-emulate", "ptxasw"])
        files = run("dpkg-deb", "-c", packages[1])
        for file in (r"/usr/lib/\S*libptxasw_emulate\.so", "/usr/include/ptxasw_emulate.h", r"/usr/lib/\S*pkgconfig/ptxasw_emulate\.pc"):
            self.assertRegex(files, rf" \.{file}\n")
        self.assertIn("libantlr4-runtime", run("dpkg-deb", "-f", packages[1], "Depends"))
        files = run("dpkg-deb", "-c", packages[2])
        for file in ("./usr/bin/ptxasw", "./usr/libexec/ptxasw/libptxasw-exec.so", "./usr/share/man/man1/ptxasw.1.gz",
                     "./usr/share/man/man1/ptxasw-lint.1.gz", "./usr/share/bash-completion/completions/ptxasw",
                     "./usr/share/zsh/vendor-completions/_ptxasw", "./usr/share/fish/vendor_completions.d/ptxasw.fish",
                     *(["./usr/libexec/ptxasw/libptxasw_launch.so"] if platform.machine() == "x86_64" else [])):
            self.assertRegex(files, rf" {re.escape(file)}\n")
        self.assertEqual({run("dpkg-deb", "-f", package, "Maintainer").strip() for package in packages}, {maintainer()})
        # No library to link but the one that `nvcc --link-helper` puts into programs.
        self.assertEqual(re.findall(r"/(\S+\.(?:h|a))\n", files),
                         ["usr/libexec/ptxasw/libptxasw_launch.a"] if platform.machine() == "x86_64" else [])
        nvcc = shutil.which("nvcc")
        if (BUILD / "no-gpu").exists() and nvcc:
            # What the program's package recommends is found by the program, wherever both lie.
            self.assertIn("libptxasw-emulate", run("dpkg-deb", "-f", packages[2], "Recommends"))
            both = self.dir / "both"
            for package in packages[1:]:
                run("dpkg-deb", "-x", package, both)
            run(both / "usr/bin/ptxasw", "overlay", self.dir / "overlay", "--cuda", Path(nvcc).resolve().parent.parent)
            program = self.dir / "blur"
            run(self.dir / "overlay/bin/nvcc", "--no-gpu", "-arch=sm_90", "-o", program, SOURCE / "docs/examples/blur.cu")
            found = subprocess.run([both / "usr/bin/ptxasw", "check", "--", program], text=True, capture_output=True, timeout=300)
            self.assertRegex(found.stdout + found.stderr, r"check: \d findings")
            # So is the helper that becomes a part of a program.
            run(self.dir / "overlay/bin/nvcc", "--link-helper", "-arch=sm_90", "-o", program, SOURCE / "docs/examples/blur.cu")
            self.assertIn("linked in, version", run(both / "usr/bin/ptxasw", "status", program))
        synopses = {run("dpkg-deb", "-f", package, "Description").split("\n")[0] for package in packages}
        self.assertEqual(len(synopses), 3)
        for package in packages:
            control = self.dir / package.stem
            run("dpkg-deb", "-e", package, control)
            for script in set(os.listdir(control)) & {"postinst", "postrm", "prerm", "preinst"}:
                # CPack's own, for a shared library: nothing except ldconfig.
                self.assertIn("emulate", package.name)
                lines = (control / script).read_text().split("\n")
                code = " ".join(line.strip() for line in lines if not line.startswith("#")).split()
                self.assertRegex(" ".join(code), r'^(set -e )?if \[ "\$1" = \S+ \]; then ldconfig fi$')
        if shutil.which("lintian"):
            run("lintian", "--fail-on", "error", "--allow-root", *packages)

    def test_what_quickstart_builds(self):
        """What `ptxasw faster`, and `nvcc --link-helper` of an overlay made there, need."""
        self.assertRegex((SOURCE / "quickstart.sh").read_text(), r'(?m)^build "\$tests" programs$')
        if not (BUILD / "build.ninja").exists() or not shutil.which("ninja"):
            self.skipTest("no Ninja")
        commands = run("ninja", "-C", BUILD, "-t", "commands", "programs")
        for file in ("ptxasw", *(["libptxasw_launch.so", "libptxasw_launch.a"] if platform.machine() == "x86_64" else [])):
            self.assertRegex(commands, rf" {re.escape(file)} ")

    def test_archive(self):
        self.pack("TGZ")
        self.assertEqual(len(list(self.dir.glob("*.tar.gz"))), 3)
        (archive,) = self.dir.glob("*-runtime.tar.gz")
        run("tar", "-xf", archive, "-C", self.dir)
        (program,) = (path for path in self.dir.rglob("bin/ptxasw") if "_CPack_Packages" not in path.parts)
        out = self.dir / "out.ptx"
        run(program, "rewrite", JACOBI, "-o", out, "--shuffle=always")
        self.assertIn("shfl.sync", out.read_text())


if __name__ == "__main__":
    unittest.main()
