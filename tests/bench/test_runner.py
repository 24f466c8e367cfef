"""The runner's options, checks, results and manners, under the fake driver."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

import common
from bench import table


class Runner(common.RunnerCase):
    def suite(self, kernels=("jacobi", "vecadd"), variants=("full", "no-load")):
        suite = table.Table()
        suite.select(list(kernels), list(variants))
        return suite

    def standard(self):
        # `full` is the OpenACC build of the same formula: another function with the same bits.
        return self.manifest(self.suite(), {"original": "cuda", "full": "acc", "no-load": "cuda"})

    def run_small(self, manifest, *arguments, **extra):
        out = ["--out", self.folder / "results.json"]
        return common.run_runner(
            manifest, "--size", "check", "--block", "128x1", *out, *arguments, **extra
        )

    def test_results(self):
        done = self.run_small(self.standard(), "--launches", 4)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        results = self.results()
        self.assertTrue(results["complete"])
        self.assertEqual(results["device"]["name"], "Fake GPU")
        self.assertGreater(results["copy_gigabytes_per_second"], 0)
        case = results["cases"][0]
        self.assertEqual(
            (case["kernel"], case["extents"], case["block"]), ("jacobi", [150, 71, 1], [128, 1])
        )
        self.assertEqual(case["grid"], [2, 69, 1])
        self.assertEqual(case["compulsory_bytes"], 2 * 150 * 71 * 4)
        # Four times the L2 of 64 KiB, in sets of two buffers.
        self.assertEqual(case["buffer_sets"], 4)
        original, full, no_load = case["variants"]
        self.assertEqual(len(original["samples_ms"]), 4)
        self.assertLessEqual(original["minimum_ms"], original["median_ms"])
        self.assertAlmostEqual(full["speedup"], original["median_ms"] / full["median_ms"])
        self.assertEqual(full["words_different_without_contraction"], 0)
        self.assertEqual(full["words_different_as_timed"], 0)
        self.assertEqual(full["occupancy"], 1.0)
        self.assertAlmostEqual(
            full["fraction_of_copy"],
            full["compulsory_gigabytes_per_second"] / results["copy_gigabytes_per_second"],
        )
        self.assertNotIn("words_different_without_contraction", no_load)
        self.assertNotIn("reference_error", no_load)
        self.assertLess(original["reference_error"], 1e-5)
        self.assertLess(full["reference_error"], 1e-5)

    def test_a_wrong_variant_fails_the_run(self):
        done = self.run_small(self.standard(), "--launches", 1, FAKE_DRIVER_BREAK="acc")
        self.assertEqual(done.returncode, 1)
        self.assertIn("WORDS DIFFER", done.stdout)
        full = self.results()["cases"][0]["variants"][1]
        self.assertGreater(full["words_different_without_contraction"], 0)
        self.assertGreater(full["reference_error"], 1e-3)
        self.assertIn("WRONG against the reference", done.stdout)

    def test_a_variant_that_rounds_otherwise_as_timed_is_reported(self):
        languages = {"original": "cuda", "full": "acc", "no-load": "cuda"}
        manifest = self.manifest(self.suite(), languages, {"original": "cuda", "full": "cuda"})
        done = self.run_small(manifest, "--launches", 1, FAKE_DRIVER_ROUND="acc")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("same bits (1 differ by contraction)", done.stdout)
        full = self.results()["cases"][0]["variants"][1]
        self.assertEqual(full["words_different_without_contraction"], 0)
        self.assertEqual(full["words_different_as_timed"], 1)

    def test_a_variant_that_rounds_otherwise_without_contraction_fails(self):
        done = self.run_small(self.standard(), "--launches", 1, FAKE_DRIVER_ROUND="acc")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 WORDS DIFFER", done.stdout)

    def test_a_variant_that_cannot_be_compared_fails(self):
        languages = {"original": "cuda", "full": "acc"}
        manifest = self.manifest(self.suite(), languages, {"original": "cuda"})
        done = self.run_small(manifest, "--launches", 1)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no image without contraction", done.stdout)
        self.assertEqual(self.run_small(manifest, "--launches", 1, "--no-check").returncode, 0)

    def test_a_wrong_variant_is_found_at_the_full_size_too(self):
        done = self.run_small(
            self.standard(), "--launches", 1, FAKE_DRIVER_BREAK="acc", FAKE_DRIVER_ROOMY="1"
        )
        self.assertEqual(done.returncode, 1)
        # One word at the small size, one at the plan's.
        full = self.results()["cases"][0]["variants"][1]
        self.assertEqual(full["words_different_without_contraction"], 2)
        self.assertEqual(full["words_different_as_timed"], 2)

    def test_a_wrong_original_fails_the_run(self):
        done = self.run_small(self.standard(), "--launches", 1, FAKE_DRIVER_BREAK="cuda")
        self.assertEqual(done.returncode, 1)
        self.assertIn("WRONG against the reference", done.stdout)

    def test_invalid_variants_are_not_compared(self):
        manifest = self.manifest(self.suite(), {"original": "cuda", "no-load": "acc"})
        done = self.run_small(manifest, "--launches", 1, FAKE_DRIVER_BREAK="acc")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_no_check(self):
        done = self.run_small(
            self.standard(), "--launches", 1, "--no-check", FAKE_DRIVER_BREAK="acc"
        )
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("reference_error", self.results()["cases"][0]["variants"][0])

    def test_an_image_that_does_not_load_is_reported(self):
        manifest = self.standard()
        (self.folder / "acc.image").write_text("nonsense")
        done = self.run_small(manifest, "--launches", 1)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cuModuleLoadData: device kernel image is invalid", done.stdout)
        self.assertEqual(len(self.results()["cases"][0]["variants"][2]["samples_ms"]), 1)

    def test_selection(self):
        done = self.run_small(
            self.standard(), "--launches", 1, "--kernel", "vecadd", "--variant", "full"
        )
        self.assertEqual(done.returncode, 0)
        (case,) = self.results()["cases"]
        self.assertEqual(case["kernel"], "vecadd")
        self.assertEqual([variant["name"] for variant in case["variants"]], ["original", "full"])

    def test_quick(self):
        manifest = self.manifest(self.suite(["fir"], ["full"]), {"original": "cuda"})
        # The named size would take long on a host; everything else of --quick is there.
        done = common.run_runner(
            manifest, "--quick", "--size", "2000", "--out", self.folder / "results.json"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        results = self.results()
        self.assertEqual((results["launches"], results["size"]), (5, "2000"))
        self.assertEqual([case["block"] for case in results["cases"]], [[512, 1]])

    def test_one_axis_takes_flat_blocks_once(self):
        manifest = self.manifest(self.suite(["fir"], ["full"]), {"original": "cuda"})
        done = common.run_runner(
            manifest, "--size", "check", "--launches", 1, "--out", self.folder / "results.json"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([case["block"] for case in self.results()["cases"]], [[512, 1], [128, 1]])

    def test_list(self):
        done = common.run_runner(self.standard(), "--list")
        self.assertEqual(done.returncode, 0)
        self.assertIn("variants: original full no-load (invalid results)\n", done.stdout)
        self.assertIn("paper=32768x32768", done.stdout)

    def test_target(self):
        self.assertEqual(common.run_runner("--target").stdout, "sm_90\n")

    def test_profile_launches_and_writes_nothing(self):
        done = self.run_small(self.standard(), "--profile", "--variant", "full")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((self.folder / "results.json").exists())

    def test_profile_script(self):
        """profile.sh, with a profiler that only runs its program and notes the options."""
        self.standard()
        shutil.copy(common.runner(), self.folder / "runner")
        shutil.copy(common.BENCH / "profile.sh", self.folder / "profile.sh")
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "ncu").write_text(
            '#!/bin/sh\nif [ "$1" = --query-metrics ]; then echo "dram__bytes_read  Counter"; exit; fi\n'
            'for word; do [ "$word" = --metrics ] && take=1 && continue; [ "$take" ] && metrics=$word && take=; done\n'
            'for word; do shift; [ "$word" = --log-file ] && log=$1; [ "$word" = ./runner ] && break; done\n'
            'echo "$metrics" "$@" > "$log"\nexec ./runner "$@"\n'
        )
        (tools / "ncu").chmod(0o755)
        environment = common.environment(PATH=f"{tools}:{os.environ['PATH']}")
        command = ["./profile.sh", "--kernel", "vecadd", "--size", "check"]
        done = subprocess.run(
            command, env=environment, cwd=self.folder, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("no counter smsp__inst_executed.sum here", done.stdout)
        self.assertEqual(
            (self.folder / "profile" / "options").read_text(),
            "--block 512x1 --kernel vecadd --size check\n",
        )
        notes = {path.stem: path.read_text() for path in (self.folder / "profile").glob("*.csv")}
        self.assertEqual(set(notes), {"original", "full", "no-load"})
        self.assertEqual(
            notes["full"],
            "launch__registers_per_thread,dram__bytes_read.sum "
            "--profile --block 512x1 --variant full --kernel vecadd --size check\n",
        )

    def test_scripts_name_a_missing_tool(self):
        for script, tool in (("profile.sh", "ncu"), ("sanitize.sh", "compute-sanitizer")):
            shutil.copy(common.BENCH / script, self.folder / script)
            (self.folder / "bin").mkdir(exist_ok=True)
            for name in ("sh", "dirname", "env"):
                if not (self.folder / "bin" / name).exists():
                    (self.folder / "bin" / name).symlink_to(shutil.which(name))
            done = subprocess.run(
                [self.folder / script],
                env={"PATH": str(self.folder / "bin")},
                capture_output=True,
                text=True,
            )
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{script}: {tool} ", done.stderr)
            self.assertIn("is not on PATH", done.stderr)

    def test_sanitize_script(self):
        """sanitize.sh, with a sanitizer that finds something in one of its tools."""
        self.manifest(
            self.suite(variants=["full", "full-no-alias"]), {"original": "cuda", "full": "acc"}
        )
        shutil.copy(common.runner(), self.folder / "runner")
        shutil.copy(common.BENCH / "sanitize.sh", self.folder / "sanitize.sh")
        tools = self.folder / "tools"
        tools.mkdir()
        sanitizer = tools / "compute-sanitizer"
        environment = common.environment(PATH=f"{tools}:{os.environ['PATH']}")
        for found, code in (("none", 0), ("synccheck", 1)):
            sanitizer.write_text(
                '#!/bin/sh\ntool=$2; shift 4; "$@" || exit 1\n'
                f'if [ "$tool" = {found} ]; then echo "========= ERROR SUMMARY: 1 error"; exit 9; fi\n'
                'echo "========= ERROR SUMMARY: 0 errors"\n'
            )
            sanitizer.chmod(0o755)
            done = subprocess.run(
                ["./sanitize.sh", "--kernel", "vecadd"],
                env=environment,
                cwd=self.folder,
                capture_output=True,
                text=True,
            )
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            self.assertIn("memcheck 512x1: ERROR SUMMARY: 0 errors, exit code 0", done.stdout)
            self.assertEqual(
                "synccheck 32x16: ERROR SUMMARY: 1 error, exit code 9" in done.stdout, code == 1
            )

    def test_default_results_file(self):
        manifest = self.standard()
        done = subprocess.run(
            [common.runner(), manifest, "--size", "check", "--launches", "1", "--block", "128x1"],
            env=common.environment(),
            cwd=self.folder,
            capture_output=True,
        )
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(list((self.folder / "results" / "fake-gpu").glob("*.json"))), 1)

    def test_usage_errors(self):
        manifest = self.standard()
        for arguments in (
            ["--kernel", "jacoby"],
            ["--variant", "fuller"],
            ["--block", "512"],
            ["--launches", "-1"],
            ["--nonsense"],
        ):
            with self.subTest(arguments=arguments):
                self.assertEqual(common.run_runner(manifest, *arguments).returncode, 2)
        for size in ("enormous", "12", "4x4x4x4", "12xx"):
            with self.subTest(size=size):
                self.assertEqual(common.run_runner(manifest, "--size", size).returncode, 1)

    def test_no_device(self):
        done = self.run_small(self.standard(), FAKE_DRIVER_NO_DEVICE="1")
        self.assertEqual(done.returncode, 3)
        self.assertIn("no device", done.stderr)

    def test_no_driver(self):
        if pathlib.Path("/dev/nvidia0").exists():
            self.skipTest("this machine has a driver")
        done = subprocess.run([common.runner(), self.standard()], capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertIn("no CUDA driver", done.stderr)

    def test_a_broken_manifest(self):
        path = self.folder / "manifest.json"
        for text in ("", "{", "{}", '{"target": 5}'):
            path.write_text(text)
            done = common.run_runner(path, "--list")
            self.assertEqual(done.returncode, 1)
            self.assertIn("manifest.json", done.stderr)

    def test_an_interrupt_keeps_what_was_measured(self):
        out = self.folder / "results.json"
        mark = self.folder / "launched"
        command = [
            common.runner(),
            self.standard(),
            "--size",
            "check",
            "--block",
            "128x1",
            "--launches",
            "100000",
        ]
        process = subprocess.Popen(
            [*map(str, command), "--out", str(out)],
            env=common.environment(FAKE_MARK=str(mark)),
            stderr=subprocess.PIPE,
            text=True,
        )
        process.stderr.readline()  # the first case has begun
        while not mark.exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        results = self.results()
        self.assertFalse(results["complete"])
        self.assertGreater(len(results["cases"][0]["variants"][0]["samples_ms"]), 0)


common.main()
