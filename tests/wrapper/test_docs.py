"""The documentation says what the program does."""

import re
import unittest
from pathlib import Path

from support import PTXASW, Scratch, main, run

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = (ROOT / "docs/drop-in.md").read_text()


class Documentation(unittest.TestCase):
    def test_the_table_of_settings_is_the_programs_own(self):
        table = run([PTXASW, "config", "--markdown"]).stdout
        self.assertIn(table, DOCS, "docs/drop-in.md: paste `ptxasw config --markdown`")

    def test_every_outcome_is_explained(self):
        source = (ROOT / "wrapper/drop_in/outcome.cpp").read_text()
        for outcome in re.findall(r'return "([a-z-]+)";', source):
            if outcome != "unknown":
                self.assertIn(f"| `{outcome}` |", DOCS)

    def test_every_subcommand_has_help(self):
        text = run([PTXASW, "--help"]).stdout
        for name in ("rewrite", "overlay", "status", "config", "run", "bisect", "assemble"):
            self.assertIn(name, text)
            result = run([PTXASW, name, "--help"])
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("Usage", result.stdout)

    def test_version(self):
        version = re.search(r"VERSION (\S+) LANGUAGES", (ROOT / "CMakeLists.txt").read_text())[1]
        self.assertRegex(run([PTXASW, "--version"]).stdout,
                         rf"^ptxasw {re.escape(version)}( \([0-9a-f]+( and changes)?\))?\nptxas: .+\nZ3: .+\n$")
        self.assertIn(f"\nversion: {version}\n", (ROOT / "CITATION.cff").read_text())
        self.assertIn(f"\n## {version} ", (ROOT / "CHANGELOG.md").read_text())


class WrongWords(Scratch):
    def test_exit_code_2(self):
        for words in ([], ["nonsense"], ["rewrite"], ["rewrite", "x"], ["overlay"],
                      ["rewrite", "x", "-o", "y", "--variant", "half"], ["run"], ["--bogus"],
                      ["rewrite", "x", "-o", "y", "--max-delta=99"]):
            with self.subTest(words=words):
                result = run([PTXASW, *words])
                self.assertEqual(result.returncode, 2)
                self.assertNotEqual(result.stderr, "")


if __name__ == "__main__":
    main()
