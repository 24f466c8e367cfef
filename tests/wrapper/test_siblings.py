"""`ptxasw siblings` and the drop-in's settings for it: output, table, errors; what ptxas says."""

import json
import os
import shutil
import struct
import subprocess
import unittest
from pathlib import Path

from support import JACOBI, PTXASW, Scratch, main, run

try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests/synth/retile"
BARRIER = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
  bar.sync 0;
  ret;
}
"""


def tables(text):
    """The tables in a module's text, by kernel."""
    found = {}
    for part in text.split(".global .align 8 .b8 ")[1:]:
        name = part.split("[")[0]
        if name.endswith("__ptxasw_siblings"):
            data = bytes(int(n) for n in part[part.index("{") + 1:part.index("}")].split(","))
            magic, version, length = struct.unpack_from("<8sII", data)
            assert (magic, version, len(data)) == (b"PTXASWS\0", 1, 16 + length)
            found[name.removesuffix("__ptxasw_siblings")] = json.loads(data[16:])
    return found


class Siblings(Scratch):
    def test_text(self):
        result = run([PTXASW, "siblings", JACOBI, "--retile=x4,y2"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("  retile x4: grid.x / 4\n", result.stdout)
        self.assertIn("  retile y2: grid.y / 2\n", result.stdout)
        self.assertNotIn("registers", result.stdout)
        result = run([PTXASW, "siblings", JACOBI, "--retile=y4-neighbours-r64", "--maxnreg=40"])
        self.assertIn("  retile y4-neighbours-r64: block.y / 4\n", result.stdout)
        self.assertIn("  registers 40: the same launch\n", result.stdout)

    def test_output(self):
        result = run([PTXASW, "siblings", JACOBI, "-o", "out.ptx", "--retile", "x4"])
        self.assertEqual(result.returncode, 0, result.stderr)
        text, original = Path("out.ptx").read_text(), Path(JACOBI).read_text()
        self.assertTrue(text.startswith(original))
        ((kernel, table),) = tables(text).items()
        self.assertEqual(table["kernel"], kernel)
        (sibling,) = table["siblings"]
        self.assertEqual((sibling["grid"], sibling["append"]), ([4, 1, 1], ["grid.x"]))
        self.assertIn(f".entry {sibling['name']}(", text)
        again = run([PTXASW, "siblings", JACOBI, "-o", "-", "--retile", "x4"])
        self.assertEqual(again.stdout, text)
        self.assertEqual(again.stderr, result.stdout)

    @unittest.skipUnless(jsonschema, "needs python3-jsonschema")
    def test_schema(self):
        schema = json.loads((ROOT / "docs/siblings.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        for path in [JACOBI, *GOLDEN.glob("*.ptx")]:
            run([PTXASW, "siblings", path, "-o", "out.ptx"])
            for table in tables(Path("out.ptx").read_text()).values():
                jsonschema.validate(table, schema, jsonschema.Draft202012Validator)

    def test_json(self):
        self.write("barrier.ptx", BARRIER)
        result = run([PTXASW, "siblings", "barrier.ptx", "--json", "-o", "out.ptx"])
        (kernel,) = json.loads(result.stdout)["kernels"]
        self.assertEqual((kernel["siblings"], kernel["unproved"]), ([], []))
        (refusal,) = kernel["refusals"]
        self.assertEqual((refusal["reason"], refusal["line"]), ("barrier", 6))
        self.assertEqual(Path("out.ptx").read_text(), BARRIER)

    def test_no_kernel(self):
        self.write("empty.ptx", ".version 8.0\n.target sm_75\n.address_size 64")
        result = run([PTXASW, "siblings", "empty.ptx", "-o", "out.ptx"])
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual(Path("out.ptx").read_bytes(), Path("empty.ptx").read_bytes())

    def test_errors(self):
        for words, code, text in ((["none.ptx"], 1, "cannot read"), ([JACOBI, "--kernel", "none"], 1, "none"),
                                  ([JACOBI, "--retile", "x3"], 2, "x3"), ([JACOBI, "--most", "-1"], 2, "most"),
                                  ([JACOBI, "-o", "none/out.ptx"], 1, "none/out.ptx")):
            result = run([PTXASW, "siblings", *words])
            self.assertEqual((result.returncode, result.stdout), (code, ""), words)
            self.assertIn(text, result.stderr)

    @unittest.skipUnless(shutil.which("ptxas"), "needs ptxas")
    def test_assembles(self):
        for path in GOLDEN.glob("*.ptx"):
            run([PTXASW, "siblings", path, "-o", "out.ptx", "--retile=x4,y2,z8,y4-rows-r64,y4-neighbours-r64", "--maxnreg=40"])
            for arch in (75, 80, 90, 100, 120):
                done = run(["ptxas", f"-arch=sm_{arch}", "out.ptx", "-o", "out.cubin"])
                self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(shutil.which("ptxas") and shutil.which("cuobjdump"), "needs ptxas and cuobjdump")
    def test_drop_in(self):
        os.symlink(PTXASW, "ptxas")
        environment = {**os.environ, "PTXASW_REAL": shutil.which("ptxas")}

        def entries(*words):
            done = subprocess.run(["./ptxas", "-arch=sm_90", *words, str(JACOBI), "-o", "out.cubin"],
                                  capture_output=True, text=True, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            listed = run(["cuobjdump", "-symbols", "out.cubin"]).stdout
            return listed.count("STO_ENTRY"), "__ptxasw_siblings" in listed

        self.assertEqual(entries(), (1, False))
        self.assertEqual(entries("--ptxasw-siblings=2"), (3, True))
        self.assertEqual(entries("--ptxasw-siblings=9", "--ptxasw-retile=y4"), (2, True))
        self.assertEqual(entries("--ptxasw-siblings=9", "--ptxasw-retile=y4", "--ptxasw-maxnreg=32,64"), (4, True))
        self.assertEqual(entries("--ptxasw-siblings=0"), (1, False))
        done = subprocess.run(["./ptxas", "--ptxasw-retile=w4", str(JACOBI)], capture_output=True, text=True,
                              env=environment)
        self.assertEqual(done.returncode, 255)
        self.assertIn("w4", done.stderr)


if __name__ == "__main__":
    main()
