"""The numbers in the tables of the pages are those of their records, and each such table says which that is."""

import importlib.util
import os
import subprocess
import unittest
from pathlib import Path

from page_tables import agrees, has_numbers, problems, tables_of
from support import PTXASW, Scratch, main

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("docs/lint-codes/*.md")), *sorted(ROOT.glob("docs/internals/*.md")), ROOT / "kernelgen-bench/README.md"]

os.environ["PTXASW"] = str(PTXASW)
loading = importlib.util.spec_from_file_location("tables", ROOT / "docs/tables.py")
records = importlib.util.module_from_spec(loading)
loading.loader.exec_module(records)


PAGE = """# A page

<!-- MARKER -->
| kernel | gain | version |
|---|---|---|
| jacobi | **1.41** | wide-x2 |
| matmul | 1,024.5 | y4 |
"""


class Checker(Scratch):
    """The check itself, on made-up pages."""

    def problems(self, marker, rows=None, page=PAGE, printed=""):
        """What is wrong with the page, the record or the command having these rows."""
        Path("record.tsv").write_text("")
        return problems(page.replace("MARKER", marker), self.dir, {"rows": lambda _: iter(rows)}, lambda _: printed)

    def found(self, rows, **how):
        return self.problems("record: record.tsv#rows", rows, **how)

    def test_numbers_as_recorded_pass(self):
        self.assertEqual(self.found([["jacobi", "1.4096", "wide-x2"], ["matmul", "1024.4501", "y4"]]), [])

    def test_a_wrong_number_is_found(self):
        (said,) = self.found([["jacobi", "1.416", "wide-x2"], ["matmul", "1024.5", "y4"]])
        self.assertEqual(said, "line 6, gain: **1.41**; the record has 1.416")

    def test_rounding_is_that_of_the_page(self):
        for record, wanted in (("1.4149", 0), ("1.4151", 1), ("1.405", 0), ("1.4049", 1), ("1.42", 1), ("141", 1)):
            with self.subTest(record=record):
                self.assertEqual(len(self.found([["jacobi", record, "wide-x2"], ["matmul", "1024.5", "y4"]])), wanted)

    def test_another_word_or_label_is_found(self):
        for row in (["jacobi", "1.41", "wide-x4"], ["jacobi", "1.41 x2", "wide-x2"], ["gaussblur", "1.41", "wide-x2"]):
            with self.subTest(row=row):
                self.assertEqual(len(self.found([row, ["matmul", "1024.5", "y4"]])), 1)

    def test_a_row_or_column_too_few_is_found(self):
        self.assertIn("2 rows, 1 in the record", self.found([["jacobi", "1.41", "wide-x2"]])[0])
        self.assertIn("3 columns, 2 in the record", self.found([["jacobi", "1.41"], ["matmul", "1024.5", "y4"]])[0])

    def test_text_of_the_pages_own_is_left_alone(self):
        self.assertEqual(self.found([["jacobi", "1.41", None], [None, "1024.5", "y4"]]), [])

    def test_a_missing_file_key_or_function_is_found(self):
        self.assertIn("there is no gone.tsv", self.problems("record: gone.tsv#rows", [])[0])
        self.assertIn("there is no others", self.problems("record: record.tsv#others", [])[0])
        self.assertIn("there is no name behind #", self.problems("record: record.tsv", [])[0])
        rows = ([key, {}[key], ""] for key in ("jacobi",))
        self.assertIn("finds no 'jacobi'", self.found(rows)[0])

    def test_numbers_without_a_marker_are_found(self):
        bare = PAGE.replace("<!-- MARKER -->\n", "")
        self.assertIn("no comment says where", self.problems("", page=bare)[0])
        self.assertIn("no comment says where", self.problems("not mentioned: x")[0])
        self.assertEqual(self.problems("not measured: options"), [])

    def test_a_reason_is_asked_for(self):
        self.assertEqual(len(self.problems("not measured: ")), 1)

    def test_code_and_links_are_no_measurements(self):
        (table,) = tables_of("| a |\n|---|\n| `x2` and [page](page2.md) |\n")
        self.assertFalse(has_numbers(table))
        (table,) = tables_of("| a |\n|---|\n| [2](page.md) |\n")
        self.assertTrue(has_numbers(table))

    def test_tables_in_code_are_none(self):
        self.assertEqual(tables_of("```\n| a |\n|---|\n| 1 |\n```\n"), [])

    def test_what_a_command_prints(self):
        marker, table = "command: print it", PAGE[PAGE.index("|"):].replace("**", "")
        self.assertEqual(self.problems(marker, printed="so:\n\n" + table), [])
        self.assertIn("the record has 1.48", self.problems(marker, printed=table.replace("1.41", "1.48"))[0])
        self.assertIn("prints no such table", self.problems(marker, printed="no table")[0])
        other = "command: without gain: print it"
        self.assertEqual(self.problems(other, printed=table.replace("1.41", "1.48")), [])

    def test_thousands(self):
        self.assertTrue(agrees("1,074 of 2,356, 7 exact", "1074 of 2356, 7 exact"))
        self.assertFalse(agrees("1,074", "1047"))


class Pages(Scratch):
    def test_every_page(self):
        (self.dir / "ptxasw").symlink_to(PTXASW)
        env = dict(os.environ, PATH=f"{self.dir}:{os.environ['PATH']}")

        def run(command):
            done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=env, capture_output=True, text=True, timeout=600)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        for page in PAGES:
            with self.subTest(page=page.name):
                found = problems(page.read_text(), ROOT, records.TABLES, run)
                self.assertEqual("\n".join(found), "", page)

    def test_every_function_is_named_by_a_page(self):
        text = "".join(page.read_text() for page in PAGES)
        for name in records.TABLES:
            self.assertIn(f"#{name} -->", text)


if __name__ == "__main__":
    main()
