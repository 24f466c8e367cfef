"""The default, --shuffle=auto, for targets before sm_70, where it acts: a ptxas of CUDA 13 knows none of
them, so that this needs an older one (of CUDA 11 or 12; OLD_PTXAS names it, or it is found)."""

import json
import os
import re
import subprocess
from pathlib import Path

from support import Scratch, link_as_ptxas, main, run, skip

SUITE = Path(__file__).resolve().parent.parent.parent / "kernelgen-bench/suite"
# What the table of the paper has of each: shuffles and copies.
COVERED = {"divergence": 1, "gameoflife": 6, "gaussblur": 20, "gradient": 1, "jacobi": 6, "lapgsrb": 12,
           "laplacian": 2, "tricubic": 48, "tricubic2": 48, "uxx1": 3, "wave13pt": 4, "whispering": 6}


def old_ptxas():
    """A ptxas that assembles for Pascal, or None."""
    places = [os.environ.get("OLD_PTXAS"), *Path("/usr/local").glob("cuda-1[12]*/bin/ptxas"), "/usr/bin/ptxas"]
    for place in filter(None, places):
        if Path(place).exists():
            done = subprocess.run([str(place), "--help"], capture_output=True, text=True)
            if "sm_60" in done.stdout:
                return str(place)
    return None


REAL = old_ptxas() or skip("no ptxas that knows sm_60 (CUDA 11 or 12; OLD_PTXAS names one)")


class OldTargets(Scratch):
    def assemble(self, kernel, target):
        """What the drop-in reports in its default mode, and the cubin."""
        text = (SUITE / f"{kernel}.ptx").read_text()
        text = re.sub(r"^\.version .*", ".version 7.0", text, flags=re.M)
        ptx = self.write("in.ptx", re.sub(r"^\.target .*", f".target {target}", text, flags=re.M))
        command = [self.ptxas, f"-arch={target}", ptx, "-o", "out.cubin", "--ptxasw-report=report.json"]
        done = run(command, env={**os.environ, "PTXASW_REAL": REAL})
        self.assertEqual((done.returncode, done.stderr), (0, ""), kernel)
        self.assertGreater(Path("out.cubin").stat().st_size, 0)
        return json.loads(Path("report.json").read_text())

    def setUp(self):
        super().setUp()
        self.ptxas = link_as_ptxas(self.dir / "bin")

    def test_what_is_rewritten_is_assembled(self):
        for target in ("sm_50", "sm_60"):
            for kernel, wanted in COVERED.items():
                with self.subTest(kernel=kernel, target=target):
                    report = self.assemble(kernel, target)
                    (found,) = report["kernels"]
                    self.assertIn("costs more than a shuffle", report["decision"])
                    self.assertGreaterEqual(found["shuffles"] + found["copies"], wanted)

    def test_from_volta_on_nothing_is(self):
        report = self.assemble("jacobi", "sm_70")
        self.assertIn("as cheap as a shuffle", report["decision"])
        self.assertEqual(report["kernels"][0]["shuffles"], 0)


main()
