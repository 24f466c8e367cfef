"""The whole path from CUDA source, or bundled PTX, to counts, cubins, archive and overhead."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

import common
from bench import build, counts, table


def tool(name, *arguments):
    command = [
        sys.executable,
        "-B",
        common.BENCH / name,
        "--ptxasw",
        os.environ["PTXASW"],
        *arguments,
    ]
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


needs_toolkit = unittest.skipIf(build.find_toolkit_program("nvcc") is None, "no CUDA toolkit")


class Counts(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_suite(self, *arguments):
        return tool(
            "run",
            "--no-gpu",
            "--runner",
            common.runner(),
            "--work",
            self.folder / "sm_90",
            *arguments,
        )

    def test_every_kernel_gives_the_numbers_of_the_table(self):
        """They are the published ones, or the table says why not."""
        done = self.run_suite(
            "--no-gcc", "--bundled", "--variant", "full", "--variant", "full-no-alias"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        kernels = json.loads((self.folder / "sm_90" / "manifest.json").read_text())["static"][
            "kernels"
        ]
        self.assertGreaterEqual(len(kernels), 32)
        for name, kernel in kernels.items():
            with self.subTest(kernel=name):
                full = kernel["variants"]["full"]
                self.assertEqual(counts.differences(kernel, full), [])
                self.assertIn(f"\n{name} ", done.stdout)

    def test_the_plain_suite_gives_the_numbers_of_its_table(self):
        done = self.run_suite(
            "--no-gcc", "--bundled", "--variant", "full", "--table", common.BENCH / "plain.toml"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        manifest = json.loads((self.folder / "sm_90" / "manifest.json").read_text())
        for name, kernel in manifest["static"]["kernels"].items():
            with self.subTest(kernel=name):
                self.assertEqual(counts.differences(kernel, kernel["variants"]["full"]), [])

    @needs_toolkit
    def test_bundled_ptx_is_what_nvcc_makes(self):
        """After a change to a source: nvcc -ptx -arch=sm_90 suite/NAME.cu -o suite/NAME.ptx, or cuda/NAME.cu
        to ptx/NAME.ptx"""
        builder = build.Builder(self.folder, build.BUNDLED_TARGET, os.environ["PTXASW"])
        bundled = build.Builder(
            self.folder, build.BUNDLED_TARGET, os.environ["PTXASW"], bundled=True
        )
        if builder.versions()["nvcc"] != bundled.versions()["nvcc"]:
            self.skipTest("another nvcc")
        plain = table.Table(common.BENCH / "plain.toml")
        for kernel in table.Table().kernels + plain.kernels:
            builder.ptx(kernel.source, self.folder / "fresh.ptx")
            bundled_text = build.bundled_ptx(kernel.source).read_text()
            same = (self.folder / "fresh.ptx").read_text() == bundled_text
            self.assertTrue(same, kernel.source)

    @needs_toolkit
    def test_the_archive_has_all_that_a_gpu_machine_needs(self):
        done = self.run_suite(
            "--no-gcc",
            "--kernel",
            "jacobi",
            "--kernel",
            "vecadd",
            "--archive",
            self.folder / "a.tar.gz",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        with tarfile.open(self.folder / "a.tar.gz") as tar:
            names = set(tar.getnames())
            tar.extractall(self.folder)
        self.assertLessEqual(
            {
                f"kernelgen/{name}"
                for name in (
                    "runner",
                    "profile.sh",
                    "manifest.json",
                    "tools.cubin",
                    "jacobi.no-corner.cubin",
                )
            },
            names,
        )
        # vecadd has nothing to rewrite: its variants are the original and are not packed again.
        self.assertNotIn("kernelgen/vecadd.full.cubin", names)
        listed = subprocess.run(
            [self.folder / "kernelgen" / "runner", "--list"], capture_output=True, text=True
        )
        self.assertIn("jacobi", listed.stdout)
        self.assertIn("no-corner (invalid results)", listed.stdout)

    def test_openacc_through_gcc(self):
        if not build.find_gcc():
            self.skipTest("no GCC with an NVIDIA back end")
        done = self.run_suite("--kernel", "jacobi", "--variant", "full")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("GCC OpenACC", done.stdout)

    @needs_toolkit
    def test_a_gpu_run_hands_its_options_to_the_runner(self):
        runner = self.folder / "runner"
        runner.write_text(
            f'#!/bin/sh\n[ "$1" = --target ] && echo sm_90 && exit\necho "$@" > {self.folder}/log\nexit 1\n'
        )
        runner.chmod(0o755)
        options = [
            "--quick",
            "--size",
            "check",
            "--launches",
            "7",
            "--out",
            "r.json",
            "--block",
            "64x2",
            "--block",
            "32x4",
        ]
        done = tool(
            "run",
            "--runner",
            runner,
            "--work",
            self.folder / "w",
            "--no-gcc",
            "--kernel",
            "vecadd",
            *options,
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(
            (self.folder / "log").read_text(),
            f"{self.folder}/w/manifest.json {' '.join(options)}\n",
        )

    def test_list_and_usage(self):
        self.assertIn("paper=512x1024x1024", self.run_suite("--list").stdout)
        done = self.run_suite("--kernel", "jacoby")
        self.assertEqual(
            (done.returncode, done.stderr), (1, "run: there is no kernel 'jacoby'; see --list\n")
        )

    def test_reuse(self):
        done = tool("reuse", "--kernel", "jacobi", "--kernel", "blur_columns", "--kernel", "heat3d")
        self.assertEqual(done.returncode, 0, done.stderr)
        # A row of 512 reads two columns more than it has points, a block of 32x16 an edge all around.
        self.assertIn("| jacobi | 9 | 9 | 3 | 3 | - | 3.01 | 3.05 | 1.20 | 1 | 0 |", done.stdout)
        self.assertIn("| blur_columns | 9 | 9 | 9 | 1 | - | 9.00 | 9.00 | 1.50 | 1 |", done.stdout)
        self.assertIn("| heat3d | 7 | 7 | 5 | 5 | - |", done.stdout)

    @needs_toolkit
    def test_overhead(self):
        if not shutil.which("hyperfine"):
            self.skipTest("no hyperfine")
        done = tool(
            "overhead",
            "--kernel",
            "vecadd",
            "--rounds",
            2,
            "--work",
            self.folder,
            "--json",
            self.folder / "o.json",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| vecadd |", done.stdout)
        numbers = json.loads((self.folder / "o.json").read_text())["modules"]["vecadd"]
        commands = {"ptxas", "auto", "always", "rewritten"}
        for clock in ("wall_seconds", "processor_seconds"):
            self.assertEqual(set(numbers[clock]), commands)
            self.assertTrue(all(len(samples) == 2 for samples in numbers[clock].values()))
        self.assertGreater(numbers["peak_kib"]["ptxas"], 0)
        self.assertIn("| always, to ptxas on the rewrite |", done.stdout)


if not pathlib.Path(os.environ["PTXASW"]).exists():
    print("skipped: ptxasw is not built")
    sys.exit(common.SKIPPED)
common.main()
