"""Threads that launch, load and unload at once, under ThreadSanitizer, also while versions come from `ptxasw faster`.

test_threads.py HELPER HOST DRIVER PTXASW, all but ptxasw instrumented."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HELPER, HOST, DRIVER, PTXASW = [Path(word) for word in sys.argv[1:5]]
TSAN = {"LD_LIBRARY_PATH": str(DRIVER.parent), "TSAN_OPTIONS": "halt_on_error=1 exitcode=66"}
COPIES = """#!/bin/sh
while [ $# -gt 0 ]; do
    case "$1" in -o) out=$2; shift ;; -*) ;; *) in=$1 ;; esac
    shift
done
cp "$in" "$out"
"""


class Threads(unittest.TestCase):
    def test_each_mode(self):
        for mode in ("first", "measure", "tune"):
            with self.subTest(mode=mode):
                environment = {**os.environ, **TSAN, "LD_PRELOAD": str(HELPER), "PTXASW_LAUNCH_MODE": mode}
                done = subprocess.run([str(HOST), "threads"], env=environment, text=True, capture_output=True,
                                      timeout=300)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_versions_that_come(self):
        """`env` puts the instrumented helper in the place of the other one."""
        for scenario in ("faster-threads", "faster-crowd"):
            # Each with a cache of its own: what one has chosen may be the original.
            with self.subTest(scenario=scenario), tempfile.TemporaryDirectory() as scratch:
                ptxas = Path(scratch) / "ptxas"
                ptxas.write_text(COPIES)
                ptxas.chmod(0o755)
                environment = {**os.environ, **TSAN, "XDG_CACHE_HOME": scratch, "TMPDIR": scratch, "PTXASW_REAL": str(ptxas),
                               "FASTER_KNOWN": "1"}
                done = subprocess.run([PTXASW, "faster", "env", f"LD_PRELOAD={HELPER}", HOST, scenario], env=environment, text=True,
                                      capture_output=True, timeout=900)
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
                self.assertRegex(done.stderr, r"^ptxasw: (\d of \d kernels run faster|no faster version of \d)")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
