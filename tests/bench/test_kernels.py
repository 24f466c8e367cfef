"""Every kernel in every language computes what the double-precision reference computes."""

import os

import common
from bench import table


class Kernels(common.RunnerCase):
    def check(self, language, kernels, block, path=common.BENCH / "kernels.toml"):
        suite = table.Table(path)
        suite.select([kernel.name for kernel in kernels], ["original"])
        manifest = self.manifest(suite, {"original": language})
        done = common.run_runner(
            manifest,
            "--size",
            "check",
            "--launches",
            1,
            "--block",
            block,
            "--out",
            self.folder / "results.json",
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        cases = self.results()["cases"]
        self.assertEqual({case["kernel"] for case in cases}, {kernel.name for kernel in kernels})
        for case in cases:
            self.assertLessEqual(case["variants"][0]["reference_error"], 1e-5, case["kernel"])

    def test_cuda(self):
        for block in ("512x1", "32x16", "33x3"):
            with self.subTest(block=block):
                self.check("cuda", table.Table().kernels, block)

    def test_plain(self):
        path = common.BENCH / "plain.toml"
        self.check("cuda", table.Table(path).kernels, "33x3", path)

    def test_openacc(self):
        suite = [kernel for kernel in table.Table().kernels if kernel.group == "kernelgen"]
        self.check("acc", suite, "512x1")

    def test_fortran(self):
        if "fortran" not in os.environ["LANGUAGES"]:
            self.skipTest("no Fortran compiler")
        self.check(
            "fortran", [kernel for kernel in table.Table().kernels if kernel.fortran], "512x1"
        )


common.main()
