#!/usr/bin/env python3
"""expand_test.py: what expand.py makes of a base and changes, and what it refuses."""

import pathlib
import tempfile
import unittest

import expand

BASE = ["\tmov %a, 1;", "$loop:", "\tadd %a, %a, 1;", "\tadd %b, %b, 1;", "\tadd %a, %a, 1;", "\tbra $loop;"]


class Changes(unittest.TestCase):
    def check(self, changes, lines):
        self.assertEqual(expand.changed(BASE, changes), lines)

    def test_no_change(self):
        self.check([], BASE)

    def test_after_and_before(self):
        self.check(["//after $loop:", "\tx;", "\ty;", "//before bra $loop;", "\tz;"],
                   [*BASE[:2], "\tx;", "\ty;", *BASE[2:5], "\tz;", BASE[5]])

    def test_instead_of(self):
        self.check(["//instead of mov %a, 1;", "\tmov %a, 2;"], ["\tmov %a, 2;", *BASE[1:]])
        self.check(["//instead of mov %a, 1;"], BASE[1:])

    def test_from_to(self):
        self.check(["//from $loop:", "//to add %b, %b, 1;", "\tx;"], [BASE[0], "\tx;", *BASE[4:]])
        self.check(["//from $loop:", "//to $loop:"], [BASE[0], *BASE[2:]])

    def test_the_first_behind_the_last_change(self):
        self.check(["//after add %a, %a, 1;", "\tx;", "//after add %a, %a, 1;", "\ty;"],
                   [*BASE[:3], "\tx;", *BASE[3:5], "\ty;", BASE[5]])

    def test_refusals(self):
        for changes in (["//after mov %a, 2;"], ["\tx;"], ["//from $loop:", "\tx;"], ["//to $loop:"],
                        ["//from $loop:"], ["//after bra $loop;", "//after $loop:"]):
            with self.assertRaises(expand.BadTrap, msg=changes):
                expand.changed(BASE, changes)


class Heads(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bases = pathlib.Path(folder.name)
        (self.bases / "one.ptx").write_text("// launch: grid=1\n// launch: grid=2\n// shapes: any\nret;\n")

    def expanded(self, trap):
        return expand.expanded(trap, self.bases)

    def test_keys_of_the_base(self):
        self.assertEqual(self.expanded("// base: one\n// hazard: it ends\n// shapes: head\n"),
                         "// launch: grid=1\n// launch: grid=2\n// hazard: it ends\n// shapes: head\nret;\n")

    def test_without_a_base(self):
        self.assertEqual(self.expanded("// hazard: it ends\nret;\n"), "// hazard: it ends\nret;\n")

    def test_no_such_base(self):
        with self.assertRaises(expand.BadTrap):
            self.expanded("// base: two\n")


if __name__ == "__main__":
    unittest.main()
