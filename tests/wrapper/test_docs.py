"""The documentation says what the program does."""

import json
import re
import unittest
from pathlib import Path

from support import PTXASW, Scratch, main, run

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = (ROOT / "docs/settings.md").read_text()


class Documentation(unittest.TestCase):
    def test_the_table_of_settings_is_the_programs_own(self):
        table = run([PTXASW, "describe", "settings"]).stdout
        self.assertIn(table, DOCS, "docs/settings.md: paste `ptxasw describe settings`")

    def test_every_outcome_is_explained(self):
        source = (ROOT / "wrapper/drop_in/outcome.cpp").read_text()
        for outcome in re.findall(r'return "([a-z-]+)";', source):
            if outcome != "unknown":
                self.assertIn(f"| `{outcome}` |", DOCS)

    def test_every_subcommand_has_help(self):
        text = run([PTXASW, "help", "--all"]).stdout
        for name in ("rewrite", "overlay", "status", "cost", "run", "bisect", "assemble"):
            self.assertIn(name, text)
            result = run([PTXASW, name, "--help"])
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("Usage", result.stdout)

    def test_changes_name_commands_and_pages_that_there_are(self):
        text = (ROOT / "CHANGELOG.md").read_text()
        commands = {one["name"] for one in json.loads(run([PTXASW, "describe", "json"]).stdout)["commands"]}
        named = set(re.findall(r"`ptxasw ([a-z]+)\b", text))
        self.assertGreater(len(named), 10)
        self.assertEqual(named - commands - {"help"}, set())
        for page in re.findall(r"\bdocs/[\w/-]+\.md\b", text):
            self.assertTrue((ROOT / page).exists(), page)

    def test_version(self):
        version = re.search(r"VERSION (\S+) LANGUAGES", (ROOT / "CMakeLists.txt").read_text())[1]
        self.assertRegex(run([PTXASW, "--version"]).stdout,
                         rf"^ptxasw {re.escape(version)}( \([0-9a-f]+( and changes)?\))?\nptxas: .+\nZ3: .+\n$")
        self.assertIn(f"\nversion: {version}\n", (ROOT / "CITATION.cff").read_text())
        self.assertIn(f"\n## {version} ", (ROOT / "CHANGELOG.md").read_text())


class WrongWords(Scratch):
    def test_what_is_said(self):
        for words, said in ((["lint", "--theshold", "3", "x"], "`ptxasw lint` has no option `--theshold`; did you mean `--threshold`?"),
                            (["lint", "--jsn=3", "--qiet", "x"], "`ptxasw lint` has no option `--jsn`; did you mean `--json`?"),
                            (["emulate", "a", "b", "c"], "`b` is one word too many for `ptxasw emulate`"),
                            (["cost"], "nothing to read; give PTX, a CUDA source, a program or a folder: ptxasw cost heat.cu"),
                            (["--json", "lint", "x"], "options stand behind the command: ptxasw lint --json"),
                            (["check", "./app"], "write the program after `--`: ptxasw check -- ./app"),
                            (["tune", "--again", "./app"], "write the program after `--`: ptxasw tune -- ./app"),
                            (["check", "--", "./no-such"], "there is no program `./no-such`"),
                            (["check", "--", "no-such"], "there is no program `no-such`"),
                            (["check", "--", "/"], "`/` is no program that can be run"),
                            (["lnt"], "there is no command `lnt`; did you mean `lint`?"),
                            (["advise", "--threads", "axb", "x"], "`--threads` is written `--launch threads=2048x2048` now"),
                            (["lint", "x", "--at=n=3"], "`--at` is written `--launch NAME=NUMBER` now"),
                            (["cost", "--block", "0", "x"], "`--block` is written `--launch block=32x8` now"),
                            (["bound", "x"], "`bound` is written `cost` now"), (["occupancy"], "`occupancy` is written `cost` now"),
                            (["trace", "x"], "`trace` is written `explain --trace` now"),
                            (["stats"], "`stats` is written `status --totals` now"),
                            (["config"], "`config` is written `status --settings` now"),
                            (["overlay", "x", "--check"], "`--check` is written `--status` now"),
                            (["launch", "--check"], "`--check` is written `--why` now"),
                            (["launch", "--first"], "`--first` is written `--unmeasured` now"),
                            (["faster", "--explain", "x"], "`--explain` is written `--why` now"),
                            (["status", "--last"], "`--last` is written `--last-run` now"),
                            (["status", "--launch"], "`--launch` is written `--launch-log` now"),
                            (["emulate", "x", "--profile"], "`--profile` is written `--by-instruction` now"),
                            (["emulate", "x", "--threads=3"], "`--threads` is written `--jobs N` now"),
                            (["tune", "--json=x"], "`--json` is written `--tuner-json FILE` now"),
                            (["advise", "x", "--registers", "3"], "`--registers` is written `--registers-per-thread N` now")):
            result = run([PTXASW, *words])
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            self.assertTrue(result.stderr.startswith("ptxasw: error: "), result.stderr)
            self.assertIn(said, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_no_option_takes_the_name_of_the_file(self):
        for words in (["advise", "--launch", "threads=64", "none.ptx"], ["siblings", "--retile", "x2", "none.ptx"],
                      ["emulate", "--launch", "grid=2x1", "none.ptx"], ["lint", "-W", "all", "none.ptx"]):
            self.assertIn("cannot read `none.ptx`", run([PTXASW, *words]).stderr, words)

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
