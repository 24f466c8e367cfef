"""Threads that launch, load and unload at once, under ThreadSanitizer.

test_threads.py HELPER HOST DRIVER, all three instrumented."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

HELPER, HOST, DRIVER = [Path(word) for word in sys.argv[1:4]]


class Threads(unittest.TestCase):
    def test_each_mode(self):
        for mode in ("first", "measure", "tune"):
            with self.subTest(mode=mode):
                environment = {**os.environ, "LD_PRELOAD": str(HELPER), "LD_LIBRARY_PATH": str(DRIVER.parent),
                               "PTXASW_LAUNCH_MODE": mode, "TSAN_OPTIONS": "halt_on_error=1 exitcode=66"}
                done = subprocess.run([str(HOST), "threads"], env=environment, text=True, capture_output=True,
                                      timeout=300)
                self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
