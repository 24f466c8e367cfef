"""A progress line on stderr: one line that changes on a terminal, one line per step elsewhere."""

import sys
import time


class Progress:
    def __init__(self, what, total):
        self.what, self.total, self.start = what, total, time.monotonic()

    def __call__(self, done, name):
        left = (time.monotonic() - self.start) / done * (self.total - done)
        line = f"[{done}/{self.total}] {self.what} {name}, about {int(left) // 60}:{int(left) % 60:02} left"
        if sys.stderr.isatty():
            end = "\n" if done == self.total else ""
            print(f"\r\033[K{line}", end=end, file=sys.stderr, flush=True)
        elif done == self.total or done % 8 == 0:
            print(line, file=sys.stderr, flush=True)
