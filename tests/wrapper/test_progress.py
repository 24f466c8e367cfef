"""Long work shows on a terminal how far it is, and nowhere else."""

import os
import pty
import subprocess
import unittest

from support import PTXASW, Scratch, main

LINE, WIPE = b"run 1 of the command", b"\r\x1b[K"


class OnATerminal(Scratch):
    def bisect(self, terminal=True, **variables):
        """What `bisect` of a command that fails writes to standard error."""
        environment = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR")}
        environment.update({"TERM": "xterm", **variables})
        ours, theirs = pty.openpty() if terminal else os.pipe()
        process = subprocess.Popen([PTXASW, "bisect", "--", "sh", "-c", "exit 1"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=theirs, env=environment)
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # a terminal that no one has open anymore
                break
            if not part:
                break
            text += part
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 1)
        self.assertIn(b"the command fails", text)
        return text

    def test_it_is_shown_and_taken_away(self):
        text = self.bisect()
        self.assertIn(LINE, text)
        self.assertIn(WIPE + b"ptxasw: with all rewrites", text)

    def test_it_has_no_colours(self):
        for text in (self.bisect(), self.bisect(NO_COLOR="1")):
            self.assertNotRegex(text, rb"\x1b\[[0-9;]*m")

    def test_nowhere_else(self):
        for text in (self.bisect(terminal=False), self.bisect(TERM="dumb"), self.bisect(TERM=""), self.bisect(CI="1")):
            self.assertNotIn(LINE, text)
            self.assertNotIn(b"\x1b", text)


if __name__ == "__main__":
    main()
