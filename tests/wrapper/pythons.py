"""The interpreters that the tests of the Python package run under."""

import os
import subprocess
import sys
from pathlib import Path

from support import PTXASW

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "wrapper/python"
VERSIONS = range(9, 14)


def has_module(path, name):
    return subprocess.run([path, "-c", f"import {name}"], capture_output=True).returncode == 0


def pythons():
    """Python 3.9 to 3.13, one of each that is in PATH or the usual places and runs; one with NumPy if there is."""
    places = [*os.environ["PATH"].split(":"), "/usr/bin", *map(str, Path.home().glob(".pyenv/versions/3.*/bin"))]
    found = {minor: {} for minor in VERSIONS}
    for path in dict.fromkeys([sys.executable, *(f"{place}/{name}" for place in places for name in
                                                  ("python3", *(f"python3.{minor}" for minor in VERSIONS)))]):
        if os.access(path, os.X_OK):
            done = subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2], sys.executable)"], text=True,
                                  capture_output=True)
            if done.returncode == 0:
                major, minor, real = done.stdout.rstrip("\n").split(" ", 2)
                if major == "3" and int(minor) in found:
                    found[int(minor)][os.path.realpath(real)] = path
    return {minor: next((path for path in paths.values() if has_module(path, "numpy")), next(iter(paths.values()), None))
            for minor, paths in found.items()}


def environment():
    return dict(os.environ, PTXASW=str(PTXASW), PYTHONPATH=str(SOURCES))


def package(python):
    """Runs python/package.py under an interpreter."""
    return subprocess.run([python, "-B", ROOT / "tests/wrapper/python/package.py"], env=environment(), text=True, capture_output=True)


# Debian's has NumPy from Debian's package, whichever comes first in PATH.
PYTHON = next((path for path in (sys.executable, "/usr/bin/python3") if os.path.exists(path) and has_module(path, "numpy")), sys.executable)
