"""`ptxasw lint`: text, JSON, SARIF, severity, the gate, and warnings in builds. What the warnings
are is tested in tests/analysis."""

import json
import os
import re
import tempfile
import unittest
from pathlib import Path

from support import JACOBI, PTXASW, Scratch, cuda_home, main, run

# Lane stride 64 bytes at a.cu:7:3, inlined into b.cu:20:5; the second kernel is another instance.
KERNEL = """.visible .entry %s(.param .u64 p) .reqntid 128, 1, 1 {
  .reg .b32 %%r<4>; .reg .b64 %%rd<4>; .reg .f32 %%f<2>;
  .loc 1 20 5
  ld.param.u64 %%rd1, [p];
  mov.u32 %%r1, %%tid.x;
  mul.wide.u32 %%rd2, %%r1, %d;
  add.s64 %%rd3, %%rd1, %%rd2;
  .loc 2 7 3, function_name $L__info_string0, inlined_at 1 20 5
  ld.global.f32 %%f1, [%%rd3];
  st.global.f32 [%%rd3], %%f1;
  ret;
}
"""
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
FILES = """.file 1 "b.cu"
.file 2 "a.cu"
.section .debug_str
{
$L__info_string0:
.b8 107
.b8 0
}
"""


def module(stride, *names):
    return HEAD + "".join(KERNEL % (name, stride) for name in names or ("k",)) + FILES


# What of SARIF 2.1.0's schema the output uses.
SARIF = {
    "type": "object", "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": {
            "type": "object", "required": ["tool"],
            "properties": {
                "tool": {"type": "object", "required": ["driver"], "properties": {"driver": {
                    "type": "object", "required": ["name"],
                    "properties": {"name": {"type": "string"}, "version": {"type": "string"},
                                   "rules": {"type": "array", "uniqueItems": True, "items": {
                                       "type": "object", "required": ["id"],
                                       "properties": {"id": {"type": "string"},
                                                      "shortDescription": {"$ref": "#/$defs/message"},
                                                      "help": {"$ref": "#/$defs/message"},
                                                      "helpUri": {"type": "string", "pattern": "^[a-z]+:"},
                                                      "defaultConfiguration": {
                                                          "type": "object", "properties": {
                                                              "enabled": {"type": "boolean"}, "level": {"const": "warning"}},
                                                          "additionalProperties": False}},
                                       "additionalProperties": False}}},
                    "additionalProperties": False}}},
                "originalUriBaseIds": {"type": "object", "additionalProperties": {
                    "type": "object", "properties": {"uri": {"type": "string"}, "description": {"$ref": "#/$defs/message"}},
                    "additionalProperties": False}},
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "results": {"type": "array", "items": {
                    "type": "object", "required": ["message"],
                    "properties": {
                        "ruleId": {"type": "string"},
                        "ruleIndex": {"type": "integer", "minimum": 0},
                        "level": {"enum": ["none", "note", "warning", "error"]},
                        "message": {"$ref": "#/$defs/message"},
                        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                        "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
                        "relatedLocations": {"type": "array", "items": {"$ref": "#/$defs/location"}}},
                    "additionalProperties": False}}},
            "additionalProperties": False}},
        "$schema": {"type": "string"}},
    "additionalProperties": False,
    "$defs": {
        "message": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}},
                    "additionalProperties": False},
        "location": {"type": "object", "properties": {
            "message": {"$ref": "#/$defs/message"},
            "logicalLocations": {"type": "array", "uniqueItems": True, "items": {"type": "object", "properties": {
                "fullyQualifiedName": {"type": "string"}, "kind": {"type": "string"}}, "additionalProperties": False}},
            "physicalLocation": {"type": "object", "required": ["artifactLocation"], "properties": {
                "artifactLocation": {"type": "object", "properties": {"uri": {"type": "string"}, "uriBaseId": {"type": "string"}},
                                     "additionalProperties": False},
                "region": {"type": "object", "properties": {
                    "startLine": {"type": "integer", "minimum": 1},
                    "startColumn": {"type": "integer", "minimum": 1}}, "additionalProperties": False}},
                "additionalProperties": False}}, "additionalProperties": False}}}


PAGE = Path(__file__).resolve().parents[2] / "docs/lint-codes.md"
PAGES = PAGE.with_suffix("")
# What the examples of that page stand in, by code: parameters, what is before and what is behind them, and
# what is behind the second if that is something else.
TILES = "const int tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x * 32, by = blockIdx.y * 32, x = bx + tx, y = by + ty; (void)x; (void)y;"
SUM = "out[i] = sum;"
COUNTS = "int all = 0; for (int j = 0; j < 16; ++j) all += j * count[j]{}; out[i] = all;"
AROUND = {
    "uncoalesced": ("const float *in, float *out, int n", TILES, ""),
    "bank-conflict": ("const float *in, float *out", "const int lane = threadIdx.x, row = threadIdx.y, i = (blockIdx.x * 32 + row) * 32 + lane;", ""),
    "divergent-loop": ("const float *value, const int *begin, const int *length, float *out",
                       "const int row = i / 32; (void)row; float sum = 0;", SUM),
    "local-memory": ("const int *in, int *out, int n", "", COUNTS.format(""), COUNTS.format("[threadIdx.x]")),
    "uniform-load": ("const float *q, const float *in, float *out, int n", "const float x = in[i]; float sum = 0;", SUM),
    "redundant-load": ("const float *a, float *b, float *c", "", ""),
    "wide-index": ("const float *a, float *out, long long size, long long n", "float sum = 0;", SUM),
    "division": ("const float *a, float *out, int m, int n", "float sum = 0;", SUM),
    "misaligned-vector": ("const float *p, float *out", "", "out[i] = v.x + v.y + v.z + v.w;"),
    "vector-precondition": ("const float *p, float *out, int n", "const int row = i;", "out[i] = v.x + v.y + v.z + v.w;"),
    "reuse-thrashing": ("const float *a, const float *b, float *out, int n", "float sum = 0;", SUM),
    "contended-atomic": ("const float *in, float *sum", "float x = in[i];", ""),
    "races": ("const float *in, float *out", "__shared__ float tile[256];", ""),
}


class Base(Scratch):
    def lint(self, *words, code=0):
        result = run([PTXASW, "lint", *words])
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def read(self, name):
        return (self.dir / name).read_text()

    def valid(self, sarif):
        try:
            import jsonschema
        except ImportError:
            return sarif
        jsonschema.validate(sarif, SARIF)
        return sarif


class Lint(Base):
    def test_text(self):
        self.write("a.ptx", module(64))
        told = self.lint("a.ptx").stdout
        self.assertEqual(told, """\
a.cu:7:3: warning[uncoalesced]: this load takes 32 sectors per warp where 4 would do
     = help: lanes are 64 bytes apart: swap the loops or the indices so that neighbouring lanes
             touch neighbouring elements, or transpose through shared memory: 32 sectors, 4 would do
     = note: about 100 % of the kernel's global sectors
     = note: 4 of 32 bytes of each sector are used; in k, 2 instructions like this
     = note: inlined at b.cu:20:5

1 warning in 1 of 1 kernel; races: `ptxasw check`
""")  # load and store, one place
        self.write("b.ptx", module(4))
        self.assertEqual(self.lint("b.ptx").stdout, "no warnings in 1 kernel; races: `ptxasw check`\n")
        self.assertEqual(self.lint("b.ptx", "-q").stdout, "")

    def test_the_line_of_the_source(self):
        self.write("a.cu", "\n" * 6 + "  if (p[i] == 0) q[j] = p[k[i]].x + 1;  // p\n")
        self.write("a.ptx", module(64))
        told = self.lint("a.ptx").stdout
        self.assertIn("   7 |   if (p[i] == 0) q[j] = p[k[i]].x + 1;  // p\n"
                      "     |       ^^^^              ^^^^^^^^^\n", told)
        # No such name there: the statement. Long lines are cut around it, and nothing is wider than a page.
        self.write("a.cu", "\n" * 6 + "  " + "x" * 50 + "\t= " + "y" * 150 + "; z\n")
        told = self.lint("a.ptx").stdout
        self.assertIn("\n   7 |   " + "x" * 50 + " = yyy", told)
        self.assertTrue(all(len(line) <= 100 for line in told.splitlines()), told)
        self.assertIn("\033[", self.lint("a.ptx", "--color", "always").stdout)
        self.assertNotIn("\033[", told)

    def test_what_is_shown_as_source(self):
        # Somebody else's PTX names files that are not to be shown.
        secret = "password = 1234"
        outside = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (outside / "a.cu").write_text((secret + "\n") * 9)
        (outside / "passwd").write_text((secret + "\n") * 9)
        self.write("passwd", (secret + "\n") * 9)
        os.symlink(outside / "a.cu", "link.cu")
        for name in (f"{outside}/a.cu", f"{outside}/passwd", "passwd", "link.cu", "/etc/passwd", "/dev/zero",
                     f"{self.dir}/../{outside.name}/a.cu"):
            self.write("a.ptx", module(64).replace('"a.cu"', f'"{name}"'))
            self.assertNotIn(secret, self.lint("a.ptx").stdout, name)
            self.assertEqual(run([PTXASW, "report", "a.ptx", "-o", "."]).returncode, 0)
            self.assertNotIn(secret, self.read("k.html"), name)
        self.write("a.ptx", module(64).replace('"a.cu"', f'"{outside}/a.cu"'))
        self.assertIn(secret, self.lint("a.ptx", "--source-root", outside).stdout)
        # What lies beside the PTX is the PTX's.
        (outside / "a.ptx").write_text(module(64))
        self.assertIn(secret, self.lint(outside / "a.ptx").stdout)

    def test_no_control_characters_of_others(self):
        self.write("a.ptx", module(64).replace('"a.cu"', '"a\033[31m.cu"'))
        self.assertNotIn("\033", self.lint("a.ptx").stdout)

    def test_names_of_the_source(self):
        kernel = (module(64, "_Z4heatPfiS_").replace("(.param .u64 p)", "(.param .u64 %s0, .param .u32 %s1, .param .u64 %s2)")
                  .replace("[p]", "[%s0]").replace("mul.wide.u32 %rd2, %r1, 64;",
                           "ld.param.u32 %r2, [%s1]; mul.lo.u32 %r3, %r1, %r2; mul.wide.u32 %rd2, %r3, 4;")
                  .replace("%s", "_Z4heatPfiS__param_").replace(", function_name $L__info_string0, inlined_at 1 20 5", ""))
        self.write("a.ptx", kernel)
        told = self.lint("a.ptx").stdout
        self.assertIn("lanes are 4 * param 1 (int) bytes apart", told)
        self.assertIn("in heat,", told)
        self.write("b.cu", "\n" * 15 + "// heat(int)\n__global__ void heat(float *const a[], /* , */ int pitch = 3,\n"
                   "                     float (&b)[4])\n{\n  a = 1;\n}\n")
        self.write("a.cu", "\n" * 6 + "  a[0] = 1; c[1] = a[2];\n")
        told = self.lint("a.ptx").stdout
        self.assertIn("lanes are 4 * pitch bytes apart", told)
        self.assertIn("|   a[0] = 1; c[1] = a[2];\n     |                    ^^^^\n", told)
        # Another list is another function's.
        self.write("b.cu", "\n" * 18 + "__global__ void heat(int pitch) {\n}\n")
        self.assertIn("param 1 (int)", self.lint("a.ptx").stdout)

    def test_kernels_by_name(self):
        self.write("a.ptx", module(64, "_Z4heatIfEvPT_", "_Z4heatIdEvPT_", "_ZN2ab5swirlEPf"))
        names = lambda *words: [k["name"] for k in json.loads(self.lint("a.ptx", "--json", *words).stdout)["kernels"]]
        for word, count in (("heat", 2), ("heat*", 2), ("heat<float>", 1), ("heat<double>(double*)", 1), ("*", 3),
                            ("ab::swirl", 1), ("swirl", 1), ("_ZN2ab5swirlEPf", 1), ("sw?rl", 1)):
            self.assertEqual(len(names("--kernel", word)), count, word)
        self.assertEqual(len(names("--kernel", "swirl", "--kernel", "heat<float>")), 2)
        failed = run([PTXASW, "lint", "a.ptx", "--kernel", "heap"])
        self.assertEqual((failed.returncode, failed.stdout), (2, ""))
        self.assertIn("there is no kernel `heap` in `a.ptx`; it has:\n  heat<float>(float*)\n", failed.stderr)

    def test_a_kernel_of_one_of_several_files(self):
        self.write("a.ptx", module(64, "_Z4heatf"))
        self.write("b.ptx", module(64, "_Z4coolf", "_Z4meltf"))
        for files in (("a.ptx", "b.ptx"), ("b.ptx", "a.ptx")):
            result = self.lint(*files, "--json", "--kernel", "cool")
            self.assertEqual([k["name"] for k in json.loads(result.stdout)["kernels"]], ["_Z4coolf"])

    def test_allowed_where_it_stands(self):
        self.write("a.ptx", module(64))
        line = "  x = p[i];"
        for text, allowed in ((line + "  // ptxasw: allow(uncoalesced) small", True),
                              (line + "  /* ptxasw: allow(bank-conflict, uncoalesced) */", True),
                              (line + "  // ptxasw: allow(bank-conflict)", False), (line, False)):
            self.write("a.cu", "\n" * 6 + text + "\n")
            result = self.lint("a.ptx", "-Werror", code=0 if allowed else 1)
            self.assertEqual("1 allowed by the source" in result.stdout, False)
            self.assertEqual("2 allowed by the source" in result.stdout, allowed, text)
            self.assertEqual("allow(bank-conflict) allows nothing" in result.stderr, "bank" in text)
        self.write("a.cu", "\n" * 4 + "// ptxasw: allow(uncoalesced)\n// really\n" + line + "\n")
        self.assertIn("allowed", self.lint("a.ptx").stdout)
        self.write("a.cu", "\n" * 4 + "// ptxasw: allow(uncoalesced)\nint i;\n" + line + "\n")
        self.assertIn("warning", self.lint("a.ptx").stdout)
        os.unlink("a.cu")
        self.write("b.cu", "\n" * 19 + "  f(i);  // ptxasw: allow(uncoalesced) where it is inlined\n")
        self.assertIn("allowed", self.lint("a.ptx").stdout)
        self.write("b.cu", "\n" * 19 + "  f(i);  // ptxasw: allow(uncoalesed)\n")
        self.assertIn("b.cu:20: warning: there is no warning `uncoalesed`; did you mean `uncoalesced`?",
                      self.lint("a.ptx").stderr)
        self.write("ptxasw.toml", 'lint-allow = ["uncoalesced:a.*"]\n')
        self.assertIn("allowed", self.lint("a.ptx").stdout)
        self.write("ptxasw.toml", 'lint-allow = "uncoalesced:b.*"\n')
        self.assertIn("allowed", self.lint("a.ptx").stdout)  # that is where it was inlined
        # An entry that allows nothing is told where it could; a wrong one is refused with the nearest code.
        for entry, told in (("bank-conflict:b.*", True), ("bank-conflict:c.*", False), ("uniform-load:b.*", False)):
            self.write("ptxasw.toml", f'lint-allow = "uncoalesced:b.*,{entry}"\n')
            said = self.lint("a.ptx", "-Werror").stderr
            self.assertEqual(f"lint-allow: warning: `{entry}` allows nothing" in said, told, said)
        self.write("ptxasw.toml", 'lint-allow = "uncoalesced"\n')
        self.lint("a.ptx", code=2)
        for setting in ('lint-allow = "uncoalesed:b.*"', 'lint-errors = "uncoalesed"', 'lint-warnings = "all,uncoalesed"'):
            self.write("ptxasw.toml", setting + "\n")
            self.assertIn("there is no warning `uncoalesed`; did you mean `uncoalesced`?", self.lint("a.ptx", code=2).stderr)
        os.unlink("ptxasw.toml")
        plain = "\n".join(l for l in module(64).split("\n") if ".loc" not in l)
        self.write("c.ptx", plain.replace("  ld.global", "  // ptxasw: allow(uncoalesced)\n  ld.global"))
        told = self.lint("c.ptx")
        self.assertEqual((told.stdout.count("warning[uncoalesced]"), told.stderr), (1, ""))

    def test_equal_lines_without_a_source_are_one(self):
        plain = "\n".join(l for l in module(64, "_Z1kPf").split("\n") if ".loc" not in l)
        self.write("a.ptx", plain.replace("  ret;", "  ld.global.f32 %f1, [%rd3+32];\n  ld.global.f32 %f1, [%rd3+64];\n  ret;"))
        told = self.lint("a.ptx").stdout
        self.assertEqual(told.count("warning[uncoalesced]: this load"), 1)
        self.assertIn("3 instructions like this, also in PTX lines 12, 13", " ".join(told.split()))
        self.assertIn("`nvcc -lineinfo`", told)

    def test_the_costliest_comes_first(self):
        looped = module(64).replace("  ld.global.f32 %f1, [%rd3];", "").replace(
            "  ret;", "  mov.u32 %r2, 0;\nL:\n  .loc 2 9 3\n  ld.global.f32 %f1, [%rd3];\n  add.u32 %r2, %r2, 1;\n"
            "  setp.lt.u32 %p1, %r2, 100;\n  @%p1 bra L;\n  ret;").replace(".reg .f32", ".reg .pred %p<2>; .reg .f32")
        self.write("a.ptx", looped)
        told = self.lint("a.ptx").stdout
        self.assertLess(told.index("a.cu:9:3"), told.index("a.cu:7:3"))
        # Of the sectors 100 * 32 are the loop's and 32 the store's.
        self.assertIn("note: about 99 % of the kernel's global sectors\n", told)
        self.assertIn("note: less than 1 % of the kernel's global sectors\n", told)
        # Where an access may cost anything, as one that goes where a loaded index says, no share is known.
        self.write("a.ptx", module(64).replace("  ret;", "  ld.global.u32 %r2, [%rd1];\n  mul.wide.u32 %rd2, %r2, 4;\n  add.s64 %rd3, %rd1, %rd2;\n"
                                               "  ld.global.u32 %r2, [%rd3];\n  shr.u32 %r2, %r2, %r1;\n  mul.wide.u32 %rd2, %r2, 4;\n"
                                               "  add.s64 %rd3, %rd1, %rd2;\n  st.global.u32 [%rd3], %r2;\n  ret;"))
        self.assertNotIn("of the kernel's", self.lint("a.ptx").stdout)

    def test_several_inputs(self):
        self.write("a.ptx", module(64))
        self.write("b/c/d.ptx", module(64, "other"))
        self.write("b/e/f.ptx", module(4))
        self.write("b/g.txt", "no PTX")
        told = self.lint("a.ptx", "b").stdout  # one place, in two modules
        self.assertIn("in k and 1 more kernel", told)
        self.assertIn("1 warning in 2 of 3 kernels", told)
        self.assertIn("no warnings in 1 kernel", self.lint("b", "--exclude", "c").stdout)
        self.assertIn("no warnings in 1 kernel", self.lint("b", "--exclude", "*/d.ptx").stdout)
        with open("a.ptx") as text:
            self.assertIn("in 1 of 2 kernels", run([PTXASW, "lint", "-", "b/e"], stdin=text).stdout)
        both = json.loads(self.lint("a.ptx", "b", "--json").stdout)
        self.assertEqual((both["file"], [k["file"] for k in both["kernels"]]), (None, ["a.ptx", "b/c/d.ptx", "b/e/f.ptx"]))
        self.lint("a.ptx", "b", "--sarif", "all.sarif")
        self.assertEqual(len(json.loads(self.read("all.sarif"))["runs"]), 1)

    def test_what_is_no_ptx(self):
        elf = b"\x7fELF\x02\x01\x01" + bytes(11)
        for name, content, why in (("empty", b"", "is empty"), ("blank", b" \n", "is empty"),
                                   ("cubin", elf + (190).to_bytes(2, "little") + bytes(40), "is a cubin"),
                                   ("a.a", b"!<arch>\n", "without code for GPUs"),
                                   ("ir.ll", b'; ModuleID = "x"\n', "is LLVM IR"), ("data.ptx", bytes(99), "binary file"),
                                   ("README.md", b"# heat\n\n```cuda\n__global__ void k();\n```\n", "is taken for a text"),
                                   ("a.json", b'{"kernel": ".version"}\n', "is taken for a text"),
                                   ("a.txt", b"no PTX\n", "neither PTX, which begins with `.version`, nor a CUDA source")):
            (self.dir / name).write_bytes(content)
            for command in ("lint", "cost", "explain", "report"):
                failed = run([PTXASW, command, name])
                self.assertEqual((failed.returncode, failed.stdout), (2, ""), (command, name))
                self.assertIn(f"ptxasw: error: `{name}` ", failed.stderr)
                self.assertIn(why, failed.stderr)
                self.assertEqual(failed.stderr.count("\n"), 1)
        (self.dir / "none").mkdir()
        self.assertIn("no `.ptx`, no `.cu` and no program with PTX", self.lint("none", code=2).stderr)
        self.assertIn("nothing to read", self.lint(code=2).stderr)

    def test_launch_in_one_option(self):
        self.write("a.ptx", HEAD + """.visible .entry _Z1kPfj(.param .u64 _Z1kPfj_param_0, .param .u32 _Z1kPfj_param_1) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<2>;
  .loc 1 3 3
  ld.param.u64 %rd1, [_Z1kPfj_param_0];
  ld.param.u32 %r1, [_Z1kPfj_param_1];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r2, %r1, %r3;
  mul.wide.s32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  st.global.f32 [%rd3], %f1;
  ret;
}
.file 1 "a.cu"
""")
        self.write("a.cu", "// k\n__global__ void k(float *a, unsigned pitch) {\n  a[blockIdx.x * pitch + threadIdx.x] += 1;\n}\n")
        self.write("launch.toml", 'grid = [4]\nblock = [64]\nargs = ["buffer:0", 1025]\n')
        words = ("a.ptx", "-q", "--threshold", "100")
        for launch in ("base-align=256,param_1=1025,block=64", "base-align=256,pitch=1025,block=64x1,grid=4"):
            self.assertIn("up to 5 sectors per warp where 4", self.lint(*words, "--launch", launch).stdout, launch)
            self.assertIn("up to 5 sectors per warp where 4",
                          self.lint(*words, *(w for l in launch.split(",") for w in ("--launch", l))).stdout)
        self.assertEqual(self.lint(*words, "--launch", "base-align=256,pitch=1024,block=64").stdout, "")
        bound = lambda *words: run([PTXASW, "cost", "--only", "bounds", "a.ptx", *words])
        self.assertEqual(bound("--launch", "pitch=1024,block=64,grid=2").stdout,
                         bound("--launch", "param_1=1024,block=64,grid=2").stdout)
        for command in ("explain",):
            self.assertEqual(run([PTXASW, command, "a.ptx", "--launch", "block=64,pitch=1024"]).returncode, 0)
        for command in ("lint", "cost", "report", "explain"):
            for wrong, why in (("block=x", "X, XxY"), ("n=3,block=32,8", "`block=32,8` is written `block=32x8` now"),
                               ("ptich=1024", "no kernel has a parameter `ptich`; did you mean `pitch`?"),
                               ("gird=4", "did you mean `grid`?"), ("parm_1=zeros:4", "did you mean `param_1`?"), ("block=2048", "block"), ("pitch", "cannot read"), ("n=q", "whole number"),
                               ("base-align=3", "a power of two"), ("pitch=", "whole number")):
                failed = run([PTXASW, command, "a.ptx", "--launch", wrong])
                self.assertEqual((failed.returncode, failed.stdout), (2, ""), (command, wrong))
                self.assertIn(why, failed.stderr)

    def test_codes(self):
        listed = self.lint("--list-codes").stdout
        page = PAGE.read_text()
        codes = re.findall(r"^([a-z-]+) +(?:on|pedantic|by name) ", listed, flags=re.M)
        self.assertEqual(sorted(codes), sorted(page.stem for page in PAGES.glob("*.md")))
        for code in codes:
            text = self.lint("--explain", code).stdout
            self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
            self.assertNotRegex(text, r"\*\*|\]\(|```")
            # Numbers are those of the table, which has them from the measurement.
            (measured,) = re.findall(r"^Measured.*?: (.*?)\n\n", text, flags=re.M | re.S)
            rows = "".join(re.findall(rf"^\| \[?`{code}`.*\n(?:\| \|.*\n)*", page, flags=re.M))
            self.assertTrue(rows, code)
            for number in re.findall(r"\d+\.\d+", measured):
                self.assertIn(number, rows, code)
            before, after = self.examples(code)
            for line in [*before.splitlines(), *after.splitlines()]:
                self.assertIn("    " + line if line else "", text.splitlines(), code)
        self.assertEqual(listed.count(" pedantic "), 5)
        self.assertIn("did you mean `uncoalesced`?", self.lint("--explain", "uncoalesed", code=2).stderr)

    def test_werror_and_pedantic(self):
        self.write("a.ptx", module(64))
        for words in (["-Werror"], ["-W", "error"], ["-Werror=uncoalesced"]):
            self.assertIn("error[uncoalesced]", self.lint("a.ptx", *words, code=1).stdout)
        self.lint("a.ptx", "-Werror=bank-conflict")
        self.lint("a.ptx", "-Werror", "-Wno-uncoalesced")
        loop = HEAD + """.visible .entry k(.param .u64 p) .reqntid 64 {
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<2>; .reg .pred %p1;
  ld.param.u64 %rd1, [p];
  mov.u32 %r2, 0;
L: ld.global.f32 %f1, [%rd1];
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 10;
  @%p1 bra L;
  ret;
}
"""
        self.write("b.ptx", loop)
        self.assertEqual(self.lint("b.ptx").stdout, "no warnings in 1 kernel; 1 note hidden by default (-W pedantic); races: `ptxasw check`\n")
        self.assertEqual(self.lint("b.ptx", "-W", "no-uniform-load").stdout, "no warnings in 1 kernel; races: `ptxasw check`\n")
        for word in ("pedantic", "uniform-load", "all"):
            self.assertIn("warning[uniform-load]", self.lint("b.ptx", "-W", word).stdout)
        self.assertIn("did you mean `no-bank-conflict`?", self.lint("b.ptx", "-W", "no-bankconflict", code=2).stderr)

    def test_instances_of_a_template_are_one_place(self):
        self.write("a.ptx", module(64, "one", "two", "three"))
        told = self.lint("a.ptx").stdout
        self.assertEqual(told.count("warning["), 1)
        self.assertIn("in one and 2 more kernels", told)
        self.assertEqual(len(json.loads(self.lint("a.ptx", "--json").stdout)["kernels"]), 3)

    def test_json(self):
        self.write("a.ptx", module(64))
        (kernel,) = json.loads(self.lint("a.ptx", "--json").stdout)["kernels"]
        self.assertEqual(kernel["block"], [128, 1, 1])
        load = kernel["accesses"][1]
        self.assertEqual((load["op"], load["bytes"], load["lane_stride"], load["sectors"]),
                         ("load", 4, 64, {"value": 32, "ideal": 4, "verdict": "exact"}))
        self.assertEqual([w["share"] for w in kernel["warnings"]], [1])
        self.assertEqual(load["source"], {"file": "a.cu", "line": 7, "column": 3,
                                          "inlined_at": [{"file": "b.cu", "line": 20, "column": 5}]})

    def test_at_a_launch(self):
        # a[ctaid.x * n + tid.x]: where rows begin depends on n.
        self.write("a.ptx", HEAD + """.visible .entry k(.param .u64 p, .param .u32 n) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r2, %r1, %r3;
  mul.wide.s32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  st.global.f32 [%rd3], %f1;
  ret;
}
""")
        words = ("a.ptx", "--launch", "base-align=256", "--threshold", "100")
        self.assertEqual(self.lint(*words, "-q").stdout, "")
        self.assertEqual(self.lint(*words, "-q", "--launch", "n=1024,block=256").stdout, "")
        for at in ("n=1025,block=256", "k:n=0x401"):
            self.assertIn("takes up to 5 sectors per warp where 4 would do", self.lint(*words, "--launch", at).stdout)
        for at, why in (("n", "NAME=NUMBER"), ("n=x", "no whole number"), ("m=3", "no kernel has a parameter `m`"),
                        ("block=2048", "block")):
            failed = run([PTXASW, "lint", "a.ptx", "--launch", at])
            self.assertEqual(failed.returncode, 2, at)
            self.assertIn(why, failed.stderr)

    def test_at_a_grid(self):
        # s[tid.x * gridDim.x]
        self.write("a.ptx", HEAD + """.visible .entry k(.param .u32 n) {
  .reg .b32 %r<8>;
  .shared .align 4 .b8 s[8192];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  mul.lo.s32 %r4, %r2, %r3;
  shl.b32 %r4, %r4, 2;
  mov.u32 %r5, s;
  add.s32 %r5, %r5, %r4;
  st.shared.u32 [%r5], %r2;
  ret;
}
""")
        self.assertEqual(self.lint("a.ptx", "-q", "--launch", "grid=1").stdout, "")
        for grid, wavefronts in ((2, 2), (8, 8), (32, 32)):
            self.assertIn(f"takes {wavefronts} wavefronts per warp where 1 would do",
                          self.lint("a.ptx", "--launch", f"block=64,grid={grid}").stdout)

    @unittest.skipUnless(cuda_home(), "no nvcc")
    def test_a_build_says_how_sources_are_compiled(self):
        (self.dir / "build").mkdir()
        self.write("a.cu", "__global__ void k(float *a) {\n  a[(threadIdx.x + 64 * blockIdx.x) * STRIDE] += 1;\n}\n")

        def build(entries):
            (self.dir / "build/compile_commands.json").write_text(entries if isinstance(entries, str) else json.dumps(entries))

        entry = {"directory": str(self.dir), "file": "a.cu"}
        build([entry | {"command": "nvcc -arch=sm_80 -DSTRIDE=16 -c a.cu -o a.o"}])
        self.assertIn("a.cu:2:", self.lint("-p", "build").stdout)
        build([entry | {"arguments": ["nvcc", "-gencode=arch=compute_80,code=sm_80", "-D", "STRIDE=1", "-c", "a.cu"]}])
        self.assertNotIn("a.cu:2:", self.lint("-p", "build", "a.cu").stdout)
        build([])
        self.assertIn("does not compile `a.cu`", self.lint("-p", "build", "a.cu", code=2).stderr)
        for bad, said in (("{", "is no list of commands"), ("[1]", "without `file`"), ([{"file": 3}], "without `file`"),
                          ([entry | {"directory": 3}], "`directory` of an entry is no text"),
                          ([entry | {"command": 3}], "`command` of an entry is no text"),
                          ([entry | {"arguments": ["nvcc", 3]}], "`arguments` of an entry are no texts")):
            build(bad)
            self.assertIn(said, self.lint("-p", "build", "a.cu", code=2).stderr)
        self.assertIn("cannot read `none/compile_commands.json`", self.lint("-p", "none", code=2).stderr)

    def examples(self, code):
        """What is slow, and what is better, of a code's page."""
        before, after = re.findall(r"^```cuda\n(.*?)^```", (PAGES / f"{code}.md").read_text(), flags=re.M | re.S)
        return before, after

    @unittest.skipUnless(cuda_home(), "no nvcc")
    def test_examples_of_the_page(self):
        # Compiled as they are printed, in kernels around them: the first is warned of, the second is not.
        kernels, number = "", len(AROUND)
        for code, (parameters, begin, end, *end_of_after) in AROUND.items():
            for name, text, tail in zip(("before", "after"), self.examples(code), (end, *(end_of_after or [end]))):
                outside = re.match("(?:__constant__.*\n\n)?", text)[0]
                own = parameters.replace("const float *q, ", "") if outside else parameters
                kernels += (f"namespace {name}_{code.replace('-', '_')} {{\n{outside}__global__ void k({own}) {{\n"
                            f"const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32; {{\n"
                            f"{begin}\n{text[len(outside):]}{tail}\n}} }}\n}}\n")
        self.write("page.cu", kernels)
        made = run([os.path.join(cuda_home(), "bin/nvcc"), "-arch=sm_90", "-ptx", "-o", "page.ptx", "page.cu"])
        self.assertEqual(made.returncode, 0, made.stderr)
        seen = set()
        races = ["-W", "races", "--kernel", "*races*"] # a proof for each kernel
        for shape, *words in (["256"], ["256", *races], ["32x32"]):
            said = json.loads(self.lint("page.ptx", "--json", "-W", "all", *words, "--launch", f"base-align=256,block={shape}").stdout)
            for kernel in said["kernels"]:
                when, code = re.match(r"_ZN\d+(before|after)_(\w+?)1kE", kernel["name"]).groups()
                code = code.replace("_", "-")
                if (shape == "32x32") != (code in ("uncoalesced", "bank-conflict")) or (code == "races") != bool(words):
                    continue
                seen.add((when, code))
                self.assertEqual(code in {w["code"] for w in kernel["warnings"]}, when == "before", (when, code))
        self.assertEqual(len(seen), 2 * number)
        self.assertEqual(sorted(AROUND), sorted(page.stem for page in PAGES.glob("*.md")))

    @unittest.skipUnless(cuda_home(), "no nvcc")
    def test_measured_pairs(self):
        # What docs/lint-codes.md has times of: each kernel gets its warning, and the other one does not.
        pairs = {"uncoalesced": ["uncoalesced", "records", "rows", "indirect"], "bank-conflict": ["bank_conflict"],
                 "divergent-loop": ["divergent_loop"], "local-memory": ["local_memory"],
                 "uniform-load": ["uniform_load"], "redundant-load": ["redundant_load"],
                 "wide-index": ["wide_index"], "division": ["division"], "contended-atomic": ["contended_atomic"],
                 "misaligned-vector": ["misaligned_vector"]}
        source = JACOBI.parents[2] / "docs/examples/lint_pairs.cu"
        run([os.path.join(cuda_home(), "bin/nvcc"), "-O3", "-arch=sm_90", "-ptx", "-o", "pairs.ptx", str(source)])
        kernels = json.loads(self.lint("pairs.ptx", "--json", "-W", "all", "--launch", "base-align=256,block=256",
                                       "--threshold", "100").stdout)["kernels"]
        codes = {kernel["name"]: {w["code"] for w in kernel["warnings"]} for kernel in kernels}
        for code, names in pairs.items():
            for name in names:
                self.assertIn(code, codes[name + "_before"], name)
                self.assertNotIn(code, codes.get(name + "_after", {}), name)
        self.assertIn("vector-precondition", codes["vector_precondition_after"])

    def test_times(self):
        self.write("a.ptx", HEAD + """.visible .entry k(.param .u64 p, .param .u32 n) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<2>; .reg .pred %p1;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 0;
L: ld.global.f32 %f1, [%rd1];
  mov.u32 %r3, 0;
M: st.global.f32 [%rd1], %f1;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 7;
  @%p1 bra M;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 10;
  @%p1 bra L;
  mov.u32 %r2, 0;
N: st.global.f32 [%rd1+4], %f1;
  ld.volatile.global.u32 %r4, [%rd1];
  setp.lt.u32 %p1, %r4, 10;
  @%p1 bra N;
  ret;
}
""")
        (kernel,) = json.loads(self.lint("a.ptx", "--json").stdout)["kernels"]
        self.assertEqual([a["times"] for a in kernel["accesses"] if a["space"] == "global"], [10, 70, None, None])

    def test_choices(self):
        self.write("a.ptx", module(64))
        self.assertEqual(self.lint("a.ptx", "-q", "-W", "no-uncoalesced").stdout, "")
        self.assertEqual(self.lint("a.ptx", "-q", "-Wno-uncoalesced:k").stdout, "")
        self.assertEqual(self.lint("a.ptx", "-q", "-Wno-uncoalesced:?*").stdout, "")
        self.assertIn("warning", self.lint("a.ptx", "-Wno-uncoalesced:other").stdout)
        self.assertIn("error[uncoalesced]: this load", self.lint("a.ptx", "-Werror=uncoalesced", code=1).stdout)
        self.assertEqual(self.lint("a.ptx", "-q", "--threshold", "900").stdout, "")
        self.write("ptxasw.toml", 'lint-warnings = "no-uncoalesced:k"\n')
        self.assertEqual(self.lint("a.ptx", "-q").stdout, "")
        for words in (["-W", "none-such"], ["-Werror=x"], ["--launch", "base-align=24"],
                      ["--assume", "base-align=256"], ["--update-baseline"], ["--kernel", "x"], ["--launch", "block=0"]):
            self.assertEqual(run([PTXASW, "lint", "a.ptx", *words]).returncode, 2, words)
        self.assertEqual(run([PTXASW, "lint", "none.ptx"]).returncode, 2)
        self.write("empty.ptx", HEAD)
        self.assertEqual(self.lint("empty.ptx", code=2).stdout, "no warnings in 0 kernels\n")

    def test_measured_kernels_come_first(self):
        text = module(64)
        self.write("a.ptx", text)
        self.write("b.ptx", text.replace("k(", "_Z4slowPf(").replace("k_", "_Z4slowPf_").replace("a.cu", "b.cu"))
        plain = self.lint("a.ptx", "b.ptx").stdout
        self.assertLess(plain.index("a.cu:"), plain.index("b.cu:"))
        details = ('==PROF== Disconnected\n"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n'
                   '"0","k","Duration","us","10.0"\n"0","k","Other","%","x"\n"1","slow(float *)","Duration","us","1,500.0"\n'
                   '"2","void slow(float *)","Duration","ns","490,000"\n')
        raw = ('"ID","Kernel Name","gpu__time_duration.sum"\n"","","ms"\n"0","k","0.01"\n"1","slow(float *)","1.5"\n'
               '"2","slow(float *)","0.49"\n')
        for csv in (details, raw):
            self.write("p.csv", csv)
            found = self.lint("a.ptx", "b.ptx", "--profile-csv", "p.csv").stdout
            self.assertLess(found.index("b.cu:"), found.index("a.cu:"))
            self.assertIn("note: measured: 1990.0 us, 99.5 % of all kernels", found)
            self.assertIn("note: measured: 10.0 us, 0.5 % of all kernels", found)
        # The launch helper's log, by the name in the PTX; of a shape that was measured twice the newer time.
        choice = '{"event":"choice","pid":%d,"kernel":"%s","hash":"1","gpu":"H100","block":[%d,1,1],"threads":20,"chosen":"original","original_us":%s,"chosen_us":1.0}\n'
        self.write("p.csv", '{"event":"kernel","pid":1,"kernel":"k"}\n' + choice % (1, "k", 64, "10.0") + choice % (1, "_Z4slowPf", 64, "99.0")
                   + choice % (2, "_Z4slowPf", 64, "40.0") + choice % (2, "_Z4slowPf", 128, "2.5") + '{"event":"end"}\nhalf a li')
        found = self.lint("a.ptx", "b.ptx", "--profile-csv", "p.csv").stdout
        self.assertLess(found.index("b.cu:"), found.index("a.cu:"))
        self.assertIn("note: measured: 42.5 us a launch\n", found)
        self.assertIn("note: measured: 10.0 us a launch\n", found)
        for csv, why in (("nothing\n", "no column `Kernel Name`"), ('{"event":"end"}\n', "a log of the launch helper without times"), ('"Kernel Name"\n"k"\n', "no durations"),
                         (raw.replace("1.5", "fast"), "row 4: the duration is not understood")):
            self.write("p.csv", csv)
            self.assertIn(why, self.lint("a.ptx", "--profile-csv", "p.csv", code=2).stderr)
        self.lint("a.ptx", "--profile-csv", "none.csv", code=2)

    def test_one_bad_file_hides_no_other(self):
        self.write("a.ptx", module(64))
        self.write("b.ptx", "nonsense")
        self.write("c.ptx", module(64).replace('"a.cu"', '"c.cu"'))
        for words in (["a.ptx", "b.ptx", "none.ptx", "c.ptx"], ["."]):
            done = self.lint(*words, code=2)
            self.assertEqual(done.stdout.count("warning[uncoalesced]"), 2, done.stdout)
            self.assertIn("b.ptx:1:9: error: ", done.stderr)
        self.assertEqual("none.ptx" in self.lint("a.ptx", "none.ptx", code=2).stderr, True)
        self.assertEqual(self.lint("b.ptx", "none.ptx", code=2).stderr.count("error: "), 2)

    def test_nothing_checked_is_not_fine(self):
        kernel = module(4)
        cases = {"none": (HEAD + ".func f() { ret; }\n", "there is no kernel"),
                 "globl": (kernel.replace("ld.global", "ld.globl"), "`ld.globl.f32` is no instruction"),
                 "stt": (kernel.replace("st.global", "stt.global"), "`stt.global.f32` is no instruction"),
                 "called": (kernel.replace(".visible", ".func f(.reg .b64 %d) { st.globl.b64 [%d], %d; ret; }\n.visible"),
                            "`st.globl.b64` is no instruction"),
                 "sm": (kernel.replace("sm_90", "sm_999"), "`sm_999` is newer"),
                 "semicolon": (kernel.replace("ret;", "mov.u32 %r1, %r2 ret;"), "lack their `;`"),
                 "v42": (kernel.replace(".version 8.0", ".version 42.0"), "PTX 42.0 is newer")}
        self.write("b.txt", "")
        for name, (text, why) in cases.items():
            self.write(f"{name}.ptx", text)
            plain = self.lint(f"{name}.ptx", code=2 if name == "none" else 0)
            self.assertRegex(plain.stdout, "no warnings in (0 kernels|1 kernel(; 1 not checked)?; races: `ptxasw check`)\n", name)
            self.assertIn(f"warning: {name}.ptx: ", plain.stderr)
            self.assertIn(why, plain.stderr, name)
            for gate in (["-Werror"], ["-Werror=bank-conflict"], ["--baseline", "b.txt"],
                         ["--baseline", "c.txt", "--update-baseline"]):
                self.assertIn(f"error: {name}.ptx: ", self.lint(f"{name}.ptx", *gate, code=2).stderr)
        self.assertFalse(os.path.exists("c.txt"))
        # A finding is one whatever else could not be checked; and a part may be empty where the module is not.
        self.write("both.ptx", module(64).replace("st.global", "stt.global"))
        self.lint("both.ptx", "-Werror", code=1)
        self.write("fine.ptx", kernel)
        for part in ("1/2", "2/2"):
            self.lint("fine.ptx", "-Werror", "--shard", part)
        self.lint("none.ptx", "-Werror", "--shard", "1/2", code=2)

    def test_every_word_of_an_access_is_known(self):
        words = ("ld.relaxed.gpu.global.f32", "ld.volatile.global.f32", "ld.global.cv.f32", "ld.acquire.sys.global.f32",
                 "ld.global.nc.L1::no_allocate.L2::128B.f32", "ld.weak.global.ca.f32", "ld.mmio.relaxed.sys.global.f32",
                 "ld.relaxed.cluster.global.f32", "ld.acquire.cta.global.f32", "ld.global.level::eviction_priority.f32")
        for word in words:
            self.write("a.ptx", module(4).replace("ld.global.f32", word))
            self.assertEqual(self.lint("a.ptx", "-Werror").stderr, "", word)
        for word in ("red.relaxed.gpu.global.add.noftz.f16x2 [%rd3], %r1;", "red.release.cluster.global.add.f32 [%rd3], %f1;",
                     "atom.acq_rel.sys.global.cas.b32 %r1, [%rd3], %r2, %r3;", "atom.global.inc.u32 %r1, [%rd3], %r2;",
                     "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r2, [%r3];"):
            self.write("a.ptx", module(4).replace("ret;", word + " ret;"))
            self.assertEqual(self.lint("a.ptx", "-Werror").stderr, "", word)

    def test_an_error_is_looked_for(self):
        self.write("a.ptx", module(4).replace("ret;", "ld.global.f32 %f1, [%rd3]; st.global.f32 [%rd3+4], %f1; "
                                              "ld.global.f32 %f1, [%rd3]; st.global.f32 [%rd3+8], %f1; ret;"))
        self.lint("a.ptx", "-Werror")  # of those that are on
        self.assertIn("error[redundant-load]", self.lint("a.ptx", "-Werror=redundant-load", code=1).stdout)

    def test_sarif(self):
        self.write("a.ptx", module(64))
        self.lint("a.ptx", "--sarif", "a.sarif")
        sarif = json.loads(self.read("a.sarif"))
        (result,) = sarif["runs"][0]["results"]
        self.assertEqual(result["ruleId"], "uncoalesced")
        self.assertEqual(result["ruleId"], sarif["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]]["id"])
        for rule in sarif["runs"][0]["tool"]["driver"]["rules"]:
            self.assertRegex(rule["helpUri"], f"^[a-z]+://.*/{PAGES.name}/{rule['id']}.md$")
            self.assertTrue((PAGES / Path(rule["helpUri"]).name).exists())
        self.assertEqual(result["relatedLocations"][0]["physicalLocation"]["region"], {"startLine": 20, "startColumn": 5})
        self.assertEqual(result["locations"][0]["physicalLocation"]["artifactLocation"], {"uri": "a.cu", "uriBaseId": "SRCROOT"})
        # A fingerprint stays when lines move, and no two are the same.
        self.write("b.ptx", module(64).replace(".loc 2 7 3", ".loc 2 70 3"))
        self.write("c.ptx", module(64, "k").replace("  st.global", "  .loc 2 9 3\n  st.global"))
        prints = []
        for name in ("b.ptx", "c.ptx"):
            self.lint(name, "--sarif", "b.sarif")
            prints.append([r["partialFingerprints"] for r in json.loads(self.read("b.sarif"))["runs"][0]["results"]])
        self.assertEqual(prints[0], [result["partialFingerprints"]])
        self.assertEqual(len({json.dumps(one) for one in prints[1]}), 2)
        self.valid(sarif)

    def test_paths_in_sarif_are_uris(self):
        for path, uri in (("b c#1%.cu", "b%20c%231%25.cu"), ("/a b/c.cu", "file:///a%20b/c.cu"), ("C:d.cu", "C%3Ad.cu")):
            self.write("a.ptx", module(64).replace('"a.cu"', f'"{path}"'))
            self.lint("a.ptx", "--sarif", "a.sarif")
            (result,) = json.loads(self.read("a.sarif"))["runs"][0]["results"]
            self.assertEqual(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], uri)

    def test_line_0_is_where_it_was_inlined(self):
        self.write("a.ptx", module(64).replace(".loc 2 7 3", ".loc 2 0 0"))
        self.assertIn("b.cu:20:5: warning[uncoalesced]:", self.lint("a.ptx").stdout)

    def test_headers_of_the_toolkit_are_not_the_place(self):
        for header in ("/usr/local/cuda/targets/x86_64-linux/include/sm_60_atomic_functions.hpp", "/usr/include/c.h"):
            self.write("a.ptx", module(64).replace('"a.cu"', f'"{header}"'))
            told = self.lint("a.ptx").stdout
            self.assertIn("b.cu:20:5: warning[uncoalesced]:", told)
            self.assertNotIn("inlined", told)
        self.write("a.ptx", module(64).replace('"a.cu"', '"/usr/local/cuda/include/a.hpp"').replace('"b.cu"', '"/usr/include/b.h"'))
        # Nobody writes these: as compilers do, lint keeps to itself what lies in nothing else.
        self.assertRegex(self.lint("a.ptx").stdout, "^no warnings in 1 kernel; [12] notes? hidden by default")
        for word in ("pedantic", "all"):
            self.assertIn("/usr/local/cuda/include/a.hpp:7:3: warning", self.lint("a.ptx", "-W", word).stdout)
        self.assertNotIn("a.hpp:7:3", self.lint("a.ptx", "-W", "all", "-W", "no-pedantic").stdout)

    def test_one_local_array_is_one_finding(self):
        kernel = HEAD + """.visible .entry k(.param .u64 p) {
  .local .align 4 .b8 depot[64]; .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .pred %p1;
  ld.param.u64 %rd1, [p];
  .loc 1 3 3
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 15;
  mul.wide.u32 %rd2, %r2, 4;
  mov.u64 %rd3, depot;
  add.s64 %rd3, %rd3, %rd2;
  st.local.u32 [%rd3], %r1;
L:
  .loc 1 5 7
  ld.local.u32 %r3, [%rd3];
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra L;
  ret;
}
.file 1 "a.cu"
"""
        self.write("a.ptx", kernel)
        told = self.lint("a.ptx").stdout
        self.assertEqual(re.findall(r"a.cu:(\d+):\d+: warning\[local-memory\]", told), ["5"], told)
        self.assertIn("also in line 3\n", told)

    def test_report_at_a_launch(self):
        self.write("a.ptx", HEAD + """.visible .entry k(.param .u64 p, .param .u32 n) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r2, [n];
  mov.u32 %r1, %tid.x;
  mul.lo.u32 %r3, %r1, %r2;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  st.global.f32 [%rd1], %f1;
  ret;
}
""")
        for at, cost in (("n=1,block=64", "4 of 4"), ("n=8,block=64", "32 of 4")):
            done = run([PTXASW, "report", "a.ptx", "-o", ".", "--launch", at + ",base-align=256"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(self.read("k.html"), f"sectors <span[^>]*>{cost}</span>")
        for wrong in ("m=1", "n", "block=0"):
            self.assertEqual(run([PTXASW, "report", "a.ptx", "-o", ".", "--launch", wrong]).returncode, 2)


@unittest.skipUnless(cuda_home(), "no CUDA toolkit")
class WithToolkit(Base):
    def test_gate(self):
        gate = ["--baseline", "b.txt"]
        self.write("a.ptx", module(8))
        self.assertIn("there is no baseline `b.txt`", self.lint("a.ptx", *gate, code=2).stderr)
        self.write("b.txt", "")
        self.assertIn("worse than", self.lint("a.ptx", *gate, code=1).stderr)  # all is new
        self.lint("a.ptx", *gate, "--update-baseline")
        text = self.read("b.txt")
        self.assertIn("finding sm_90 k uncoalesced 8 a.cu\n", text)
        self.assertIn(" warps=64\n", text)
        # Moved lines and another module in between change nothing.
        self.write("a.ptx", module(8).replace(".loc 2 7 3", ".loc 2 70 3").replace("ret;", "\n\n ret;"))
        self.assertEqual(self.lint("a.ptx", *gate).stderr, "")
        self.write("other.ptx", module(4, "other"))
        self.lint("other.ptx", *gate, "--update-baseline")
        self.assertEqual(self.lint("a.ptx", *gate).stderr, "")
        self.write("worse.ptx", module(64))
        worse = self.lint("worse.ptx", *gate, code=1).stderr
        self.assertIn("-Wuncoalesced in a.cu: 8 before, 32 now", worse)
        self.write("better.ptx", module(4))
        better = self.lint("better.ptx", *gate).stderr
        self.assertIn("8 before, none now; --update-baseline keeps it so", better)
        self.write("b.txt", "finding sm_90 k\n")
        self.assertIn("line 1", self.lint("a.ptx", *gate, code=2).stderr)

    def test_sources_and_programs(self):
        self.write("a.cu", "template <int N> __global__ void far(float *out) {\n  out[threadIdx.x * N] = N;\n}\n"
                   "template __global__ void far<8>(float *);\ntemplate __global__ void far<16>(float *);\n")
        nvcc = os.path.join(cuda_home(), "bin/nvcc")
        run([nvcc, "-lineinfo", "-gencode", "arch=compute_90,code=[sm_90,compute_90]", "-c", "-o", "a.o", "a.cu"])
        run([nvcc, "-gencode", "arch=compute_90,code=sm_90", "-c", "-o", "code.o", "a.cu"])
        run([nvcc, "-lineinfo", "-lib", "-o", "a.a", "a.o"])
        texts = {name: self.lint(name, "--kernel", "far").stdout for name in ("a.cu", "a.o", "a.a")}
        self.assertIn("   2 |   out[threadIdx.x * N] = N;\n     |   ^^^^^^^^^^^^^^^^^^^^\n", texts["a.cu"])
        self.assertIn(" and 1 more kernel", texts["a.cu"])
        self.assertEqual(len(set(texts.values())), 1, texts)
        # Of a folder those with PTX in them, whatever they are called; nothing is said of others.
        (self.dir / "made/lib").mkdir(parents=True)
        for name, to in (("a.o", "a"), ("a.a", "lib/a.plugin"), ("code.o", "code.o")):
            (self.dir / "made" / to).write_bytes((self.dir / name).read_bytes())
        self.write("made/notes.txt", "no PTX")
        run([nvcc, "-arch=sm_90", "-cubin", "-o", "made/a.cubin", "a.cu"])
        folder = self.lint("made")
        self.assertEqual((folder.stderr, " in 4 of 4 kernels" in folder.stdout), ("", True), folder.stdout)
        self.assertEqual(folder.stdout.splitlines()[:6], texts["a.cu"].splitlines()[:6])
        with open("a.cu") as text:
            self.assertIn("<stdin>:2:3: warning[uncoalesced]", run([PTXASW, "lint", "-"], stdin=text).stdout)
        self.assertIn("no PTX", self.lint("code.o", code=2).stderr)
        self.assertIn("no PTX that sm_50 could run", self.lint("a.o", "--arch", "sm_50", code=2).stderr)
        self.assertEqual(len(json.loads(self.lint("a.cu", "--json", "--nvcc-options", "-DX -O1", "--arch", "sm_80").stdout)["kernels"]), 2)
        self.write("wrong.cu", "__global__ void f() { x }\n")
        failed = self.lint("wrong.cu", code=2).stderr
        self.assertIn("ptxasw: error: nvcc does not compile `wrong.cu`", failed)
        self.assertIn("wrong.cu(1)", failed)
        # Other commands take the same.
        self.assertEqual(run([PTXASW, "cost", "--only", "bounds", "a.cu", "--kernel", "far<8>"]).returncode, 0)
        self.assertEqual(run([PTXASW, "cost", "--only", "occupancy", "a.cu", "--arch", "sm_90", "--kernel", "far<8>"]).returncode, 0)

    def test_resources_in_the_gate(self):
        self.lint(str(JACOBI), "--baseline", "b.txt", "--update-baseline", "-Wnone", "--launch", "block=256")
        text = self.read("b.txt")
        registers = int(text.split("registers=")[1].split()[0])
        self.write("b.txt", text.replace(f"registers={registers}", f"registers={registers - 1}"))
        gate = [str(JACOBI), "--baseline", "b.txt", "-Wnone", "--launch", "block=256"]
        self.assertEqual(self.lint(*gate).stderr, "")
        told = self.lint(*gate, "--gate-resources", code=1).stderr
        self.assertIn(f"registers: {registers - 1} before, {registers} now", told)

    def test_what_ptxas_says_itself(self):
        self.write("a.ptx", module(4))
        self.write("fake", "#!/bin/sh\necho \"ptxas info    : (C7504) Potential Performance Loss: wgmma.mma_async instructions are "
                   f"serialized due to wait in function 'k'\" >&2\nexec {cuda_home()}/bin/ptxas \"$@\"\n")
        os.chmod("fake", 0o755)
        os.symlink(PTXASW, "ptxas")
        told = run(["./ptxas", "-arch=sm_90", "a.ptx", "-o", "a.cubin", "--ptxasw-lint", f"--ptxasw-real={self.dir}/fake"])
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("advisory C7504", told.stderr)
        self.assertIn("note: matrix instructions of the warp group (wgmma) are serialised", told.stderr)

    def test_the_version_whose_blocks_fit(self):
        walks = Path(__file__).resolve().parent.parent / "analysis/walks/maps.ptx"
        lint = [PTXASW, "lint", "-W", "none", "-W", "reuse-thrashing", "--kernel", "fan2"]
        self.assertIn("`ptxasw siblings --resize=b32` makes a version", " ".join(run([*lint, walks, "--launch", "block=256"]).stdout.split()))
        # Another number of threads along x leaves others along y; and a kernel that has a shape keeps it.
        self.assertNotIn("resize", run([*lint, walks, "--launch", "block=64x4"]).stdout)
        self.write("fixed.ptx", walks.read_text().replace("fan2(", "fan2 (", 1).replace(")\n{", ")\n.reqntid 256\n{", 1))
        told = " ".join(run([*lint, "fixed.ptx"]).stdout.split())
        self.assertIn("blocks of 32 threads leave", told)
        self.assertNotIn("resize", told)

    def test_numbers_of_a_launch_in_a_build(self):
        text = (Path(__file__).resolve().parent.parent / "analysis/lint/uncoalesced-beginnings-right.ptx").read_text()
        self.write("a.ptx", text.replace(".param .u32 n", ".param .u32 k_param_2").replace("[n]", "[k_param_2]"))
        os.symlink(PTXASW, "ptxas")
        build = ["./ptxas", "-arch=sm_90", "a.ptx", "-o", "a.cubin", "--ptxasw-lint", "--ptxasw-lint-assume=base-align=256"]
        self.assertEqual(run(build).stderr, "")
        for told in ("param_2=257", "k:param_2=257", "param_2=257,other:param_2=256"):
            self.assertIn("warning[uncoalesced]: ", run([*build, f"--ptxasw-lint-at={told}"]).stderr, told)
        for told in ("param_2=256", "other:param_2=257", "elsewhere=3"):
            self.assertEqual(run([*build, f"--ptxasw-lint-at={told}"]).stderr, "", told)
        for wrong in ("param_2", "param_2=x", "block=0"):
            failed = run([*build, f"--ptxasw-lint-at={wrong}"])
            self.assertNotEqual(failed.returncode, 0, wrong)
            self.assertIn("lint-at", failed.stderr)

    def test_a_gate_in_a_build(self):
        os.symlink(PTXASW, "ptxas")
        self.write("a.ptx", module(4))
        self.write("none.ptx", HEAD)
        build = lambda name: ["./ptxas", "-arch=sm_90", name, "-o", name + ".cubin"]
        errors = "lint-errors=all"
        for words, why in (([f"--ptxasw-{errors}"], "without `lint`"), (["--ptxasw-lint-baseline=b.txt"], "without `lint`")):
            failed = run([*build("a.ptx"), *words])
            self.assertEqual(failed.returncode, 2)
            self.assertIn(why, failed.stderr)
        # A module without kernels is nothing special in a build, but a baseline that cannot be read is.
        self.assertEqual(run([*build("none.ptx"), "--ptxasw-lint", f"--ptxasw-{errors}"]).returncode, 0)
        self.write("b.txt", "what\n")
        self.assertEqual(run([*build("a.ptx"), "--ptxasw-lint", "--ptxasw-lint-baseline=b.txt"]).returncode, 2)
        # What `ptxasw lint` is to do may be in a file.
        self.write("ptxasw.toml", 'lint-errors = "all"\n')
        self.assertEqual(run(build("a.ptx")).returncode, 0)
        os.unlink("ptxasw.toml")

        def gated(script, *settings, env=None):
            return run([PTXASW, "run", *settings, "--", "sh", "-c", script], env=env)
        assemble = "ptxas -arch=sm_90 -o /dev/stderr %s.ptx 2>%s.cubin"
        both = " && ".join(assemble % (name, name) for name in ("none", "a"))
        for settings in ([f"--{errors}"], ["--lint-baseline=b.txt"]):
            idle = gated("touch ran", *settings)
            self.assertEqual((idle.returncode, "without `lint`" in idle.stderr), (2, True), idle.stderr)
        self.assertEqual(gated("touch ran", env={**os.environ, "PTXASW_LINT_ERRORS": "all"}).returncode, 2)
        self.assertFalse(os.path.exists("ran"))
        lint = ["--lint", f"--{errors}"]
        self.assertEqual(gated(both, *lint).returncode, 0)
        for script in ("true", assemble % ("none", "none")):
            nothing = gated(script, *lint)
            self.assertEqual(nothing.returncode, 2, script)
            self.assertIn("no kernel was checked", nothing.stderr)
        self.assertEqual(gated("exit 5", *lint).returncode, 5)
        self.assertEqual(gated("kill -9 $$", *lint).returncode, -9)
        self.write("a.ptx", module(64))
        self.assertEqual(gated(both, *lint).returncode, 1)
        self.assertEqual(gated("true", "--lint").returncode, 0)  # no gate

    def test_in_a_build(self):
        self.write("a.ptx", module(64))
        os.symlink(PTXASW, "ptxas")
        plain = run(["./ptxas", "-arch=sm_90", "a.ptx", "-o", "plain.cubin"])
        self.assertEqual((plain.returncode, plain.stderr), (0, ""))
        warned = run(["./ptxas", "-arch=sm_90", "a.ptx", "-o", "a.cubin", "--ptxasw-lint",
                      "--ptxasw-lint-sarif=a.sarif", "--ptxasw-lint-json=a.json"])
        self.assertEqual(warned.returncode, 0, warned.stderr)
        self.assertIn("a.cu:7:3: warning[uncoalesced]: this load", warned.stderr)
        self.assertEqual((self.dir / "plain.cubin").read_bytes(), (self.dir / "a.cubin").read_bytes())
        self.assertEqual(json.loads(self.read("a.sarif"))["version"], "2.1.0")
        self.assertEqual(len(json.loads(self.read("a.json"))["kernels"]), 1)
        # Without lines of the source: the kernel, as the file is gone when somebody looks for it; and how to get lines, once.
        plain = "\n".join(line for line in module(64, "_Z4heatPf", "_Z4coolPf").split("\n") if ".loc" not in line)
        self.write("tmpxft_00001_00000-6_b.ptx", plain)
        unlined = run(["./ptxas", "-arch=sm_90", "tmpxft_00001_00000-6_b.ptx", "-o", "b.cubin", "--ptxasw-lint", "--ptxasw-lint-sarif=b.sarif"])
        self.assertIn("heat, line 10 of its PTX: warning[uncoalesced]: this load", unlined.stderr)
        self.assertEqual((unlined.stderr.count("`nvcc -lineinfo`"), unlined.stderr.count(".ptx")), (1, 0), unlined.stderr)
        self.assertEqual(self.valid(json.loads(self.read("b.sarif")))["runs"][0]["results"][0]["locations"],
                         [{"logicalLocations": [{"fullyQualifiedName": "heat", "kind": "function"}]}])
        os.unlink("b.cubin")
        failed = run(["./ptxas", "-arch=sm_90", "a.ptx", "-o", "b.cubin", "--ptxasw-lint",
                      "--ptxasw-lint-errors=uncoalesced"])
        self.assertEqual(failed.returncode, 1)
        self.assertFalse(os.path.exists("b.cubin"))
        self.lint("a.ptx", "--baseline", "b.txt", "--update-baseline")
        gated = ["./ptxas", "-arch=sm_90", "-o", "c.cubin", "--ptxasw-lint", "--ptxasw-lint-baseline=b.txt"]
        self.assertEqual(run([*gated, "a.ptx"]).returncode, 0)
        self.write("worse.ptx", module(64).replace("ld.global", "st.global.f32 [%rd3+32], 0f00000000;\n  .loc 2 8 3\n ld.global"))
        self.assertEqual(run([*gated, "worse.ptx"]).returncode, 1)


if __name__ == "__main__":
    main()
