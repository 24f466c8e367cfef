"""The report: counts, counters, tables, page and figures, from results made up here."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import common
from bench import build, counters, counts, text


def facts(loads, shuffles, copies=0, delta=1.5, **more):
    return {
        "loads": loads,
        "shuffles": shuffles,
        "copies": copies,
        "mean_delta": delta,
        "analysis_ms": 2.0,
        **more,
    }


def variant(name, median, **more):
    return {
        "name": name,
        "registers": 24,
        "occupancy": 0.75,
        "median_ms": median,
        "first_quartile_ms": median * 0.99,
        "third_quartile_ms": median * 1.02,
        "speedup": 4.0 / median,
        "compulsory_gigabytes_per_second": 2000.0,
        "samples_ms": [median],
        **more,
    }


def results():
    """One kernel with a published row, one whose `full` came out like the original."""
    published = {"loads": 9, "covered": 6, "delta": 1.5, "analysis": 4.119, "speedup": {"Maxwell": 0.869}}
    return {
        "date": "2026-01-01T00:00:00Z",
        "complete": True,
        "device": {"name": "Fake GPU", "driver_version": 13000},
        "target": "sm_90",
        "size": "paper",
        "launches": 20,
        "copy_gigabytes_per_second": 4000.0,
        "static": {
            "versions": {"nvcc": "13.0", "ptxasw": "ptxasw 0.1"},
            "kernels": {
                "jacobi": {
                    "group": "kernelgen",
                    "entry": "jacobi",
                    "published": published,
                    "expect": None,
                    "variants": {"original": {}, "full": facts(9, 6)},
                    "gcc": facts(0, 0, delta=None, generic_loads=14),
                },
                "vecadd": {
                    "group": "kernelgen",
                    "entry": "vecadd",
                    "published": {"loads": 2, "covered": 0, "analysis": 3.281},
                    "expect": None,
                    "variants": {
                        "original": {},
                        "full": facts(2, 0, delta=None, same_as="original"),
                    },
                },
            },
        },
        "cases": [
            {
                "kernel": "jacobi",
                "block": [512, 1],
                "variants": [
                    variant("original", 4.0, reference_error=1e-7),
                    variant(
                        "full",
                        5.0,
                        words_different_without_contraction=0,
                        words_different_as_timed=3,
                        reference_error=2e-7,
                    ),
                ],
            },
            {"kernel": "vecadd", "block": [512, 1], "variants": [variant("original", 4.0)]},
        ],
    }


NCU = """==PROF== Connected to process 1
"ID","Kernel Name","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",\
"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio","smsp__inst_executed.sum","launch__thread_count",\
"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio"
"","","","","inst","",""
"0","jacobi(int, int)","3.0","1.0","1,234,567","64","1.0"
"1","vecadd","1.0","0","","64","1.0"
"""


class MachineCode(unittest.TestCase):
    """What two versions of a kernel are the same by."""

    def test_only_instructions_count(self):
        ptxas = build.find_toolkit_program("ptxas")
        if not ptxas:
            self.skipTest("no ptxas")
        with tempfile.TemporaryDirectory() as folder:
            source = build.bundled_ptx(pathlib.Path("jacobi.cu"))

            def code(name, limit):
                cubin = pathlib.Path(folder) / name
                target = f"-arch={build.BUNDLED_TARGET}"
                build.run_tool([ptxas, target, f"-maxrregcount={limit}", source, "-o", cubin])
                return cubin.read_bytes(), build.machine_code(cubin)

            (bytes_a, a), (bytes_b, b), (_, c) = code("a", 200), code("b", 255), code("c", 16)
            self.assertNotEqual(bytes_a, bytes_b)
            self.assertEqual(list(a), [".text.jacobi"])
            self.assertEqual(a, b)
            self.assertNotEqual(a, c)


class Counts(unittest.TestCase):
    def test_what_differs_is_said(self):
        wanted = {"expect": {"loads": 9, "covered": 6, "delta": 1.5}}
        self.assertEqual(counts.differences(wanted, facts(9, 6)), [])
        self.assertEqual(counts.differences(wanted, facts(9, 5, 1)), [])
        self.assertEqual(counts.differences(wanted, facts(9, 5)), ["covered 5, expected 6"])
        self.assertEqual(
            counts.differences(wanted, facts(8, 6, delta=1.0)),
            ["loads 8, expected 9", "delta 1.00, expected 1.5"],
        )

    def test_what_was_published_may_be_surpassed(self):
        wanted = {"published": {"loads": 9, "covered": 6, "delta": 1.5}}
        self.assertEqual(counts.differences(wanted, facts(9, 7, delta=1.0)), [])
        self.assertEqual(counts.differences(wanted, facts(9, 5)), ["covered 5, expected 6"])
        self.assertEqual(
            counts.differences(wanted, facts(8, 6, delta=2.0)),
            ["loads 8, expected 9", "delta 2.00, expected 1.5"],
        )

    def test_a_row_is_never_made_of_published_numbers(self):
        static = results()["static"]["kernels"]
        static["jacobi"]["variants"] = {"original": {}}
        (row,) = [row for row in counts.rows(static, "kernelgen") if row[0] == "jacobi"]
        self.assertEqual((row[1], row[2]), ("-", "6/9"))
        self.assertIn("not built", row[-1])

    def test_what_the_published_source_gives_stands_beside(self):
        static = results()["static"]["kernels"]
        static["jacobi"]["published"] |= {"source": "jacobi", "on_source": {"loads": 11, "covered": 8}}
        (row,) = [row for row in counts.rows(static, "kernelgen") if row[0] == "jacobi"]
        self.assertEqual((row[2], row[-1]), ("after 6/9", "of the published source 8/11"))
        static["jacobi"]["published"]["covered"] = 7
        (row,) = [row for row in counts.rows(static, "kernelgen") if row[0] == "jacobi"]
        self.assertEqual(row[-1], "(covered 6, expected 7); of the published source 8/11")

    def test_summary_adds_up_modules(self):
        kernel = {
            "loads": 9, "shuffles": 3, "copies": 1, "mean_delta": 1.5, "undecided_branches": 2,
            "milliseconds": {"emulate": 1.0, "detect": 0.5}, "kept": [{"reason": "no-source"}, {"reason": "no-source"}],
        }  # fmt: skip
        module = {"parse_milliseconds": 0.25, "kernels": [kernel]}
        self.assertEqual(build.summary(module)["analysis_ms"], 1.75)
        both = build.summary({"modules": [module, module]})
        self.assertEqual(
            (both["loads"], both["shuffles"], both["copies"], both["mean_delta"]), (18, 6, 2, 1.5)
        )
        self.assertEqual(both["kept"], {"no-source": 4})


class Text(unittest.TestCase):
    def test_tables(self):
        self.assertEqual(
            text.markdown(["a", "b"], [["x", "1"]]), "| a | b |\n|---|---:|\n| x | 1 |"
        )
        self.assertEqual(text.aligned(["a", "b"], [["long", "1"]]).splitlines()[2], "long  1")

    def test_times(self):
        self.assertEqual(
            (text.seconds(None), text.seconds(0.00175), text.seconds(4.119)),
            ("-", "1.75 ms", "4.119 s"),
        )


class Report(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "run.json").write_text(json.dumps(results()))
        (self.folder / "ncu").mkdir()
        for name in ("original", "full"):
            (self.folder / "ncu" / f"{name}.csv").write_text(NCU)
        (self.folder / "ncu" / "options").write_text("--block 512x1 --size quick\n")

    def report(self, *arguments):
        command = [sys.executable, "-B", common.BENCH / "report", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.folder)

    def test_counters(self):
        folder = counters.read_folder(self.folder / "ncu")
        self.assertEqual(set(folder), {"original", "full"})
        jacobi = folder["full"]["jacobi"]
        self.assertEqual(jacobi["smsp__inst_executed.sum"], 1234567)
        self.assertEqual(counters.stalls(jacobi), {"long_scoreboard": 0.75, "wait": 0.25})

    def test_page(self):
        done = self.report("run.json", "--ncu", "ncu", "--no-plots")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "run.md").read_text()
        self.assertIn("| jacobi | 6/9 | 6/9 |", page)
        self.assertIn("| jacobi | 512x1 | Fake | 4 ms | 3.96 to 4.08 | 50 % | 0.800 |", page)
        self.assertIn("| vecadd | 512x1 | Fake | 4 ms | 3.96 to 4.08 | 50 % | 1.000 = |", page)
        self.assertIn("| jacobi | - | 0.869 | - | - | 0.800 |", page)  # Maxwell's, then ours
        self.assertIn("| jacobi | 6/9 | 0/0 | 14 |", page)
        self.assertIn("1 runs did and 0 did not", page)
        self.assertIn("| jacobi | full | Fake | 6.173e+05 |", page)  # a warp, of two
        self.assertIn("Fake: `--block 512x1 --size quick`", page)
        self.assertIn("| jacobi | full | 512x1 | 3 | 1.0e-07 | 2.0e-07 |", page)
        kept = self.folder / "counters.json"
        kept.rename(self.folder / "kept.json")
        self.assertEqual(self.report("run.json", "--ncu", "kept.json", "--no-plots").returncode, 0)
        self.assertEqual((self.folder / "run.md").read_text(), page)

    def test_two_gpus(self):
        other = results()
        other["device"]["name"] = "NVIDIA H100 80GB HBM3"
        (self.folder / "other.json").write_text(json.dumps(other))
        done = self.report("run.json", "other.json", "--ncu", "ncu", "--ncu", "ncu", "--no-plots")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "kernelgen.md").read_text()
        self.assertIn("# KernelGen on Fake GPU and NVIDIA H100 80GB HBM3\n", page)
        rows = [line.split(" | ")[:3] for line in page.splitlines() if line.startswith("| jacobi | 512x1")]
        self.assertEqual([row[2] for row in rows], ["Fake", "H100"])
        self.assertIn("| jacobi | - | 0.869 | - | - | 0.800 | 0.800 |", page)
        self.assertTrue((self.folder / "counters-h100.json").exists())
        self.assertEqual(self.report("run.json", *["--ncu", "ncu"] * 2).returncode, 1)

    def test_without_matplotlib_there_is_a_page_without_plots(self):
        (self.folder / "hide" / "matplotlib").mkdir(parents=True)
        (self.folder / "hide" / "sitecustomize.py").write_text(
            "import importlib.util as u\nfind = u.find_spec\n"
            "u.find_spec = lambda name, *a: None if name == 'matplotlib' else find(name, *a)\n"
        )
        done = subprocess.run(
            [sys.executable, "-B", common.BENCH / "report", "run.json"],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder / "hide")},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no matplotlib", done.stderr)
        self.assertTrue((self.folder / "run.md").exists())
        self.assertFalse((self.folder / "figure2.svg").exists())

    def test_failures_are_on_the_page(self):
        broken = results()
        broken["complete"] = False
        broken["cases"][0]["variants"][1]["words_different_without_contraction"] = 7
        broken["cases"][1]["variants"][0] = {"name": "original", "error": "cuModuleLoadData: no"}
        (self.folder / "run.json").write_text(json.dumps(broken))
        self.assertEqual(self.report("run.json", "--no-plots").returncode, 0)
        page = (self.folder / "run.md").read_text()
        self.assertIn("interrupted", page)
        self.assertIn("jacobi full 512x1: 7 words differ", page)
        self.assertIn("vecadd original 512x1: cuModuleLoadData: no", page)

    def test_figures(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("no matplotlib")
        done = self.report("run.json", "--ncu", "ncu", "--out", "figures")
        self.assertEqual(done.returncode, 0, done.stderr)
        made = {path.name for path in (self.folder / "figures").iterdir()}
        self.assertEqual(
            made,
            {
                *("figure2.svg", "figure2.png", "figure3.svg", "figure3.png"),
                *("figure2-published.svg", "figure2-published.png"),
                *("counters.json", "run.md"),
            },
        )
        self.assertIn("![figure2](figure2.svg)", (self.folder / "figures" / "run.md").read_text())

    def test_figures_say_what_they_show(self):
        """GPU and size in the titles, and the bars of figure 3 in the order of figure 2's."""
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("no matplotlib")
        run = results()
        for variants in (run["cases"][0]["variants"], run["static"]["kernels"]["jacobi"]["variants"]):
            variants.append(variant("no-load", 3.0)) if isinstance(variants, list) else variants.update({"no-load": facts(9, 6)})
        (self.folder / "run.json").write_text(json.dumps(run))
        (self.folder / "ncu" / "no-load.csv").write_text(NCU)
        plots = ("--plot", "no-load", "--plot", "full")
        done = self.report("run.json", "--ncu", "ncu", "--out", "figures", *plots)
        self.assertEqual(done.returncode, 0, done.stderr)

        def texts(name):
            """What a figure says: matplotlib repeats its texts in comments."""
            return re.findall("<!-- (.*) -->", (self.folder / "figures" / name).read_text())

        second, third, beside = (texts(f"{name}.svg") for name in ("figure2", "figure3", "figure2-published"))
        self.assertIn("Fake GPU, size paper: speed-up over the original (no-load: invalid results)", second)
        self.assertIn("Fake GPU, block 512x1, size quick: stall reasons", third)
        bars = ("original", "no-load", "full")
        self.assertEqual([text for text in second if text in bars], list(bars))
        self.assertEqual([text for text in third if text in bars][:3], list(bars))
        self.assertNotIn("selected", third)
        first = {path.name: path.read_bytes() for path in (self.folder / "figures").glob("*.svg")}
        self.report("run.json", "--ncu", "ncu", "--out", "figures", *plots)
        self.assertEqual({path.name: path.read_bytes() for path in (self.folder / "figures").glob("*.svg")}, first)
        self.assertEqual([text for text in beside if "," in text and "Speed-up" not in text],
                         ["Kepler, published", "Maxwell, published", "Pascal, published", "Volta, published", "Fake, ours"])

    def test_what_is_no_result_is_refused(self):
        (self.folder / "other.json").write_text("{}")
        for name in ("other.json", "absent.json"):
            done = self.report(name, "--no-plots")
            self.assertEqual(done.returncode, 1)
            self.assertTrue(done.stderr.startswith("report: "), done.stderr)


common.main()
