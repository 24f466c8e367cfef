"""Triton's cache as a folder of PTX: one finding for each line of the Python source, whatever number of variants it has."""

import json
import unittest
from pathlib import Path

from support import PTXASW, Scratch, cuda_home, main, run

TRITON = Path(__file__).resolve().parent.parent / "analysis/triton"


class Triton(Scratch):
    def setUp(self):
        super().setUp()
        source = self.write("columns.py", (TRITON / "columns.py").read_text())
        ptx = (TRITON / "columns.ptx").read_text().replace('"columns.py"', f'"{source}"')
        # Triton has a folder for each variant, with every stage of it, and one for the group.
        for variant, warps in (("QJ4T7EXB", 4), ("YLC2N5WD", 8)):
            folder = f"home/.triton/cache/{variant}"
            self.write(f"{folder}/columns.ptx", ptx.replace("128", str(32 * warps)).replace("127", str(32 * warps - 1)))
            for stage in ("ttir", "ttgir", "llir"):
                self.write(f"{folder}/columns.{stage}", "; not looked at\n")
            (self.dir / folder / "columns.cubin").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(60))
            self.write(f"{folder}/columns.json", json.dumps({"name": "columns", "num_warps": warps}))
            self.write(f"{folder}/__grp__columns.json", "{}")

    def test_lint(self):
        done = run([PTXASW, "lint", "home/.triton/cache"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("warning[uncoalesced]"), 1, done.stdout)
        self.assertIn("columns.py:13:16: warning[uncoalesced]: ", done.stdout)
        self.assertIn("  13 |     x = tl.load(x_ptr + offsets * stride + column, mask=mask)\n", done.stdout)
        self.assertRegex(done.stdout, "in 2 instances|2 kernels|2 of 2")
        # What the launch says counts, and what is silenced where it stands.
        fine = run([PTXASW, "lint", "home/.triton/cache", "--launch", "base-align=256,param_3=1", "-q"])
        self.assertNotIn("uncoalesced", fine.stdout)
        text = (TRITON / "columns.py").read_text()
        self.write("columns.py", text.replace("mask=mask)\n    tl.store", "mask=mask)  # ptxasw: allow(uncoalesced) once\n    tl.store"))
        self.assertEqual(run([PTXASW, "lint", "home/.triton/cache", "-q"]).stdout, "")

    def test_other_analyses(self):
        for name in ("cost", "explain", "prove", "independent", "report"):
            words = ["--only", "bounds"] if name == "cost" else ["-o", "pages"] if name == "report" else []
            done = run([PTXASW, name, "home/.triton/cache", "--json", *words])
            self.assertEqual(done.stderr, "", name)
            answer = json.loads(done.stdout)
            self.assertEqual(len(answer.get("kernels") or answer["pages"]), 2, name)
        self.assertIn("tl.load(x_ptr + offsets * stride + column", "".join(page.read_text() for page in Path("pages").iterdir()))

    @unittest.skipUnless(cuda_home(), "needs ptxas")
    def test_ptxas_takes_it(self):
        done = run([cuda_home() / "bin/ptxas", "-arch=sm_90a", TRITON / "columns.ptx", "-o", "columns.cubin"])
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    main()
