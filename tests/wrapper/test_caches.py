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
        # With C++11 nvcc reads the toolkit's headers in half the time.
        command = [*through, CCACHE, nvcc, "-std=c++11", "-arch=sm_90", "-c", "three.cu", "-o", "three.o", *words]
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
        self.assertEqual(self.compile(CUDA / "bin/nvcc"), (plain, True))
        self.assertEqual(self.compile(self.overlay / "bin/nvcc", *ALWAYS), (through, True))

    def test_what_the_overlays_nvcc_preprocesses_is_the_source_and_a_line(self):
        plain = run([self.overlay / "bin/nvcc.toolkit", "-E", "three.cu"]).stdout
        through = run([self.overlay / "bin/nvcc", "-E", "three.cu"]).stdout
        self.assertEqual(through[:len(plain)], plain)
        self.assertRegex(through[len(plain):], r'^\n# 1 "/dev/zero"\n#pragma ptxasw ptxasw-[0-9a-f]{16}\n$')
        run([self.overlay / "bin/nvcc", "-E", "three.cu", "-o", "three.ii"])
        self.assertEqual((self.dir / "three.ii").read_text(), through)
        result = run([self.overlay / "bin/nvcc", "-E", "none.cu"])
        self.assertNotEqual(result.returncode, 0)

    def check_settings(self, compile):
        """Set, changed and taken away, by the environment and by a file: `compile` gets the environment."""
        plain, _ = compile()
        always, hit = compile(PTXASW_SHUFFLE="always")
        self.assertFalse(hit)
        last, hit = compile(PTXASW_SHUFFLE="always", PTXASW_LAST="1")
        self.assertFalse(hit)
        self.assertEqual(len({plain, always, last}), 3)
        self.assertEqual(compile(PTXASW_SHUFFLE="always"), (always, True))
        self.write("ptxasw.toml", "shuffle = 'always'\n")
        self.assertEqual(compile()[0], always)
        self.write("ptxasw.toml", "shuffle = 'always'\nlast = 1\n")
        self.assertEqual(compile()[0], last)
        os.unlink("ptxasw.toml")
        self.assertEqual(compile(), (plain, True))
        self.assertEqual(compile(PTXASW_SHUFFLE="always", PTXASW_LAST="1"), (last, True))

    def test_settings_reach_the_key_through_the_overlay(self):
        self.check_settings(lambda **e: self.compile(self.overlay / "bin/nvcc", **e))

    def test_settings_reach_the_key_through_cmakes_launcher(self):
        need("cmake")
        self.write("CMakeLists.txt", """cmake_minimum_required(VERSION 3.25)
project(three LANGUAGES CUDA)
add_library(three STATIC three.cu)
""")
        self.check_settings(self.build_with_cmake)

    def build_with_cmake(self, **environment):
        """What `compile` returns, of a build from nothing."""
        env = {**self.env, **environment}
        shutil.rmtree("b", ignore_errors=True)
        for command in (["cmake", "-S", ".", "-B", "b", f"-DCMAKE_CUDA_COMPILER={self.overlay}/bin/nvcc",
                         "-DCMAKE_CUDA_ARCHITECTURES=90", f"-DCMAKE_CUDA_COMPILER_LAUNCHER={CCACHE}"],
                        ["cmake", "--build", "b"]):
            before = self.hits(env)
            result = run(command, env=env)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        (made,) = (self.dir / "b/CMakeFiles/three.dir").glob("three.cu.o")
        return re.sub(rb"tmpxft_\w+-\d+", b"", made.read_bytes()), self.hits(env) > before

    def test_another_ptxasw_or_a_changed_file_reaches_the_key_through_the_overlay(self):
        first, _ = self.compile(self.overlay / "bin/nvcc", *ALWAYS)
        shutil.copy(PTXASW, "ptxasw")
        with open("ptxasw", "ab") as program:
            program.write(b"another build")
        os.unlink(self.overlay / "bin/ptxas")
        os.symlink(self.dir / "ptxasw", self.overlay / "bin/ptxas")
        self.assertEqual(self.compile(self.overlay / "bin/nvcc", *ALWAYS), (first, False))
        # A file that an option of ptxas names.
        self.write("options", "--ptxasw-shuffle=always")
        words = ("-Xptxas", "-optf=options")
        first, hit = self.compile(self.overlay / "bin/nvcc", *words)
        self.assertFalse(hit)
        self.assertEqual(self.compile(self.overlay / "bin/nvcc", *words), (first, True))
        self.write("options", "--ptxasw-shuffle=never")
        made, hit = self.compile(self.overlay / "bin/nvcc", *words)
        self.assertFalse(hit)
        self.assertNotEqual(made, first)

    def test_what_looks_like_preprocessing_is_not(self):
        self.write("main.cu", "int main() { return 0; }\n")
        nvcc = self.overlay / "bin/nvcc"
        for words in (["-Xlinker", "-E"], ["-Xcompiler", "-O1", "-Xlinker", "-E"]):
            result = run([nvcc, "-arch=sm_90", "main.cu", "-o", "app", *words])
            self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
            self.assertNotIn(b"#pragma ptxasw", (self.dir / "app").read_bytes())
        run([nvcc, "-E", "--dryrun", "-o", "none.ii", "main.cu"])
        self.assertFalse((self.dir / "none.ii").exists())

    def test_a_value_in_the_word_before_takes_nothing_else(self):
        for words in (["-Xcompiler=-fPIC", "-E"], ["-Xptxas=-O3", "-E"], ["-arch=sm_90", "--preprocess"],
                      ["-Xcompiler", "-fPIC", "-E"], ["-DA=1", "-E"], ["-D", "A=1", "-E"]):
            with self.subTest(words=words):
                self.assertIn("#pragma ptxasw", run([self.overlay / "bin/nvcc", *words, "three.cu"]).stdout)

    def test_the_overlays_nvcc_has_a_version_of_its_own(self):
        plain = run([CUDA / "bin/nvcc", "--version"]).stdout
        result = run([self.overlay / "bin/nvcc", "--version"])
        self.assertEqual(result.stdout[:len(plain)], plain)
        self.assertRegex(result.stdout[len(plain):], r"^With ptxasw-[0-9a-f]{16} as its ptxas\n$")
        # For caches that take a version for the compiler.
        check = {"CCACHE_COMPILERCHECK": "%compiler% --version"}
        first, hit = self.compile(CUDA / "bin/nvcc", **check)
        made, hit = self.compile(self.overlay / "bin/nvcc", PTXASW_SHUFFLE="always", **check)
        self.assertFalse(hit)
        self.assertNotEqual(first, made)

    def test_a_link_to_the_overlays_nvcc(self):
        (self.dir / "links").mkdir()
        (self.dir / "links/nvcc").symlink_to("../over/bin/nvcc")
        made, _ = self.compile(self.dir / "links/nvcc", *ALWAYS)
        self.assertEqual(made, self.compile(self.overlay / "bin/nvcc", *ALWAYS)[0])

    def test_sloppiness_does_not_help_itself(self):
        sloppy = {"CCACHE_SLOPPINESS": "pch_defines,time_macros"}
        plain, _ = self.compile(self.overlay / "bin/nvcc", **sloppy)
        made, hit = self.compile(self.overlay / "bin/nvcc", PTXASW_SHUFFLE="always", **sloppy)
        self.assertFalse(hit)
        self.assertNotEqual(plain, made)

    def test_more_that_reaches_the_key_through_the_overlay(self):
        nvcc = self.overlay / "bin/nvcc"
        first, _ = self.compile(nvcc)
        made, hit = self.compile(nvcc, NVCC_APPEND_FLAGS="-Xptxas --ptxasw-shuffle=always")
        self.assertFalse(hit)
        self.assertNotEqual(first, made)
        self.write("outer", "--options-file inner\n")
        self.write("inner", "--ptxasw-shuffle=always\n")
        for words in (("-Xptxas", "-optf inner"), ("-Xptxas", "-optf=outer")):
            self.write("inner", "--ptxasw-shuffle=always\n")
            first, _ = self.compile(nvcc, *words)
            self.write("inner", "--ptxasw-shuffle=never\n")
            made, hit = self.compile(nvcc, *words)
            self.assertFalse(hit, words)
            self.assertNotEqual(first, made)
        self.write("real", f"#!/bin/sh\nexec {CUDA}/bin/ptxas \"$@\" -O1\n", executable=True)
        first, _ = self.compile(nvcc)
        made, hit = self.compile(nvcc, PTXASW_REAL=str(self.dir / "real"))
        self.assertFalse(hit)

    def test_run_tells_the_cache_of_every_directory_and_environment(self):
        (self.dir / "sub").mkdir()
        shutil.copy("three.cu", "sub")
        results = set()
        for number, (setting, variable) in enumerate((("always", ""), ("never", ""), ("never", "PTXASW_SHUFFLE=always"))):
            self.write("sub/ptxasw.toml", f"shuffle = '{setting}'\n")
            before = self.hits(self.env)
            result = run([PTXASW, "run", "--", "sh", "-c", f"cd sub && env {variable} {CCACHE} nvcc -arch=sm_90 "
                          "-c three.cu -o three.o"], env=self.env)
            self.assertEqual(result.returncode, 0, result.stderr)
            if number < 2:
                self.assertEqual(self.hits(self.env), before)
                results.add(re.sub(rb"tmpxft_\w+-\d+", b"", (self.dir / "sub/three.o").read_bytes()))
        self.assertEqual(len(results), 2)
        self.assertIn(re.sub(rb"tmpxft_\w+-\d+", b"", (self.dir / "sub/three.o").read_bytes()), results)

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
        # A settings file also changes the key, and so does removing it.
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
