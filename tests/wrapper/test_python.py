"""The Python package under every Python from 3.9 on that is here (its tests: python/package.py), its syntax, its types, and
the examples of docs/python.md."""

import ast
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from support import PTXASW, Scratch, main

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "wrapper/python"
VERSIONS = range(9, 14)


def has_module(path, *names):
    return subprocess.run([path, "-c", "import " + ", ".join(names)], capture_output=True).returncode == 0


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


class Package(Scratch):
    def test_each_python(self):
        for minor, path in pythons().items():
            if not path:
                print(f"Python 3.{minor} is not here, and so not tried")
                continue
            with self.subTest(python=path):
                done = subprocess.run([path, "-B", ROOT / "tests/wrapper/python/package.py"], env=environment(), text=True,
                                      capture_output=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                print(f"{path}: {done.stderr.strip().splitlines()[-1]}")

    def test_syntax_is_that_of_python_3_9(self):
        files = [*SOURCES.rglob("*.py"), *ROOT.glob("docs/examples/*.py")]
        self.assertGreater(len(files), 8)
        for path in files:
            with self.subTest(path=path):
                ast.parse(path.read_text(), feature_version=(3, 9))

    def test_what_is_public_has_a_docstring_and_types(self):
        for path in (SOURCES / "ptxasw").glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                    with self.subTest(path=path.name, function=node.name):
                        self.assertIsNotNone(node.returns)
        mypy = shutil.which("mypy")
        if not mypy:
            self.skipTest("no mypy")
        done = subprocess.run([mypy, "--strict", "--cache-dir", self.dir / "mypy", SOURCES / "ptxasw"], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_page(self):
        python = next((path for path in pythons().values() if path and has_module(path, "numpy")), None)
        if not python:
            self.skipTest("no NumPy")
        text = (ROOT / "docs/python.md").read_text()
        first, triton, pytest = re.findall(r"```python\n(.*?)```", text, re.S)
        self.assertIn("from_triton", triton)  # the example triton_softmax.py has it, for a GPU
        (self.dir / "docs").symlink_to(ROOT / "docs")
        done = subprocess.run([python, "-B", "-c", first + pytest + "test_saxpy()\n"], text=True, capture_output=True,
                              env=dict(environment(), UPDATE_LINT_BASELINE="1"))
        if "real ptxas" in done.stderr:
            self.skipTest("no ptxas")
        self.assertEqual((done.returncode, done.stdout), (0, "1999.0\n"), done.stderr)
        self.assertTrue((self.dir / "saxpy.baseline").exists())

    def test_every_function_is_on_the_page(self):
        text = (ROOT / "docs/python.md").read_text()
        names = re.search(r"__all__ = \[(.*?)\]", (SOURCES / "ptxasw/__init__.py").read_text(), re.S)[1]
        for name in re.findall(r'"([a-z]\w+)"', names):
            self.assertRegex(text, rf"\b{name}\(", name)


if __name__ == "__main__":
    main()
