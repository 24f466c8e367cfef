"""Long work shows on a terminal how far it is, and nowhere else."""

import os
import pty
import subprocess
import unittest

from support import PTXASW, Scratch, main, shown_on_terminal

KERNEL = """.version 7.8
.target sm_60
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b64 %rd<2>;
.reg .b32 %r<2>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mad.wide.u32 %rd1, %r1, 4, %rd1;
st.global.u32 [%rd1], %r1;
ret;
}
"""
LINE, WIPE = b"run 1 of the command", b"\r\x1b[K"


class OnATerminal(Scratch):
    def standard_error(self, command, code, terminal=True, **variables):
        """What a command writes there."""
        environment = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR")}
        environment.update({"TERM": "xterm", **variables})
        ours, theirs = pty.openpty() if terminal else os.pipe()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
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
        self.assertEqual(process.wait(timeout=60), code)
        return text

    def bisect(self, **how):
        """Of a command that fails."""
        text = self.standard_error([PTXASW, "bisect", "--", "sh", "-c", "exit 1"], 2, **how)
        self.assertIn(b"the command fails", text)
        return text

    def test_analyses(self):
        ptx = self.write("k.ptx", KERNEL)
        for name in ("cost", "explain", "independent", "lint", "prove", "siblings"):
            line = b"k.ptx" if name == "lint" else b"k (1 of 2)"
            code = 1 if name in ("independent", "prove") else 3 if name == "cost" else 0
            command = [PTXASW, name, ptx, ptx]
            self.assertIn(line, self.standard_error(command, code, PTXASW_REAL="/none"), name)
            self.assertEqual(self.standard_error([*command, "-q"], code, PTXASW_REAL="/none"), b"", name)
            self.assertEqual(self.standard_error(command, code, terminal=False, PTXASW_REAL="/none"), b"", name)

    def test_verify(self):
        ptx = self.write("k.ptx", KERNEL)
        command = [PTXASW, "verify", "--runs=40", ptx, ptx]
        self.assertRegex(self.standard_error(command, 0), rb"k \(1 of 1\): \d+ launches agree")
        self.assertEqual(self.standard_error(command, 0, terminal=False), b"")

    def test_a_kernel_that_runs_for_long(self):
        ptx = self.write("long.ptx", KERNEL.replace(" k(", " _Z1kPi(").replace("ret;", "$l: add.u32 %r1, %r1, 1;\nbra $l;\nret;"))
        command = [PTXASW, "emulate", ptx, "--steps", str(10**15), "--launch", "grid=1,block=32,p=zeros:128"]
        self.assertTrue(shown_on_terminal(command, b"k(int*), 1 s"))
        self.assertTrue(shown_on_terminal([*command, "--check", "none", "--engine", "interpreter"], b"k(int*), 2 s"))
        short = [PTXASW, "emulate", self.write("k.ptx", KERNEL), "--launch", "grid=1,block=32,p=zeros:128"]
        self.assertEqual(self.standard_error(short, 0), b"")

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
