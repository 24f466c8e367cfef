"""What the tests of kernelgen-bench share: the suite's modules, and the runner under a fake driver."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "kernelgen-bench"
sys.path.insert(0, str(BENCH))
sys.dont_write_bytecode = True

from bench import table  # noqa: E402

SKIPPED = 77


def runner():
    return os.environ["RUNNER"]


def environment(**extra):
    """The environment in which the runner finds the fake driver."""
    return {**os.environ, "LD_LIBRARY_PATH": os.environ["FAKE_DRIVER"], **extra}


def run_runner(*arguments, **extra):
    """Runs the runner to its end."""
    command = [runner(), *map(str, arguments)]
    return subprocess.run(command, env=environment(**extra), capture_output=True, text=True)


class RunnerCase(unittest.TestCase):
    """A test with a scratch folder for manifests whose images are the suite's host builds."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)

    def manifest(self, suite, languages, exact_languages=None):
        """A manifest in which each variant of the table is the host build in one language.

        languages: {variant: language}; exact_languages the same for the images without contraction,
        which are those of `languages` where they are not given. "cuda" is the kernel's own source: the
        suite's builds have that name, those of the folder cuda are "plain"."""
        exact_languages = languages if exact_languages is None else exact_languages
        images, exact_images = {}, {}
        for kernel in suite.kernels:
            for made, wanted in ((images, languages), (exact_images, exact_languages)):
                made[kernel.name] = {}
                for variant, language in wanted.items():
                    if language == "cuda" and kernel.source.parent.name == "cuda":
                        language = "plain"
                    made[kernel.name][variant] = f"{language}.image"
                    (self.folder / f"{language}.image").write_text(f"host {language}\n")
        (self.folder / "tools.image").write_text("host tools\n")
        static = {"versions": {"nvcc": None, "ptxasw": None}, "kernels": {}}
        path = self.folder / "manifest.json"
        path.write_text(
            json.dumps(
                table.manifest(suite, "sm_90", images, exact_images, static, tools="tools.image")
            )
        )
        return path

    def results(self):
        return json.loads((self.folder / "results.json").read_text())


def main():
    unittest.main(verbosity=2)
