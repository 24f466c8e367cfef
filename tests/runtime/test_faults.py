"""`ptxasw check` on kernels with one fault each, and on the same kernels as they should be: every fault is
found where the source says so, with the allocation or the variable, and nothing is found without it.

    test_faults.py PTXASW [KIND|every]    only the faults of a kind"""

import json
import re
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "wrapper"))
ONLY = sys.argv.pop(2) if len(sys.argv) > 2 and not sys.argv[2].startswith(("-", "Faults")) else ""
from support import PTXASW, Scratch, cuda_home, main, need, need_cuda, run  # noqa: E402

need_cuda()
need("addr2line")
FAULTS = HERE / "faults"
KINDS = {"memory": {"out of bounds", "misaligned"}, "races": {"race"}, "initialised": {"uninitialized"},
         "barriers": {"divergent barrier", "missing lane", "deadlock"}}


def marked(text, mark, number):
    """Lines of the source that bear the mark of a fault."""
    return [line for line, words in enumerate(text.splitlines(), 1) if re.search(rf"// (?:.*\b)?{mark}(?: \d+)*? {number}\b", words)]


class Faults(Scratch):
    def findings(self, *words):
        done = run([PTXASW, "check", "--json", "--", "./p", *words])
        self.assertTrue(done.stdout.startswith("end\n"), done.stdout + done.stderr)
        return json.loads(done.stdout[4:])["findings"]

    def cases(self, kind):
        if ONLY not in ("", "every", kind):
            self.skipTest(f"only {ONLY}")
        source = FAULTS / f"{kind}_cases.cu"
        text = source.read_text()
        self.assertEqual(run([PTXASW, "overlay", "o", "--cuda", cuda_home()]).returncode, 0)
        done = run(["o/bin/nvcc", "--no-gpu", "-arch=sm_90", "-g", "-lineinfo", "-std=c++17", "-o", "p", source])
        self.assertEqual(done.returncode, 0, done.stderr)
        for number in range(1, int(run(["./p"]).stdout) + 1):
            with self.subTest(kind=kind, fault=number):
                self.assertEqual(self.findings(str(number), "0"), [])
                found = self.findings(str(number), "1")
                lines = marked(text, "FAULT", number)
                self.assertTrue(lines)
                right = [f for f in found if f["kind"] in KINDS[kind] and f.get("line") in lines]
                self.assertTrue(right, found)
                for made in marked(text, "MADE", number):
                    self.assertIn(f"{source.name}:{made} ", right[0].get("made", ""), right[0])
                for name in re.findall(rf"// FAULT {number} VARIABLE (\w+)", text):
                    self.assertIn(name, json.dumps(right[0]))

    def test_memory(self):
        self.cases("memory")

    def test_races(self):
        self.cases("races")

    def test_initialised(self):
        self.cases("initialised")

    def test_barriers(self):
        self.cases("barriers")


if __name__ == "__main__":
    main()
