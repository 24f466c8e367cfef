"""`ptxasw optimize`: what is found, how it is told, what is written."""

import json
import os
import unittest
from pathlib import Path

from support import PTXASW, Scratch, cuda_home, main, run

try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = Path(__file__).resolve().parent.parent.parent
BRANCHES = str(ROOT / "tests/bound/racuda/branches.ptx")
VECTORADD = str(ROOT / "tests/bound/racuda/vectoradd.ptx")
COPPER = str(ROOT / "tests/synth/optimize/copper.ptx")
FILTER = str(ROOT / "tests/synth/versions/stage/filter.ptx")
JACOBI = str(ROOT / "tests/data/jacobi.ptx")
NESTED = str(ROOT / "tests/synth/optimize/nested.ptx")
PARTING = str(ROOT / "tests/synth/optimize/parting.ptx")
SAXPY = str(ROOT / "docs/examples/saxpy.ptx")


IN_PLACE = {"meld", "promote", "carry", "shuffle", "ahead", "cache"}


def optimize(*words, code=0):
    result = run([PTXASW, "optimize", *words])
    assert result.returncode == code, (result.returncode, result.stderr)
    return result.stdout


def kernels(*words, code=0):
    answer = json.loads(optimize(*words, "--json", code=code))
    if jsonschema:
        jsonschema.validate(answer, json.loads((ROOT / "docs/optimize.schema.json").read_text()))
    return {kernel["name"]: kernel for kernel in answer["kernels"]}


def chosen(kernel):
    (one,) = [c for c in kernel["candidates"] if c["chosen"]]
    return one


class Optimize(Scratch):
    def test_nothing_better_is_the_input(self):
        text = optimize(VECTORADD, "-o", "out.ptx")
        self.assertIn("* as it is", text)
        self.assertEqual(Path("out.ptx").read_bytes(), Path(VECTORADD).read_bytes())

    def test_melding_is_found(self):
        at = ["--launch", "param_1=16,param_2=64,param_3=1,block=32,grid=1"]
        kernel = kernels(BRANCHES, "--kernel", "synBrdis", *at, "-o", "out.ptx")["synBrdis"]
        self.assertTrue(kernel["improved"])
        best, original = chosen(kernel), kernel["candidates"][0]
        self.assertEqual(best["verdict"], "proved")
        self.assertLess(int(best["wsteps"]), int(original["wsteps"]))
        self.assertNotEqual(Path("out.ptx").read_bytes(), Path(BRANCHES).read_bytes())

    def test_combinations_beat_greedy_choices(self):
        wide = kernels(NESTED)["nested"]
        narrow = kernels(NESTED, "--beam", "1")["nested"]
        self.assertEqual(len(narrow["candidates"][0]["steps"]), 0)
        self.assertLess(int(chosen(wide)["wsteps"]), int(chosen(narrow)["wsteps"]))

    def test_repeated_loads_are_promoted(self):
        for name in ("addSub2", "dvmm", "conv1D", "elementWise"):
            kernel = kernels(COPPER, "--kernel", name, "--launch", "base-align=256,block=256", "-o", "out.ptx")[name]
            self.assertTrue(kernel["improved"], name)
            self.assertTrue(chosen(kernel)["apart"], name)
            self.assertTrue(any(step.startswith("promote:") for step in chosen(kernel)["steps"]), name)
            self.assertIn("%promote0_", Path("out.ptx").read_text())
        self.assertFalse(kernels(COPPER, "--kernel", "dmvm", "--launch", "base-align=256,block=256")["dmvm"]["improved"])

    def test_formulas_without_sizes(self):
        kernel = kernels(COPPER, "--kernel", "addSub0", "--launch", "base-align=256", "-o", "out.ptx")["addSub0"]
        self.assertTrue(kernel["improved"])
        self.assertIn("param_2", chosen(kernel)["wsteps"])
        check = run([PTXASW, "verify", COPPER, "out.ptx", "--kernel", "addSub0", "--runs", "3", "--search", "0", "--steps", "50000"])
        self.assertNotEqual(check.returncode, 1, check.stdout)

    @unittest.skipUnless(cuda_home(), "no CUDA toolkit")
    def test_time(self):
        at = ["--launch", "param_1=16,param_2=64,param_3=1,block=32,grid=64"]
        os.environ["PATH"] = f"{cuda_home() / 'bin'}:{os.environ['PATH']}"
        kernel = kernels(BRANCHES, "--kernel", "synBrdis", "--metric", "time", "--gpu", "H100", *at)["synBrdis"]
        for candidate in kernel["candidates"]:
            self.assertGreater(candidate["microseconds"], 0)

    @unittest.skipUnless(cuda_home(), "no CUDA toolkit")
    def test_time_of_other_numbers(self):
        os.environ["PATH"] = f"{cuda_home() / 'bin'}:{os.environ['PATH']}"
        words = [BRANCHES, "--kernel", "synBrdis", "--metric", "time", "--gpu", "H100"]
        few, many, named = (
            kernels(*words, *at)["synBrdis"]["candidates"][0]["microseconds"]
            for at in (["--launch", "param_1=16,param_2=64,param_3=1,block=32,grid=64"],
                       ["--launch", "param_1=64,param_2=512,param_3=1,block=32,grid=64"],
                       ["--launch", "synBrdis_param_1=0x40,param_2=512,param_3=1,threads=2048,block=32"]))
        self.assertLess(few, many)
        self.assertEqual(named, many)

    @unittest.skipUnless(cuda_home(), "no CUDA toolkit")
    def test_versions_beside_the_kernel(self):
        os.environ["PATH"] = f"{cuda_home() / 'bin'}:{os.environ['PATH']}"
        at = ["--launch", "n=4194304,k=64,block=256,grid=16384"]
        words = [FILTER, "--metric", "time", "--gpu", "H100", *at]
        kernel = kernels(*words, "-o", "out.ptx")["filter"]
        beside = [c for c in kernel["candidates"] if c["sibling"]]
        tried = {c["steps"][0].split(":")[0] for c in beside}
        self.assertLessEqual({"retile", "vectorise", "registers", "resize", "stage"}, tried)
        self.assertFalse(tried & IN_PLACE, "these are tried in its place")
        for candidate in beside:
            self.assertEqual(candidate["verdict"], "proved", candidate["steps"])
        # What is written is what is predicted to take least.
        timed = [c for c in kernel["candidates"] if c["microseconds"] is not None]
        best = chosen(kernel)
        self.assertEqual(best["microseconds"], min(c["microseconds"] for c in timed))
        self.assertEqual(best["steps"][0].split(":")[0], "retile")
        # A run says how often the loop of a tile goes round, and which banks lanes meet in.
        untimed = [c["reason"] for c in kernel["candidates"] if c["microseconds"] is None]
        self.assertEqual(untimed, ["the block is 256x1x1 already"])
        self.assertLessEqual(tried, {c["steps"][0].split(":")[0] for c in timed if c["steps"]})
        text = Path("out.ptx").read_text()
        self.assertTrue(text.startswith(Path(FILTER).read_text()))
        self.assertEqual(text.count(".entry"), 2)
        self.assertIn(f".entry {best['sibling']}(", text)
        check = run([PTXASW, "verify", FILTER, "out.ptx", "--runs", "3", "--search", "0"])
        self.assertNotEqual(check.returncode, 1, check.stdout + check.stderr)

    @unittest.skipUnless(cuda_home(), "no CUDA toolkit")
    def test_versions_that_do_not_fit_the_launch(self):
        os.environ["PATH"] = f"{cuda_home() / 'bin'}:{os.environ['PATH']}"
        at = ["--launch", "n=3000,k=64,block=3,grid=1000"]
        kernel = kernels(FILTER, "--metric", "time", "--gpu", "H100", *at)["filter"]
        (odd,) = [c for c in kernel["candidates"] if c["steps"] == ["vectorise:wide-x4"]]
        self.assertEqual((odd["verdict"], odd["microseconds"]), ("proved", None))

    def test_versions_beside_need_a_launch(self):
        for words in ([], ["--launch", "block=256"], ["--launch", "n=1024,k=64,block=256"]):
            kernel = kernels(FILTER, *words)["filter"]
            self.assertFalse([c for c in kernel["candidates"] if c["sibling"]], words)
            self.assertIsNone(kernel["candidates"][0]["all_warps"])
            said = run([PTXASW, "optimize", FILTER, *words])
            self.assertIn("Versions beside a kernel are compared at a launch", said.stderr)
        said = run([PTXASW, "optimize", FILTER, "--launch", "n=1024,k=64,block=256,grid=4"])
        self.assertNotIn("at a launch", said.stderr)

    def test_bounds_of_two_codes_are_not_compared(self):
        # Where lanes go depends on data, so that nothing can be counted, either.
        words = [PARTING, "--launch", "block=256,grid=64,base-align=256"]
        kernel = kernels(*words)["parting"]
        beside = {" + ".join(c["steps"]): c for c in kernel["candidates"] if c["sibling"]}
        self.assertIn("counts code that need not run", beside["vectorise:wide-x2"]["reason"])
        self.assertIn("a cycle with several entries", beside["retile:x8"]["reason"])
        self.assertEqual(beside["resize:b256"]["reason"], "the block is 256x1x1 already")
        self.assertFalse([c for c in kernel["candidates"] if c["counted"]])
        self.assertRegex(optimize(*words), r"(?m)^  \d+ of \d+ are not compared: .*; 2 not launched$")
        self.assertNotIn("registers:32", beside, "changes no bound")
        for name, c in beside.items():
            self.assertEqual(c["verdict"], "proved", name)
        # That of a version that counts like the kernel is compared, for twice as many warps of half the work.
        same = beside["resize:b128"]
        self.assertIsNone(same["reason"])
        self.assertEqual(int(same["all_warps"]), 512 * int(same["wsteps"]))

    def test_all_families_are_compared_at_a_launch(self):
        stencil = "threads=8192x4096,block=32x8,param_0=8192,param_1=4096,base-align=256"
        for file, at, families in (
            (FILTER, "n=16000,k=32,block=256,grid=64", {"ahead", "retile", "vectorise", "resize", "stage"}),
            (SAXPY, "p_n=16000,block=256,grid=64", {"retile"}),
            (JACOBI, stencil, {"shuffle", "retile", "vectorise", "resize"}),
        ):
            (kernel,) = kernels(file, "--launch", at).values()
            compared = [c for c in kernel["candidates"] if c["counted"]]
            self.assertLessEqual(families, {c["steps"][0].split(":")[0] for c in compared if c["steps"]}, file)
            self.assertEqual(int(chosen(kernel)["counted"]), min(int(c["counted"]) for c in compared))
            # No bound is below what runs.
            for c in compared:
                self.assertLessEqual(int(c["counted"]), int(c["all_warps"] or c["counted"]), (file, c["steps"]))
        self.assertIn("  1 of 23 are not compared: 1 not launched\n",
                      optimize(FILTER, "--launch", "n=16000,k=32,block=256,grid=64"))

    def test_counts_are_those_of_the_emulator(self):
        kernel = kernels(FILTER, "--launch", "n=1000,k=20,block=256,grid=4")["filter"]
        added = ["--retile", "x4", "--stage", "4k"]
        self.assertEqual(run([PTXASW, "siblings", FILTER, *added, "-o", "has.ptx"]).returncode, 0)
        buffers = "n=1000,k=20,block=256,x=zeros:8192,taps=zeros:256,y=zeros:8192"
        by_steps = {" + ".join(c["steps"]): c for c in kernel["candidates"]}
        for steps, grid in (("", 4), ("retile:x4", 1), ("stage:4k", 4)):
            one = by_steps[steps]
            name = one["sibling"] or "filter"
            at = f"grid={grid},{buffers}" + (f",{name}_grid=4" if steps.startswith("retile") else "")
            told = run([PTXASW, "emulate", "has.ptx", "--kernel", name, "--launch", at, "--count", "--check", "none"])
            self.assertEqual(told.returncode, 0, told.stderr)
            rows = {line.split()[0]: int(line.split()[-1]) for line in told.stdout.splitlines()
                    if line.split()[0] in ("sectors", "steps")}
            self.assertEqual(rows["steps"] + 4 * rows["sectors"], int(one["counted"]), steps)

    def test_shared_memory_of_the_launch(self):
        at = "n=1024,k=64,block=256,grid=4"
        (plain,) = [c for c in kernels(FILTER, "--launch", at)["filter"]["candidates"] if c["steps"] == ["stage:4k"]]
        (more,) = [c for c in kernels(FILTER, "--launch", at + ",shared=64")["filter"]["candidates"]
                   if c["steps"] == ["stage:4k"]]
        self.assertNotIn("shared memory", plain["reason"])
        self.assertIn("shared memory", more["reason"])

    def test_a_combination_beats_each_alone(self):
        kernel = kernels(PARTING, "--launch", "block=256,grid=64,base-align=256", "-o", "out.ptx")["parting"]
        best = chosen(kernel)
        self.assertEqual([step.split(":")[0] for step in best["steps"]], ["meld", "retile"])
        by_steps = {" + ".join(c["steps"]): c for c in kernel["candidates"]}
        alone = [by_steps[step] for step in best["steps"]]
        for one in (*alone, by_steps[""]):
            self.assertLess(int(best["all_warps"]), int(one["all_warps"]), one["steps"])
        self.assertIn("counts code that need not run", alone[1]["reason"])
        # Written is what became of the kernel, and the version of that behind it.
        text = Path("out.ptx").read_text()
        self.assertEqual(text.count(".entry"), 2)
        self.assertEqual(text.count("selp"), 5 * text.split(".entry")[1].count("selp"))
        check = run([PTXASW, "verify", PARTING, "out.ptx", "--runs", "3", "--search", "0"])
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        self.assertEqual(check.stdout.count(": agree on"), 2, check.stdout)

    def test_a_module_that_has_versions_gets_none(self):
        self.assertEqual(run([PTXASW, "siblings", PARTING, "--retile", "x4", "-o", "has.ptx"]).returncode, 0)
        at = ["--kernel", "parting", "--launch", "block=256,grid=64,base-align=256"]
        kernel = kernels("has.ptx", *at)["parting"]
        self.assertTrue(kernel["improved"])
        self.assertFalse([c for c in kernel["candidates"] if c["sibling"]])

    def test_bounds_of_all_warps_against_what_runs(self):
        at = "block=256,grid=64,base-align=256"
        kernel = kernels(PARTING, "--launch", at, "-o", "out.ptx")["parting"]
        best = chosen(kernel)
        buffers = "block=256,x=random:f32:16384,y=zeros:65536"
        for candidate, words in (
            (kernel["candidates"][0], [PARTING, "--kernel", "parting", "--launch", f"grid=64,{buffers}"]),
            (best, ["out.ptx", "--kernel", best["sibling"],
                    "--launch", f"grid=16,{buffers},{best['sibling']}_grid=64"]),
        ):
            told = run([PTXASW, "emulate", *words, "--count", "--check", "none"])
            rows = {line.split()[0]: int(line.split()[-1]) for line in told.stdout.splitlines()
                    if line.split()[0] in ("sectors", "steps")}
            counted = rows["steps"] + 4 * rows["sectors"]
            self.assertLessEqual(counted, int(candidate["all_warps"]))
            self.assertGreater(counted, 0.9 * int(candidate["all_warps"]))

    def test_further_families_in_place(self):
        kernel = kernels(COPPER, "--kernel", "rank", "--launch", "base-align=256,block=256")["rank"]
        tried = {step.split(":")[0] for c in kernel["candidates"] for step in c["steps"]}
        self.assertLessEqual({"promote", "carry", "shuffle"}, tried)
        for candidate in kernel["candidates"]:
            names = [step.split(":")[0] for step in candidate["steps"]]
            self.assertLessEqual(names.count("shuffle"), 1, "the whole kernel once")
        # What loads ahead leave to the loop as it was is no number of the launch: no bound.
        dmvm = kernels(COPPER, "--kernel", "dmvm")["dmvm"]
        ahead = [c for c in dmvm["candidates"] if c["steps"] and c["steps"][-1].startswith("ahead")]
        self.assertTrue(ahead)
        for candidate in ahead:
            self.assertEqual((candidate["verdict"], candidate["wsteps"]), ("proved", None))

    def test_conditions_at_the_sizes(self):
        # The bound holds for counts that are not negative: below, the loop runs 2^32 - 1 rounds.
        Path("count.ptx").write_text(""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n)
{
  .reg .pred %p1;
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 0;
L:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r1;
  @%p1 bra L;
  ret;
}
""")
        original = kernels("count.ptx", "--launch", "n=5,block=32,grid=1")["k"]["candidates"][0]
        self.assertEqual((original["wsteps"], original["reason"]), ("18", None))
        for number in (-1, 4294967295):
            at = ["--launch", f"n={number},block=32,grid=1"]
            kernel = kernels("count.ptx", *at, code=3)["k"]
            original = kernel["candidates"][0]
            self.assertFalse(kernel["improved"])
            self.assertEqual((original["wsteps"], original["divwarps"]), (None, None))
            self.assertEqual(original["reason"], "it holds only if 0 <= n")
            self.assertIn("wsteps no bound there: it holds only if 0 <= n", optimize("count.ptx", *at, code=3))

    def test_budget(self):
        kernel = kernels(BRANCHES, "--kernel", "synBrdis", "--budget", "0.000001s", code=3)["synBrdis"]
        self.assertTrue(kernel["budget_spent"])
        self.assertEqual(len(kernel["candidates"]), 1)

    def test_errors(self):
        for words, code, message in (
            ([BRANCHES, "--budget", "soon"], 2, "--budget `soon`"),
            ([BRANCHES, "--budget", "-1s"], 2, "--budget `-1s`"),
            ([BRANCHES, "--metric", "speed"], 2, "speed not in {wsteps,time}"),
            ([BRANCHES, "--metric", "time"], 2, "needs --launch"),
            ([BRANCHES, "--launch", "base-align=3"], 2, "power of two"),
            ([BRANCHES, "--launch", "n"], 2, "NAME=NUMBER"),
            ([BRANCHES, "--kernel", "synBrdis", "--launch", "block=32,grid=1"], 2, "--launch says nothing of"),
            ([BRANCHES, "--launch", "param_9=4"], 2, "no kernel has a parameter `param_9`"),
            ([BRANCHES, "--launch", "param_1=4294967296"], 2, "a number from -2147483648 to 4294967295"),
            ([BRANCHES, "--kernel", "nobody"], 2, "nobody"),
            (["no-such.ptx"], 2, "no-such.ptx"),
        ):
            result = run([PTXASW, "optimize", *words])
            self.assertEqual(result.returncode, code, (words, result.stderr))
            self.assertIn(message, result.stderr)

    def test_empty_module(self):
        Path("empty.ptx").write_text(".version 7.0\n.target sm_70\n.address_size 64\n")
        self.assertEqual(optimize("empty.ptx", "-o", "out.ptx"), "")
        self.assertEqual(Path("out.ptx").read_bytes(), Path("empty.ptx").read_bytes())


if __name__ == "__main__":
    main()
