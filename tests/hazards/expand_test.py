#!/usr/bin/env python3
"""expand_test.py: what expand.py makes of a base, changes and titles, and what it refuses."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import expand

BASE = ["\tmov %a, 1;", "$loop:", "\tadd %a, %a, 1;", "\tadd %b, %b, 1;", "\tadd %a, %a, 1;", "\tbra $loop;"]
LAUNCHES = "// launch: grid=1\n// launch: grid=2\n"


class Changes(unittest.TestCase):
    def check(self, changes, lines):
        self.assertEqual(expand.changed(BASE, changes)[0], lines)

    def test_no_change(self):
        self.check([], BASE)

    def test_after_and_before(self):
        self.check(["//after $loop:", "\tx;", "\ty;", "//before bra $loop;", "\tz;"],
                   [*BASE[:2], "\tx;", "\ty;", *BASE[2:5], "\tz;", BASE[5]])

    def test_instead_of(self):
        self.check(["//instead of mov %a, 1;", "\tmov %a, 2;"], ["\tmov %a, 2;", *BASE[1:]])
        self.check(["//instead of mov %a, 1;"], BASE[1:])

    def test_from_to(self):
        self.check(["//from $loop: //to add %b, %b, 1;", "\tx;"], [BASE[0], "\tx;", *BASE[4:]])
        self.check(["//from $loop: //to $loop:"], [BASE[0], *BASE[2:]])
        self.check(["//from add %a, %a, 1; //to add %a, %a, 1;"], [*BASE[:2], *BASE[3:]])

    def test_the_first_behind_the_last_change(self):
        self.check(["//after add %a, %a, 1;", "\tx;", "//after add %a, %a, 1;", "\ty;"],
                   [*BASE[:3], "\tx;", *BASE[3:5], "\ty;", BASE[5]])

    def test_lines_that_continue_the_last_change(self):
        lines, place = expand.changed(BASE, ["//after $loop:", "\tx;"])
        self.assertEqual(expand.changed(lines, ["\ty;", "//after bra $loop;", "\tz;"], place)[0],
                         [*BASE[:2], "\tx;", "\ty;", *BASE[2:], "\tz;"])
        lines, place = expand.changed(BASE, ["//instead of mov %a, 1;"])
        self.assertEqual(expand.changed(lines, [], place), (BASE[1:], 0))
        self.assertEqual(expand.changed(lines, ["\ty;"], place), (["\ty;", *BASE[1:]], 1))

    def test_lines_behind_such_a_change_are_meant(self):
        lines, place = expand.changed(BASE, ["//after add %b, %b, 1;"])
        self.assertEqual(expand.changed(lines, ["\tx;", "//instead of add %a, %a, 1;"], place)[0],
                         [*BASE[:4], "\tx;", BASE[5]])
        with self.assertRaises(expand.BadTrap):
            expand.changed(lines, ["\tx;", "//after mov %a, 1;"], place)

    def test_refusals(self):
        for changes in (["//after mov %a, 2;"], ["\tx;"], ["//from $loop:", "\tx;"], ["//after $loop: //to $loop:"],
                        ["//from bra $loop; //to $loop:"], ["//after bra $loop;", "//after $loop:"]):
            with self.assertRaises(expand.BadTrap, msg=changes):
                expand.changed(BASE, changes)


class Traps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bases").mkdir()
        (self.folder / "bases/one.ptx").write_text(LAUNCHES + "// shapes: any\nmov;\nret;\n")

    def expanded(self, text):
        """The text of each trap in a file, by its name."""
        found = expand.traps("file", text, self.folder / "bases")
        return {name: "\n".join(trap.head + trap.body) for name, trap in found}

    def test_a_file_without_a_title(self):
        self.assertEqual(self.expanded("// base: one\n// hazard: it ends\n// shapes: head\n"),
                         {"file": LAUNCHES + "// hazard: it ends\n// shapes: head\nmov;\nret;"})
        self.assertEqual(self.expanded("// hazard: it ends\nret;\n"), {"file": "// hazard: it ends\nret;"})

    def test_titles(self):
        self.assertEqual(
            self.expanded("// base: one\n// launch: grid=3\n// twin: none\n//after mov;\nbar;\n"
                          "=== a-1: it waits\n"
                          "=== b: it waits (at first): twice (twin: once)\n// launch: grid=4\n"
                          "bar;\n//instead of ret;\nexit;\n"),
            {"a-1": "// shapes: any\n// launch: grid=3\n// twin: none\n// hazard: it waits\nmov;\nbar;\nret;",
             "b": "// shapes: any\n// hazard: it waits (at first): twice\n// twin: once\n// launch: grid=4\n"
                  "mov;\nbar;\nbar;\nexit;"})

    def test_refusals(self):
        for text in ("// base: two\n", "// base: one\nnop;\n", "// base: one\n=== a\n", "// base: one\n=== a: it waits\nnop;\n"):
            with self.assertRaises(expand.BadTrap, msg=text):
                self.expanded(text)

    def test_a_folder(self):
        (self.folder / "some").mkdir()
        (self.folder / "some/several.trap").write_text("// base: one\n=== a: it waits\n=== b: it ends\n")
        command = [sys.executable, "-B", expand.__file__, self.folder, self.folder / "to"]

        def run():
            done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
            return done.returncode, done.stderr, sorted(path.name for path in self.folder.glob("to/some/*"))

        self.assertEqual(run(), (0, "", ["a.ptx", "b.ptx"]))
        (self.folder / "some/several.trap").write_text("// base: one\n=== a: it waits\n")
        self.assertEqual(run(), (0, "", ["a.ptx"]))
        (self.folder / "some/a.trap").write_text("// hazard: it has the name of another\nret;\n")
        code, told, _ = run()
        self.assertEqual(code, 1)
        self.assertIn("a second trap of this name: a", told)


if __name__ == "__main__":
    unittest.main()
