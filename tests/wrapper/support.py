"""What the end-to-end tests share. Every test_*.py gets the path of ptxasw as its argument."""

import ctypes
import os
import pty
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PTXASW = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
DATA = Path(__file__).resolve().parent.parent / "data"
JACOBI = DATA / "jacobi.ptx"

# The set `all` has more of the same: it says --everything (CMakeLists.txt).
EVERYTHING = "--everything" in sys.argv
if EVERYTHING:
    sys.argv.remove("--everything")

# Settings of whoever runs the tests must not leak into them, nor must a preloaded library.
for name in [n for n in os.environ if n.startswith("PTXASW_") or n == "LD_PRELOAD"]:
    del os.environ[name]


def skip(reason):
    """Ends the whole script as skipped."""
    print("skipped:", reason)
    sys.exit(77)


def cuda_home():
    """The root of a CUDA toolkit, or None."""
    nvcc = shutil.which("nvcc")
    places = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"),
              nvcc and Path(nvcc).resolve().parent.parent, "/usr/local/cuda"]
    for place in places:
        if place and (Path(place) / "bin/ptxas").exists() and (Path(place) / "bin/nvcc").exists():
            return Path(place)
    return None


def need_cuda():
    return cuda_home() or skip("no CUDA toolkit")


def need(program):
    return shutil.which(program) or skip(f"no {program}")


# A stand-in for the real ptxas: notes how it was called, then does as its environment says.
FAKE = """#!/bin/sh
{
  printf 'call\\n'
  for word in "$@"; do printf 'word %s\\n' "$word"; done
  env | grep -E '^(PTXASW_|FAKE_KEEP)' | sort | sed 's/^/env /'
} >> "$FAKE_LOG"
[ -z "$FAKE_STDIN" ] || cat > "$FAKE_STDIN"
for word in "$@"; do
  case $word in
  --version) printf 'Cuda compilation tools, release 1.2, V1.2.3\\n' ;;
  /proc/self/fd/*) [ -z "$FAKE_INPUT" ] || cat "$word" > "$FAKE_INPUT"
    [ -z "$FAKE_REJECT" ] || { echo "ptxas $word, line 1; fatal : no" >&2; exit 255; }
    [ -z "$FAKE_WARN" ] || echo "ptxas $word, line $FAKE_WARN; warning : hm" >&2 ;;
  esac
done
exit ${FAKE_EXIT:-0}
"""


def run(command, **options):
    """Runs to the end with everything captured as text."""
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, errors="surrogateescape", timeout=300, **options)


def shown_on_terminal(command, line):
    """Whether standard error, a terminal, gets a line from a command that would go on for long; it is ended then."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
                               env={**environment, "TERM": "xterm"}, start_new_session=True)
    os.close(theirs)
    text = b""
    try:
        while line not in text:
            text += os.read(ours, 4096)
    except OSError:  # it has ended
        pass
    os.close(ours)
    try:
        os.killpg(process.pid, signal.SIGKILL)  # what it started, too
    except ProcessLookupError:
        pass
    process.wait()
    return line in text


def adopt_orphans():
    """From now on processes whose parents have ended are children of this one."""
    set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(set_child_subreaper, 1, 0, 0, 0) != 0:
        skip("no orphans to adopt on this system")


def wait_for_orphans():
    """Until every process that was adopted has ended. A hang here is ended by ctest."""
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


def link_as_ptxas(directory):
    """ptxasw under the name ptxas; returns the link."""
    directory.mkdir(parents=True, exist_ok=True)
    link = directory / "ptxas"
    link.symlink_to(PTXASW)
    return link


class Scratch(unittest.TestCase):
    """A test with a directory of its own, which is also the current one."""

    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="ptxasw-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.dir)

    def write(self, name, text, executable=False):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if executable:
            path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        return path

    def fake(self, name="toolkit/bin/ptxas"):
        """A fake ptxas and the environment that makes it write down its calls."""
        path = self.write(name, FAKE, executable=True)
        environment = dict(os.environ, FAKE_LOG=str(self.dir / "calls"), PTXASW_REAL=str(path))
        return path, environment

    def calls(self):
        """What the fake ptxas noted, a list of lines for each call."""
        log = self.dir / "calls"
        text = log.read_text() if log.exists() else ""
        return [part.strip().split("\n")[0:] for part in re.split(r"^call\n", text, flags=re.M)[1:]]


def words_of(call):
    return [line[5:] for line in call if line.startswith("word ")]


def same_but_for_time(text):
    """ptxas -v prints how long it took, and a temporary name holds a process number."""
    text = re.sub(r"Compile time = [0-9.]+ ms", "Compile time", text)
    return re.sub(r"tmpxft_[0-9a-f]+", "tmpxft", text)


def main():
    unittest.main(verbosity=1)
