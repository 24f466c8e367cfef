"""The Python package (its tests: python/package.py; test_pythons.py runs them under each Python), its syntax, its types, and the
examples of docs/python.md."""

import ast
import re
import shutil
import subprocess
from pathlib import Path

from pythons import PYTHON, SOURCES, environment, has_module, package
from support import PTXASW, Scratch, main

ROOT = Path(__file__).resolve().parents[2]
TRITON = """from types import SimpleNamespace as Space
import numpy, ptxasw
compiled = Space(asm={{"ptx": open("docs/examples/triton_softmax.ptx").read()}}, metadata=Space(
    name="softmax", num_warps=4, shared=16, global_scratch_size=0, profile_scratch_size=0))
class Softmax:
    def __getitem__(self, grid):
        return lambda *args, **constants: compiled
softmax, rows, columns = Softmax(), 4, 1000
source = x = numpy.random.default_rng(1).standard_normal((rows, columns), numpy.float32)
result, y = None, numpy.empty_like(x)
{page}
powers = numpy.exp(x - x.max(axis=1, keepdims=True))
numpy.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)
print(ptxasw.check(kernel, grid=2, args=[y, x, columns]))
"""


class Package(Scratch):
    def test_package(self):
        done = package(PYTHON)
        self.assertEqual(done.returncode, 0, done.stderr)

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
        if not has_module(PYTHON, "numpy"):
            self.skipTest("no NumPy")
        text = (ROOT / "docs/python.md").read_text()
        first, triton, pytest = re.findall(r"```python\n(.*?)```", text, re.S)
        (self.dir / "docs").symlink_to(ROOT / "docs")
        done = subprocess.run([PYTHON, "-B", "-c", first + pytest + "test_saxpy()\n"], text=True, capture_output=True,
                              env=dict(environment(), UPDATE_LINT_BASELINE="1"))
        if "real ptxas" in done.stderr:
            self.skipTest("no ptxas")
        self.assertEqual((done.returncode, done.stdout), (0, "1999.0\n"), done.stderr)
        self.assertTrue((self.dir / "saxpy.baseline").exists())
        # Triton's launch in the page gives what Triton compiled: a stand-in has the PTX that is in the tree. The real one
        # is in the example triton_softmax.py, for a GPU.
        done = subprocess.run([PYTHON, "-B", "-c", TRITON.format(page=triton)], text=True, capture_output=True, env=environment())
        self.assertEqual((done.returncode, done.stdout), (0, "[]\n"), done.stderr)

    def test_the_stored_ptx_of_triton_leads_to_its_source(self):
        lines = (ROOT / "docs/examples/triton_softmax.py").read_text().splitlines()
        ptx = (ROOT / "docs/examples/triton_softmax.ptx").read_text()
        first = next(n for n, line in enumerate(lines, 1) if line.startswith("def softmax"))
        told = {int(line) for line in re.findall(r"\.loc\t1 (\d+) ", ptx)}
        self.assertEqual(told, set(range(first, first + 7)))
        column = ptx.replace("mul.wide.u32 \t%rd21, %r29, 4;", "mul.wide.u32 \t%rd21, %r29, 400;")
        self.assertTrue(column != ptx)
        done = subprocess.run([PTXASW, "lint", self.write("column.ptx", column), "--source-root", ROOT / "docs/examples"],
                              cwd=ROOT / "docs/examples", text=True, capture_output=True)
        self.assertIn(f"triton_softmax.py:{first + 4}:", done.stdout)
        self.assertIn("x = tl.load(source + row * columns + at", done.stdout)

    def test_every_function_is_on_the_page(self):
        text = (ROOT / "docs/python.md").read_text()
        names = re.search(r"__all__ = \[(.*?)\]", (SOURCES / "ptxasw/__init__.py").read_text(), re.S)[1]
        for name in re.findall(r'"([a-z]\w+)"', names):
            self.assertRegex(text, rf"\b{name}\(", name)


if __name__ == "__main__":
    main()
