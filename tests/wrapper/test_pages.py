"""Every command that a page of the documentation shows is run as it is written, or is in the list of
those that cannot be run here, with the reason. What a page says that a command prints, in a block called
`text` after it, the command prints. What users read keeps to its length and to its subject."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from support import EVERYTHING, JACOBI, PTXASW, Scratch, cuda_home, main, run

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/lint-codes/*.md"), *ROOT.glob("docs/internals/*.md"), *ROOT.glob("docs/results/*/README.md"),
                *ROOT.glob("kernelgen-bench/*.md"), *ROOT.glob("kernelgen-bench/programs/*.md"), *ROOT.glob("tests/*/README.md")])

# What a shown line that is a command begins with; other indented lines are output or formulas.
COMMAND = re.compile(r"(\$ |\./|~/|DIRECTORY/|/tmp/|[A-Z_]+=\S+ |"
                     r"(ptxasw(?! info)|cmake|ctest|clang|nvcc|gcc|cc|cd|export|sudo|pip|git|make|mkdir|printf|chmod|tar|python3?|curl|docker|meson|bazel|parallel|find|srun|"
                     r"build|tests|kernelgen|kernelgen-bench)\b[/ ])")

GPU, MINUTES = "needs a GPU", "takes minutes"
# Beginnings of commands that are not run here, and why.
ELSEWHERE = {
    "./quickstart.sh": "builds the project: whoever runs this test has done that",
    "ptxasw run --lint -- nvfortran": "NVHPC is not free to fetch; test_callers.py has a stand-in",
    "TRITON_PTXAS_PATH=": GPU + "; tests/wrapper/device/triton_stencil.py",
    "XLA_FLAGS=": GPU,
    "kernelgen-bench/overhead": MINUTES + ", and times",
    "kernelgen-bench/lint-time": "times",
    "kernelgen-bench/shapes": MINUTES + ", and " + GPU,
    "kernelgen-bench/run": MINUTES + "; tests/bench runs it on a few kernels",
    "kernelgen-bench/report": "needs results of a run on a GPU; tests/bench has some",
    "kernelgen/": GPU,
    "kernelgen-bench/programs/build": MINUTES,
    "kernelgen-bench/programs/faster": GPU,
    "kernelgen-bench/programs/whole": GPU,
    "kernelgen-bench/programs/ways": GPU,
    "/tmp/programs/run": GPU,
    "ptxasw faster": GPU + "; tests/launch has a driver without one",
    "ptxasw tune --profile": GPU + "; tests/launch has a driver without one",
    "ptxasw tune --shard": GPU + "; tests/launch has a driver without one",
    "ptxasw merge 1.toml": "needs what that tuned; tests/launch has it",
    "~/cuda-ptxasw/bin/nvcc --link-helper": "links a whole program; test_link_helper.py does",
    "ptxasw launch --profile": GPU + "; tests/launch has a driver without one",
    "tar xf sm_90.tar.gz": "unpacks what kernelgen-bench/run made",
    "ctest -R conformance": "part of this suite",
    "tests/synth/address-times --runs 31": "the test synth.address-times, of one run",
    "build/tests/conformance/conformance check": "part of this suite",
    "tests/conformance/record": MINUTES + ", and " + GPU,
    "/tmp/cf/record": GPU,
    "tests/facts/device/compare": "the test facts.counters",
    "tests/bound/device/compare.py": "the test bound.counters",
    "tests/hazards/device/build": MINUTES,
    "DIRECTORY/run": GPU,
    "build/tests/bound/bound_property": MINUTES + "; part of this suite with fewer launches",
    "./saxpy docs": "made with a command that has the build's folder; test_ptx_run.py runs it",
    "python3 -m build": "tests/package does",
    "python3 docs/examples/saxpy.py": "needs NumPy; test_ptx_run.py runs it where there is",
    "DIRECTORY/launch": GPU,
    "DIRECTORY/suite": GPU,
    "kernelgen-bench/siblings/build": MINUTES,
    "kernelgen-bench/siblings/predict": MINUTES,
    "build/kernelgen/sm_90.tar.gz": "the name of a file",
    "~/cuda-ptxasw/bin/nvcc --no-gpu": "links a whole program; tests/runtime does",
    "ptxasw run --no-gpu -- cmake": "the command above it configures a project of the reader's",
    "ptxasw run --no-gpu -- make": "links a whole program; tests/runtime does",
    "ptxasw run --no-gpu -- meson": "no package of the tests; tried by hand",
    "PTXASW_SIBLINGS=8 ptxasw launch --jit": GPU,
    "kernelgen-bench/openacc": "the test synth.openacc does, where GCC can offload",
    "cmake -B build -DCMAKE_CUDA_ARCHITECTURES": "configures a project of the reader's",
    "LD_LIBRARY_PATH=$(dirname": "needs a whole program; tests/runtime has some",
    "ptxasw lint ~/.triton/cache": "needs Triton's cache; test_triton.py has one",
    "./app": "the program that was linked above",
    "./build/app": "the program that was linked above",
    "cmake --preset": "configures the project: whoever runs this test has done that",
    "cmake --build build": "builds the project: whoever runs this test has done that",
    'export PATH="$PWD/build': "is for the reader's shell",
    "cd build && cpack": "tests/package does",
    "sudo apt install": "changes the machine; tests/package unpacks both and runs them",
    "pip install dist": "tests/package does, into a new environment",
    "cc -I wrapper/library": "test_ptx_run.py does",
    "cc docs/examples/saxpy.c": "tests/package does",
    "cmake --install build": "tests/package does",
    "cmake -S docs/examples": "tests/package does",
    "cmake --build /tmp/list_accesses": "tests/package does",
    "/tmp/list_accesses": "tests/package does",
    "meson": "no package of the tests; tried by hand",
    "bazel": "the page says that it was not tried",
    "CUDA_HOME=$HOME/cuda-ptxasw PTXASW_LINT=true python": "the page says that it was not tried",
    "find src -name": "a repository of the reader's; test_large_jobs.py has one",
    "srun": "needs Slurm; tests/launch runs what it starts",
    "XDG_CACHE_HOME=/shared": "needs Slurm; tests/launch has processes that share a folder",
    "parallel": "no package of the tests; test_shards.py runs it where it is",
    "build/tests/random/random_kernels": MINUTES,
    "build/tests/random/random_meld": MINUTES,
    "build/tests/random/random_promote": MINUTES,
    "build/tests/random/random_carry": MINUTES,
    "build/tests/random/random_ahead": MINUTES,
    "build/tests/random/random_cache": MINUTES,
    "build/tests/random/random_stage": MINUTES,
    "./chunks": GPU,
    "ptxasw bisect --versions": GPU + "; tests/launch has a driver without one",
    "./maps": GPU,
    "./resized": GPU,
    "./staging": GPU,
    "./carry": GPU,
    "./gridloops": GPU,
    "./versions": GPU,
    "ptxasw prove naive.ptx": "kernels of the reader's; tests/prove has such pairs",
    "docker": "needs images from a registry",
}

# Commands that write nothing.
READS = re.compile(r"ptxasw (advise|bound|cost|explain|lint|occupancy|prove|trace|verify)"
                   r"( ([\w./][\w./=,:-]*|--(kernel|assume|launch|runs|search|arch|json)))+")

# Commands that find something, and so end with another code than 0.
FINDS = {"ptxasw check -- ./blur": 1}
# What nobody can know in advance: addresses of the process.
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")

# What users read, and how many words of it there may be.
FOR_USERS = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("docs/lint-codes/*.md"))]
WORDS_OF_README, WORDS_OF_PAGES = 900, 22000
# What is only for those who work on ptxasw. Blocks of code and the targets of links may have such words, as may the
# names of headers.
NOT_FOR_USERS = {"a path of a source": re.compile(r"\b(grammar|emulator|analysis|synth|wrapper|tests)/[\w/.-]*(?<!\.h)(?![\w/.-])"),
                 "a word of the workshop": re.compile(r"\b(seed|mutant)s?\b"), "a date": re.compile(r"\b20\d\d-\d\d-\d\d\b")}

# A program that is "wrong" if anything was rewritten: its code is longer than the plain nvcc's.
HEAT = """heat: heat.cu
\t$(CUDA)/bin/nvcc -arch=sm_90 -cubin -o heat.cubin heat.cu
\ttest -e plain.cubin || nvcc -arch=sm_90 -cubin -o plain.cubin heat.cu
\tprintf '#!/bin/sh\\ntest $$(stat -c %%s heat.cubin) -lt $$(($$(stat -c %%s plain.cubin) + 100))\\n' > heat
\tchmod +x heat
"""
STENCIL = """#include <stdio.h>
int main(void) {
  static float a[1000], b[1000];
  for (int i = 0; i < 1000; i++) a[i] = i;
#pragma acc parallel loop copyin(a) copyout(b)
  for (int i = 1; i < 999; i++) b[i] = a[i - 1] + a[i] + a[i + 1];
  return b[7] != 21;
}
"""


def shown(page):
    """The commands of a page, in its order, each with the lines that the page says it prints; a line that ends
    with a backslash goes on."""
    found, fence, whole = [], None, ""
    for line in page.read_text().split("\n"):
        if line.startswith("```"):
            fence = line[3:] if fence is None else None
            continue
        if fence == "text" and line != "...":
            found[-1][1].append(line)
        if fence not in (None, "", "sh") or fence is None and not line.startswith("    "):
            continue
        text = whole + line.strip()
        whole = text[:-1] if text.endswith("\\") else ""
        if not whole and COMMAND.match(text):
            found.append((text.removeprefix("$ "), []))
    return found


def commands(page):
    return [command for command, _ in shown(page)]


def prose(text):
    """A page without its blocks of code."""
    return re.sub(r"^    .*$", "", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), flags=re.M)


class Readers(unittest.TestCase):
    def test_length(self):
        self.assertLess(len((ROOT / "README.md").read_text().split()), WORDS_OF_README)
        self.assertLessEqual(sum(len(page.read_text().split()) for page in FOR_USERS[1:]), WORDS_OF_PAGES)

    def test_users_pages_are_about_what_users_do(self):
        for page in FOR_USERS:
            text = re.sub(r"<!--.*?-->|\]\([^)]*\)", "", prose(page.read_text()))
            for what, pattern in NOT_FOR_USERS.items():
                with self.subTest(page=page.name, what=what):
                    code = "" if what == "a path of a source" else r"`[^`\n]*`"
                    found = pattern.search(re.sub(code, "", text) if code else text)
                    self.assertIsNone(found, found and found[0])


    def test_commands_that_are_not_run_have_options_that_there_are(self):
        described = json.loads(run([PTXASW, "describe", "json"]).stdout)
        options = {command["name"]: {name for one in command["options"] for name in one["names"]} for command in described["commands"]}
        count = 0
        for page in FOR_USERS:
            inline = re.findall(r"`(ptxasw [^`]*)`", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S).replace("\n", " "))
            for text in [*inline, *commands(page)]:
                text = text.replace("--nvcc-options -O3", "")  # that option is nvcc's
                for name, words in re.findall(r"ptxasw ([a-z]+)\b(.*?)(?= -- |[;|&>]|$)", text):
                    count += 1
                    with self.subTest(page=page.name, command=text):
                        self.assertIn(name, options)
                        for word in re.findall(r"(?<!\S)(--[a-z][a-z-]*|-[A-Za-z])", words):
                            known = options[name] | {"--help"}
                            self.assertTrue(word in known or word[:2] in known and not word.startswith("--"), word)
        self.assertGreater(count, 150)

    def test_flags_of_settings_that_there_are(self):
        table = run([PTXASW, "describe", "settings"]).stdout
        for page in FOR_USERS:
            for word in re.findall(r"--ptxasw-[a-z-]+[a-z]|\bPTXASW_[A-Z_]+[A-Z]\b", page.read_text()):
                with self.subTest(page=page.name, word=word):
                    self.assertTrue(f"`{word}`" in table or word.startswith(("PTXASW_LAUNCH", "PTXASW_RUNTIME")) or
                                    word in ("PTXASW_FASTER", "PTXASW_MAINTAINER"))


class Pages(Scratch):
    def setUp(self):
        super().setUp()
        if not cuda_home():
            self.skipTest("no CUDA toolkit")
        home = self.dir / "home"
        work = self.dir / "work"
        for folder in (home, work, self.dir / "path"):
            folder.mkdir()
        (self.dir / "path/ptxasw").symlink_to(PTXASW)
        (work / "tests").symlink_to(ROOT / "tests")
        (work / "kernelgen-bench").symlink_to(ROOT / "kernelgen-bench")
        (work / "docs").symlink_to(ROOT / "docs")
        shutil.copy(ROOT / "kernelgen-bench/cuda/jacobi.cu", work)
        shutil.copy(ROOT / "kernelgen-bench/cuda/grid.cuh", work)
        for name in ("kernel.cu", "heat.cu"):
            shutil.copy(work / "jacobi.cu", work / name)
        for name in ("in.ptx", "old.ptx", "new.ptx"):
            shutil.copy(JACOBI, work / name)
        (work / "ptx").mkdir()
        shutil.copy(JACOBI, work / "ptx")
        (work / "lint.mk").write_text(re.search(r"```make\n(.*?)```", (ROOT / "docs/ci-and-large-jobs.md").read_text(), re.S)[1])
        shutil.copy(JACOBI, work / "jacobi.ptx")
        (work / "stencil.c").write_text(STENCIL)
        (work / "Makefile").write_text(HEAT)
        (work / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\n"
                                             # nvcc works: what there is to compile is compiled.
                                             "set(CMAKE_CUDA_COMPILER_WORKS TRUE)\nset(CMAKE_CUDA_ABI_COMPILED TRUE)\n"
                                             "project(k LANGUAGES CUDA)\nadd_library(k STATIC kernel.cu)\n")
        self.work = work
        self.said = {}
        self.env = dict(os.environ, HOME=str(home), CUDAARCHS="90", CUDA=str(cuda_home()), SLURM_ARRAY_TASK_ID="1",
                        PATH=f"{self.dir}/path:{cuda_home()}/bin:{os.environ['PATH']}")
        self.env.pop("XDG_CONFIG_HOME", None)

    def test_every_page(self):
        count = 0
        for page in PAGES:
            for command, lines in shown(page):
                if any(command.startswith(prefix) for prefix in ELSEWHERE):
                    continue
                # `quick` leaves out the compiling of programs that only a GPU runs, which no user is told of.
                if not EVERYTHING and command.startswith("nvcc ") and "-ptx" not in command and page not in FOR_USERS:
                    continue
                count += 1
                with self.subTest(page=page.name, command=command):
                    self.check(command, lines)
        self.assertGreater(count, 10)

    def check(self, command, lines):
        program = "gcc" if " -- gcc " in command else command.split()[0]
        if program in ("clang", "gcc") and not self.can(program):
            return
        if ("--no-gpu" in command or command in FINDS) and not (PTXASW.parent / "no-gpu").exists():
            return
        words = command.replace("-Xcuda-ptxas", "-nocudalib -nocudainc -Xcuda-ptxas") \
            if program == "clang" else command
        done = self.done(words)
        self.assertEqual(done.returncode, FINDS.get(command, 0), done.stdout + done.stderr)
        printed = (done.stdout + done.stderr).replace(f"{ROOT}/", "").replace(f"{self.work}/", "")
        rest = iter([ADDRESS.sub("0x", line.strip()) for line in printed.split("\n")])
        for line in lines:
            self.assertIn(ADDRESS.sub("0x", line.strip()), rest, printed)

    def done(self, words):
        """A command's end. One that only reads, and that another page shows, too, is run once for the same input."""
        def end():
            return subprocess.run(["bash", "-e", "-c", words], cwd=self.work, env=self.env, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        named = [self.work / word for word in words.split() if (self.work / word).exists()]
        if not READS.fullmatch(words) or any(place.is_dir() for place in named):
            return end()
        key = words, *(hashlib.sha256(file.read_bytes()).hexdigest() for file in named)
        if key not in self.said:
            self.said[key] = end()
        return self.said[key]

    def can(self, program):
        """Returns true if the page speaks of the compiler that Debian has."""
        if program == "gcc":
            gcc = shutil.which("gcc-12")
            if not gcc or not shutil.which("nvptx-none-as"):
                return False
            link = self.dir / "path/gcc"
            if not link.exists():
                link.symlink_to(gcc)
            return True
        return False  # Debian's clang 14 does not know CUDA 13; test_callers.py drives it

    def test_the_list_of_exceptions_is_not_longer_than_it_must_be(self):
        shown = [command for page in PAGES for command in commands(page)]
        for prefix in ELSEWHERE:
            self.assertTrue(any(command.startswith(prefix) for command in shown), prefix)


if __name__ == "__main__":
    main()
