"""`ptxasw rewrite`, from the outside."""

import json
import os
import re
import stat
import subprocess

from support import JACOBI, PTXASW, Scratch, link_as_ptxas, main, run

ALWAYS = "--shuffle=always"


class Rewrite(Scratch):
    def setUp(self):
        super().setUp()
        self.write("in.ptx", JACOBI.read_text())

    def rewrite(self, *words, **options):
        return run([PTXASW, "rewrite", *words], **options)

    def test_file_to_file(self):
        result = self.rewrite("in.ptx", "-o", "out.ptx", ALWAYS)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertIn("shfl.sync", (self.dir / "out.ptx").read_text())

    def test_standard_input_and_output(self):
        self.rewrite("in.ptx", "-o", "out.ptx", ALWAYS)
        with open("in.ptx", encoding="utf-8") as text:
            result = self.rewrite("-", "-o", "-", ALWAYS, stdin=text)
        self.assertEqual(result.stdout, (self.dir / "out.ptx").read_text())
        result = subprocess.run([PTXASW, "rewrite", "-", "-o", "-", ALWAYS], capture_output=True,
                                input=JACOBI.read_bytes())
        self.assertEqual(result.stdout, (self.dir / "out.ptx").read_bytes())

    def test_siblings(self):
        """Whatever has PTX rewritten gets the siblings that the settings ask for: so does the launch helper's --jit."""
        expected = run([PTXASW, "siblings", "in.ptx", "-o", "-", "--siblings=2"])
        self.assertEqual(expected.stdout.count(".entry"), 3)
        self.assertEqual(self.rewrite("in.ptx", "-o", "-", "--siblings=2").stdout, expected.stdout)
        by_environment = self.rewrite("in.ptx", "-o", "-", env={**os.environ, "PTXASW_SIBLINGS": "2"})
        self.assertEqual(by_environment.stdout, expected.stdout)
        wrong = self.rewrite("in.ptx", "-o", "-", "--profile=none.toml")
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
        self.assertIn("cannot read the profile `none.toml`", wrong.stderr)

    def test_both_kinds_are_compared(self):
        copy = (".visible .entry copy(.param .u64 a) {\n.reg .b32 %r<4>; .reg .b64 %d<3>;\nmov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n"
                "mov.u32 %r2, %ntid.x; mad.lo.s32 %r0, %r1, %r2, %r0; ld.param.u64 %d0, [a];\nmul.wide.u32 %d1, %r0, 4;"
                "add.s64 %d0, %d0, %d1; st.global.u32 [%d0], %r0; ret;\n}\n")
        (self.dir / "in.ptx").write_text(JACOBI.read_text() + copy)
        self.rewrite("in.ptx", "-o", "out.ptx", ALWAYS, "--siblings=1")
        text = (self.dir / "out.ptx").read_text()
        self.assertIn("shfl.sync", text)
        sibling = re.search(r"entry (copy__ptxasw_\w+)", text)[1]
        words = ["--runs", "3", "--search", "0", "--json", "--assume", "no-wrap,matrix-order"]
        verified = json.loads(run([PTXASW, "verify", "in.ptx", "out.ptx", *words]).stdout)
        self.assertEqual([one["name"] for one in verified["kernels"]], ["jacobi", "copy", sibling])
        for one in verified["kernels"]:
            self.assertIn(one["verdict"], ("agree", "not-exercised"), one)
            self.assertGreaterEqual(one["launches"], 3)
        self.assertEqual(verified["assumed"], ["no-wrap", "matrix-order"])
        (self.dir / "out.ptx").write_text(text.replace("add.f32", "sub.f32", 1))
        said = run([PTXASW, "verify", "in.ptx", "out.ptx", *words[:4], *words[5:]])
        self.assertEqual(said.returncode, 1, said.stdout)
        self.assertIn("assumed: no-wrap, matrix-order\n", said.stdout)

    def test_words_that_people_try(self):
        version = run([PTXASW, "--version"]).stdout
        for words in (["version"], ["-V"]):
            self.assertEqual(run([PTXASW, *words]).stdout, version)
        self.assertIn("rewrite", run([PTXASW, "help"]).stdout)
        self.assertEqual(run([PTXASW, "help", "verify"]).stdout,
                         run([PTXASW, "verify", "--help"]).stdout)
        result = run([PTXASW, "verfy", "a", "b"])
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no command `verfy`; did you mean `verify`?", result.stderr)
        # A setting that does not exist is what `status` is there to tell.
        result = run([PTXASW, "status"], env={**os.environ, "PTXASW_FOO": "1"})
        self.assertIn("WRONG: unknown setting `PTXASW_FOO`", result.stdout)
        self.assertIn("real ptxas", result.stdout)

    def test_a_missing_semicolon_is_told(self):
        """Such an instruction stays as it is; only who reads a file for people says what it looks like."""
        text = JACOBI.read_text()
        line = next(i for i, one in enumerate(text.splitlines(), 1) if "mov.u32" in one)
        lines = text.splitlines(keepends=True)
        lines[line - 1] = lines[line - 1].replace(";", "", 1)
        self.write("odd.ptx", "".join(lines))
        for command in (["rewrite", "odd.ptx", "-o", "out.ptx"], ["lint", "odd.ptx"], ["cost", "--only", "bounds", "odd.ptx"],
                        ["explain", "odd.ptx"]):
            told = run([PTXASW, *command]).stderr
            self.assertRegex(told, rf"^odd\.ptx:{line}:\d+: warning: a `;` is missing here\n", command)
            self.assertEqual([*told.splitlines()[2].strip()], ["^"], command)
            self.assertEqual(told.count("warning: a `;`"), 1, command)
        self.assertEqual((self.dir / "out.ptx").read_text(), (self.dir / "odd.ptx").read_text())
        # Shapes that are not understood, but have their `;`; an opcode's name in a comment is none.
        for operand in ("add+4", "words[3]", "words[3] // add one\n", "words /* add */ [3]"):
            self.write("other.ptx", text.replace("mov.u32", f"mov.u32 %r1, {operand};\n\tmov.u32", 1))
            self.assertNotIn("warning", run([PTXASW, "rewrite", "other.ptx", "-o", "out.ptx"]).stderr, operand)
        os.symlink(PTXASW, "ptxas")
        self.assertNotIn("is missing here", run(["./ptxas", "odd.ptx", "-arch=sm_90", "-o", "odd.cubin"]).stderr)

    def test_numbers_that_begin_at_one(self):
        for number, told in (("0", "--runs: it begins at 1"), ("x", "--runs"), ("-1", "--runs")):
            result = run([PTXASW, "verify", "in.ptx", "in.ptx", "--runs", number])
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(told, result.stderr)
            self.assertLess(len(result.stderr), 200)
        for command in ("cost", "advise"):
            for number in ("0", "256"):
                result = run([PTXASW, command, "in.ptx", "--registers-per-thread", number])
                self.assertEqual(result.returncode, 2)
                self.assertIn(f"Value {number} not in range 1 to 255", result.stderr)

    def test_modules_without_a_kernel(self):
        self.write("none.ptx", "// nothing\n")
        self.write("target.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n")
        for words in (["cost"], ["advise", "--launch", "threads=32"]):
            for name in ("none.ptx", "target.ptx"):
                result = run([PTXASW, words[0], name, *words[1:]])
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertEqual(result.stderr, f"ptxasw: error: there is no kernel in `{name}`\n")
            self.write("kernel.ptx", ".version 8.0\n.visible .entry k() { ret; }\n")
            result = run([PTXASW, words[0], "kernel.ptx", *words[1:]])
            self.assertIn("`kernel.ptx` has no `.target`; --arch says for which one", result.stderr + result.stdout)
        result = run([PTXASW, "emulate", "target.ptx"])
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no kernel in `target.ptx`", result.stderr)

    def test_inputs_of_every_kind(self):
        for command in (["explain"], ["independent"]):
            direct = run([PTXASW, *command, "in.ptx"])
            self.assertEqual(direct.returncode, 0, direct.stderr)
            piped = subprocess.run(["bash", "-c", f"'{PTXASW}' {command[0]} <(cat in.ptx)"],
                                   capture_output=True, text=True, check=False)
            self.assertEqual(piped.returncode, 0, piped.stderr)
        for command in (["rewrite", ".", "-o", "x"], ["verify", ".", "."],
                        ["emulate", "."]):
            result = run([PTXASW, *command])
            self.assertIn("cannot read `.`: Is a directory", result.stderr, command)
            self.assertNotEqual(result.returncode, 0)

    def test_a_full_device(self):
        for command in ("explain in.ptx", "cost --only bounds in.ptx", "rewrite in.ptx -o -"):
            result = subprocess.run(["sh", "-c", f"'{PTXASW}' {command} > /dev/full"],
                                    capture_output=True, text=True, check=False)
            self.assertIn(result.returncode, (1, 2), command)
            self.assertIn("No space left on device", result.stderr, command)

    def test_in_place(self):
        self.rewrite("in.ptx", "-o", "out.ptx", ALWAYS)
        self.assertEqual(self.rewrite("in.ptx", "-o", "in.ptx", ALWAYS).returncode, 0)
        self.assertEqual((self.dir / "in.ptx").read_text(), (self.dir / "out.ptx").read_text())

    def test_never_is_byte_identical(self):
        self.rewrite("in.ptx", "-o", "out.ptx", "--shuffle=never")
        self.assertEqual((self.dir / "out.ptx").read_bytes(), JACOBI.read_bytes())

    def test_wrong_variants_warn(self):
        for variant in ("no-load", "no-corner"):
            result = self.rewrite("in.ptx", "-o", "out.ptx", f"--variant={variant}")
            self.assertEqual(result.returncode, 0)
            self.assertIn("wrong results on purpose", result.stderr)

    def test_a_shape_that_the_user_vouches_for(self):
        report = self.dir / "report.json"
        self.rewrite("in.ptx", "-o", "out.ptx", ALWAYS, "--launch=block=64x4", "--report", report)
        text = (self.dir / "out.ptx").read_text()
        self.assertNotIn("above, %ptxasw", text)  # no row tests
        (kernel,) = json.loads(report.read_text())["kernels"]
        self.assertEqual(kernel["assumptions"], ["block-shape"])
        # With the shape that was promised the two compute the same.
        for name, module in (("a.ptx", JACOBI.read_text()), ("b.ptx", text)):
            self.write(name, re.sub(r"\.maxntid[^\n]*\n", "", module).replace(
                "\n{", "\n.reqntid 64, 4\n{", 1))
        self.assertEqual(run([PTXASW, "verify", "a.ptx", "b.ptx"]).returncode, 0)
        # The same by the environment and by a file.
        env = {**os.environ, "PTXASW_ASSUME_BLOCK": "64x4x1"}
        self.rewrite("in.ptx", "-o", "env.ptx", ALWAYS, env=env)
        self.assertEqual((self.dir / "env.ptx").read_text(), text)
        self.write("ptxasw.toml", 'assume-block = "64x4"\n')
        self.rewrite("in.ptx", "-o", "toml.ptx", ALWAYS)
        self.assertEqual((self.dir / "toml.ptx").read_text(), text)
        for value in ('"64,4"', "[64, 4]"):
            self.write("ptxasw.toml", f"assume-block = {value}\n")
            self.assertIn("`64,4` is written `64x4` now", self.rewrite("in.ptx", "-o", "toml.ptx", ALWAYS).stderr)

    def test_an_unknown_kernel_is_an_error(self):
        result = self.rewrite("in.ptx", "-o", "out.ptx", "--kernel", "nosuch")
        self.assertEqual(result.returncode, 2)
        self.assertIn("no kernel `nosuch`", result.stderr)
        self.assertFalse((self.dir / "out.ptx").exists())
        self.assertEqual(self.rewrite("in.ptx", "-o", "o", "--kernel", "jacobi").returncode, 0)

    def test_what_is_not_ptx_is_an_error_with_its_place(self):
        self.write("bad.ptx", "this is not PTX\n")
        result = self.rewrite("bad.ptx", "-o", "out.ptx")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"^bad\.ptx:\d+:\d+: error: ")
        self.assertFalse((self.dir / "out.ptx").exists())

    def test_missing_input_and_unwritable_output(self):
        self.assertIn("cannot read `no.ptx`", self.rewrite("no.ptx", "-o", "x").stderr)
        self.assertIn("cannot write `no/x`", self.rewrite("in.ptx", "-o", "no/x").stderr)
        self.assertEqual(self.rewrite("in.ptx", "-o", "/dev/full").returncode, 2)

    def test_the_report(self):
        self.rewrite("in.ptx", "-o", "out.ptx", ALWAYS, "--report", "r.json")
        report = json.loads((self.dir / "r.json").read_text())
        self.assertRegex(report["tool_version"], r"^\d+\.\d+\.\d+$")
        kernel = report["kernels"][0]
        self.assertEqual(kernel["name"], "jacobi")
        for field in ("loads", "shuffles", "copies", "mean_delta", "milliseconds",
                      "undecided_branches", "rewrites", "kept"):
            self.assertIn(field, kernel)
        self.assertEqual(len(kernel["rewrites"]), kernel["shuffles"] + kernel["copies"])
        for record in kernel["rewrites"]:
            self.assertEqual(record["family"], "shuffle")
            self.assertEqual(record["loads"], [{"line": record["line"], "source_line": record["source_line"]}])
            self.assertEqual(record["sources"][0]["line"], record["from_line"])
            self.assertEqual(record["details"], {"delta": record["delta"]})
        self.assertEqual((report["schema_version"], report["file"]), (4, "in.ptx"))
        counted = kernel["counts"]["shuffle"]
        self.assertEqual((counted.get("shuffle", 0), counted.get("copy", 0)), (kernel["shuffles"], kernel["copies"]))

    def test_registers_before_and_after(self):
        # A shuffle costs this assembler 10 registers and spills.
        self.write("real", """#!/bin/sh
for word; do case $word in /proc/self/fd/*) text=$word ;; esac; done
echo "$@" >> calls
echo 'ptxas info    : Function properties for jacobi' >&2
if grep -q shfl $text; then
  echo '    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads' >&2
  echo 'ptxas info    : Used 28 registers, used 0 barriers, 64 bytes smem' >&2
else
  echo '    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' >&2
  echo 'ptxas info    : Used 18 registers, used 0 barriers' >&2
fi
""", True)
        env = dict(os.environ, PTXASW_REAL=str(self.dir / "real"))
        before = {"registers": 18, "spill_stores": 0, "spill_loads": 0, "stack": 0, "shared": 0}
        after = {"registers": 28, "spill_stores": 4, "spill_loads": 12, "stack": 8, "shared": 64}
        asked = [ALWAYS, "--registers", "--report", "r.json", "-v"]
        result = self.rewrite("in.ptx", "-o", "out.ptx", *asked, env=env)
        self.assertIn("registers 18 -> 28, spilled bytes 0 -> 16, shared bytes 0 -> 64",
                      result.stderr)
        self.assertEqual(self.kernel()["resources"], {"before": before, "after": after})
        self.assertRegex((self.dir / "calls").read_text(), r"^-arch=sm_\d+ \S+ -v -o /dev/null\n")
        # Nothing rewritten, nothing changed; and not asked, not there.
        self.rewrite("in.ptx", "-o", "out.ptx", *asked, "--shuffle=never", env=env)
        self.assertEqual(self.kernel()["resources"], {"before": before, "after": before})
        self.rewrite("in.ptx", "-o", "out.ptx", ALWAYS, "--report", "r.json", env=env)
        self.assertNotIn("resources", self.kernel())
        # The drop-in, with the caller's own words.
        ptxas = link_as_ptxas(self.dir / "bin")
        (self.dir / "calls").unlink()
        result = run([ptxas, "-arch=sm_90", "-maxrregcount=64", "in.ptx", "-o", "out",
                      "--ptxasw-shuffle=always", "--ptxasw-registers", "--ptxasw-report=r.json"],
                     env=env)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(self.kernel()["resources"], {"before": before, "after": after})
        calls = (self.dir / "calls").read_text().splitlines()
        self.assertEqual(len(calls), 3)
        for call in calls:
            self.assertTrue(call.startswith("-arch=sm_90 -maxrregcount=64 /proc/self/fd/"))

    def kernel(self):
        (kernel,) = json.loads((self.dir / "r.json").read_text())["kernels"]
        return kernel

    def test_no_registers_without_a_ptxas(self):
        self.write("refuses", "#!/bin/sh\necho 'ptxas fatal : no' >&2\nexit 255\n", True)
        for real in ("refuses", "nosuch"):
            env = dict(os.environ, PTXASW_REAL=str(self.dir / real))
            result = self.rewrite("in.ptx", "-o", "out.ptx", ALWAYS, "--registers", env=env)
            self.assertEqual(result.returncode, 0)
            self.assertIn("warning: no registers in the report", result.stderr)
            self.assertIn("shfl", (self.dir / "out.ptx").read_text())

    def test_the_summary_goes_to_stderr(self):
        result = self.rewrite("in.ptx", "-o", "-", ALWAYS, "-v")
        self.assertIn("jacobi: ", result.stderr)
        self.assertNotIn("loads replaced", result.stdout)

    def test_mode_and_links_of_the_output(self):
        os.symlink("real.ptx", "link.ptx")
        subprocess.run([PTXASW, "rewrite", "in.ptx", "-o", "link.ptx"], check=True, umask=0o027)
        self.assertTrue(os.path.islink("link.ptx"))
        self.assertEqual(stat.S_IMODE(os.stat("real.ptx").st_mode), 0o640)

    def test_settings_of_the_environment_count_and_flags_beat_them(self):
        env = dict(os.environ, PTXASW_SHUFFLE="always")
        self.assertIn("shfl.sync", self.rewrite("in.ptx", "-o", "-", env=env).stdout)
        result = self.rewrite("in.ptx", "-o", "-", "--shuffle=never", env=env)
        self.assertEqual(result.stdout, JACOBI.read_text())


if __name__ == "__main__":
    main()
