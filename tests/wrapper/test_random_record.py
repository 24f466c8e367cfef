"""What tests/random/record makes of the lines that its parts print."""

import subprocess
import sys
from pathlib import Path

from support import Scratch, main

RECORD = Path(__file__).resolve().parent.parent / "random/record"

# A family of random kernels that finds few versions where its kernels are few.
FAMILY = """#!/bin/sh
echo "seed $4: a kernel"
echo "$2 kernels, 3 melded, $WRONG wrong"
if [ "$2" -lt 3 ]; then echo "only 3 of $2 kernels have a version: at least 90 of a hundred are expected"; exit 1; fi
if [ "$WRONG" != 0 ]; then exit 1; fi
"""


class Record(Scratch):
    def setUp(self):
        super().setUp()
        program = Path(self.dir) / "tests/random/random_meld"
        program.parent.mkdir(parents=True)
        program.write_text(FAMILY)
        program.chmod(0o755)

    def record(self, kernels, wrong=0):
        words = [sys.executable, RECORD, self.dir, "--only", "meld", "--jobs", "1", "--kernels", str(kernels)]
        return subprocess.run(words, env={"WRONG": str(wrong), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True)

    def test_numbers_of_parts_are_added_up(self):
        done = self.record(12)
        self.assertEqual(done.stdout, "random_meld --kernels 12 --seed 1000000: 12 kernels, 12 melded, 0 wrong\n")
        self.assertEqual(done.returncode, 0)

    def test_parts_that_fall_short_of_a_floor_are_counted(self):
        done = self.record(10)  # 2, 3, 2 and 3
        self.assertEqual(
            done.stdout,
            "random_meld --kernels 10 --seed 1000000: 10 kernels, 12 melded, 0 wrong; 2 of 4 parts fall short of a floor\n",
        )
        self.assertEqual(done.returncode, 0)

    def test_what_is_wrong_is_shown(self):
        done = self.record(12, wrong=1)
        self.assertIn("4 wrong", done.stdout)
        self.assertIn("exit code 1", done.stderr)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    main()
