"""docs/internals/codegen.md shows what is emitted: each block under a command line, `$ ptxasw ...`, is in what that command prints, line by
line; a line of `...` stands for any number of them."""

import re
import shlex
import unittest
from pathlib import Path

from support import PTXASW, main, run

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs/internals/codegen.md").read_text()


def blocks():
    """Each command with the lines below it."""
    for block in re.findall(r"(?:^    .*\n)+", PAGE, re.MULTILINE):
        lines = [line[4:].rstrip() for line in block.rstrip().split("\n")]
        if lines[0].startswith("$ ptxasw "):
            yield lines[0].removeprefix("$ "), lines[1:]


def missing(shown, lines):
    """The first line that is shown and does not follow; None if all do."""
    at, gap = 0, True
    for line in shown:
        if line.strip() == "...":
            gap = True
            continue
        found = next((i for i in range(at, len(lines)) if lines[i] == line), None)
        if found is None or (found != at and not gap):
            return line
        at, gap = found + 1, False
    return None


class Codegen(unittest.TestCase):
    def test_what_is_shown_is_what_is_emitted(self):
        pages = list(blocks())
        self.assertGreaterEqual(len(pages), 7)
        for command, shown in pages:
            with self.subTest(command=command):
                words = [str(PTXASW), *[str(ROOT / word) if word.startswith("docs/") else word
                                        for word in shlex.split(command)[1:]]]
                result = run(words)
                self.assertEqual(result.returncode, 0, result.stderr)
                lines = [re.sub(r"\s*//.*", "", line).rstrip() for line in result.stdout.expandtabs(4).split("\n")]
                shown = [re.sub(r"\s*//.*", "", line).rstrip() for line in shown]
                self.assertGreaterEqual(len([line for line in shown if line != "..."]), 3)
                self.assertIsNone(missing(shown, [line for line in lines if line]))

    def test_what_is_not_emitted_is_noticed(self):
        lines = ["a", "b", "c", "d"]
        self.assertIsNone(missing(["a", "...", "c", "d"], lines))
        for shown in (["a", "c"], ["b", "...", "a"], ["e"], ["...", "d", "c"]):
            self.assertIsNotNone(missing(shown, lines))


if __name__ == "__main__":
    main()
