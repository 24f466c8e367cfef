"""One language: what is said of all commands holds for each that `ptxasw describe json` lists."""

import json
import re
from collections import defaultdict

from support import PTXASW, Scratch, main, run

COMMANDS = {command["name"]: command for command in json.loads(run([PTXASW, "describe", "json"]).stdout)["commands"]}
OPTIONS = {name: {option for one in command["options"] for option in one["names"]} for name, command in COMMANDS.items()}
# What takes PTX by its place, and what else it must be given.
READERS = {name: ["-o", "out.ptx"] if name == "rewrite" else [] for name, command in COMMANDS.items()
           if any(not one["names"] and re.match("input|file$|original", one["value"], re.I) for one in command["options"])}
ANALYSES = sorted(name for name in READERS if "--exclude" in OPTIONS[name])
# Launches without which a question is none.
LAUNCHES = {"advise": ["--launch", "threads=64x64"]}
VISIBLE = ["lint", "report", "cost", "check", "emulate", "verify", "prove", "faster", "siblings", "advise", "run", "overlay", "rewrite"]
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry {}(.param .u64 p)
{{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
}}
"""


class Language(Scratch):
    def setUp(self):
        super().setUp()
        self.write("a.ptx", KERNEL.format("heat"))
        self.write("b.ptx", KERNEL.format("cool"))
        self.write("empty.ptx", " \n")

    def said(self, name, *files, words=()):
        """What a command says of files; of two versions of one, where it takes two."""
        files = files * 2 if name == "verify" and len(files) == 1 else files
        return run([PTXASW, name, *files, *READERS[name], *LAUNCHES.get(name, ()), *words])

    def test_who_reads(self):
        self.assertEqual(sorted(READERS), sorted([*ANALYSES, "emulate", "rewrite", "verify"]))
        self.assertEqual(ANALYSES, ["advise", "cost", "explain", "independent", "lint", "optimize", "prove", "report", "siblings"])

    def test_help_shows_few(self):
        text = run([PTXASW, "help"]).stdout
        self.assertEqual(re.findall(r"^  ([a-z]+) {2,}", text, re.M), VISIBLE)
        self.assertIn("Exit codes: 0 ", text)

    def test_help_is_80_columns_wide_and_has_two_examples(self):
        for name in filter(None, COMMANDS):
            text = run([PTXASW, name, "--help"]).stdout
            self.assertLessEqual(max(map(len, text.splitlines())), 80, name)
            examples = text.split("Examples:\n")[-1].splitlines()
            self.assertGreaterEqual(len(examples), 2, name)
            for line in examples:
                self.assertRegex(line, rf"^  (.*/nvcc|ptxasw {name}) ", name)
                words = line.split(" -- ")[0].split(" > ")[0].split()
                for word in words:
                    if word.startswith("--") and "nvcc" not in line:
                        self.assertIn(word.split("=")[0], OPTIONS[name], line)

    def test_no_option_means_two_things(self):
        paths, numbers = {"FILE", "DIR"}, {"N", "0...", "1..."}
        options = defaultdict(list)
        for command in COMMANDS.values():
            for option in command["options"]:
                for spelling in option["names"]:
                    value = re.sub(r"\[?,\.\.\.\]?$", "", option["value"])
                    kind = "path" if value in paths else "number" if value in numbers else value
                    options[spelling].append((kind, set(re.findall("[a-z0-9-]+", kind)), option["meaning"]))
        for spelling, all_of_it in options.items():
            for kind, words, meaning in all_of_it[1:]:
                first, of_first, _ = all_of_it[0]
                # Of words each command may take some; what they mean is the same where one is.
                self.assertTrue(kind == first or words & of_first or of_first & set(re.findall("[a-z0-9-]+", meaning)),
                                (spelling, kind, first))

    def test_an_unknown_option_suggests(self):
        for name in COMMANDS:
            for option in sorted(OPTIONS[name]):
                if len(option) > 6 and "=" not in option:
                    wrong = option[:-2] + option[-1]
                    if wrong in OPTIONS[name] or not name:
                        continue
                    result = run([PTXASW, name, wrong])
                    self.assertEqual((result.returncode, result.stdout), (2, ""), (name, wrong))
                    self.assertRegex(result.stderr, r"^ptxasw: error: .*; did you mean `--[a-z-]+`\?\n$")

    def test_an_unknown_command_suggests(self):
        for wrong, meant in ("lnit", "lint"), ("cots", "cost"), ("chekc", "check"), ("emulat", "emulate"), ("reprot", "report"):
            result = run([PTXASW, wrong])
            self.assertEqual((result.returncode, result.stdout), (2, ""), wrong)
            self.assertIn(f"there is no command `{wrong}`; did you mean `{meant}`?", result.stderr)

    def test_an_empty_file(self):
        for name in READERS:
            result = self.said(name, "empty.ptx")
            self.assertEqual((result.returncode, result.stdout), (2, ""), name)
            self.assertIn("ptxasw: error: `empty.ptx` is empty", result.stderr, name)

    def test_a_missing_file(self):
        for name in READERS:
            result = self.said(name, "none.ptx")
            self.assertEqual((result.returncode, result.stdout), (2, ""), name)
            self.assertIn("ptxasw: error: cannot read `none.ptx`", result.stderr, name)

    def test_an_unknown_kernel(self):
        for name in READERS:
            result = self.said(name, "a.ptx", words=["--kernel", "none"])
            self.assertEqual((result.returncode, result.stdout), (2, ""), name)
            self.assertIn("ptxasw: error: there is no kernel `none` in `a.ptx`; it has:\n  heat\n", result.stderr, name)

    def test_no_kernel_at_all(self):
        self.write("none.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n")
        for name in ANALYSES:
            result = self.said(name, "none.ptx")
            self.assertEqual(result.returncode, 2, name)
            self.assertIn("none.ptx", result.stderr, name)

    def test_options_of_all_analyses(self):
        for name in ANALYSES:
            self.assertLessEqual({"--exclude", "--nvcc-options", "--build", "--kernel", "--arch", "--source-root", "--json",
                                  "--verbose", "-v", "--quiet", "-q", "--color"}, OPTIONS[name], name)

    def test_how_all_answer(self):
        for name in [*ANALYSES, "emulate", "verify", "check"]:
            self.assertLessEqual({"--json", "--verbose", "-v", "--quiet", "-q", "--color"}, OPTIONS[name], name)
        # What starts something else says as much as is asked for; what writes a file has no colours.
        for name, words in (("bisect", "--json -v -q --color"), ("rewrite", "--json -v -q"), ("run", "-v")):
            self.assertLessEqual({*words.split(), "--verbose"}, OPTIONS[name], name)

    def test_several_inputs(self):
        self.write("more/c.ptx", KERNEL.format("warm"))
        self.write("more/old/d.ptx", KERNEL.format("old"))
        for name in ANALYSES:
            told = self.said(name, "a.ptx", "more", words=["--json", "--exclude", "old", "-q"])
            self.assertIn(told.returncode, (0, 1, 3), (name, told.stderr))
            self.assertEqual(told.stderr, "")
            answer = json.loads(told.stdout)
            self.assertEqual((answer["schema_version"], answer["file"]), (1, None), name)
            self.assertEqual([one["file"] for one in answer.get("kernels") or answer["pages"]], ["a.ptx", "more/c.ptx"], name)
            alone = json.loads(self.said(name, "a.ptx", words=["--json"]).stdout)
            self.assertEqual(alone["file"], "a.ptx", name)
            # One that cannot be read does not keep the others from being looked at, nor a finding from being told.
            told = self.said(name, "gone.ptx", "b.ptx")
            self.assertEqual(told.returncode, 1 if self.said(name, "b.ptx").returncode == 1 else 2, name)
            self.assertIn("cannot read `gone.ptx`", told.stderr)
            self.assertNotEqual(told.stdout, "", name)

    def test_standard_input(self):
        import subprocess
        for name in ANALYSES:
            told = subprocess.run([PTXASW, name, "-", "--json", *LAUNCHES.get(name, ())], input=KERNEL.format("heat"), text=True,
                                  capture_output=True, cwd=self.dir)
            self.assertEqual(json.loads(told.stdout)["file"], "<stdin>", name)

    def test_colour(self):
        for name in ANALYSES:
            self.assertNotIn("\x1b", self.said(name, "a.ptx", words=["--color", "never"]).stdout)
            self.assertEqual("\x1b" in self.said(name, "a.ptx", words=["--color", "always"]).stdout,
                             name not in ("lint", "report"), name)  # lint has no finding here, report writes pages
        self.assertIn("\x1b[1mheat\x1b[0m: agree", self.said("verify", "a.ptx", words=["--color", "always"]).stdout)
        for colour in ("never", "always"):
            outside = self.said("emulate", "a.ptx", words=["--launch", "p=zeros:4", "--color", colour]).stderr
            self.assertRegex(outside, r"^\x1b\[1m.*out of bounds.*\x1b\[0m\n" if colour == "always" else "^[^\x1b]*$")
        for name in [*ANALYSES, "emulate", "verify"]:
            wrong = self.said(name, "a.ptx", words=["--color", "blue"])
            self.assertEqual((wrong.returncode, wrong.stdout), (2, ""), name)
            self.assertIn("blue not in {", wrong.stderr)

    def test_json_says_what_it_is_of(self):
        for name in ("emulate", "verify"):
            answer = json.loads(self.said(name, "a.ptx", words=["--json", *(["--launch", "p=zeros:4096"] if name == "emulate" else [])]).stdout)
            self.assertEqual((answer["schema_version"], answer["file"]), (1, "a.ptx"), name)

    def test_kernels_are_asked_for_alike(self):
        self.write("two.ptx", KERNEL.format("_Z4heatPf") + KERNEL.format("_Z4coolPf").split("address_size 64\n")[1])
        for word in ("heat(float*)", "hea*"):
            for name in READERS:
                words = ["--launch", "p=zeros:4096"] if name == "emulate" else []
                told = self.said(name, "two.ptx", words=["--kernel", word, *words, *(["--json"] if "--json" in OPTIONS[name] and name != "rewrite" else [])])
                self.assertIn(told.returncode, (0, 1, 3), (name, word, told.stderr))  # a report of rewrite is of the module
                self.assertNotIn("_Z4cool", told.stdout, (name, word))

    def test_quiet(self):
        for name, words in (("emulate", ["--launch", "p=zeros:4096"]), ("lint", [])):
            self.assertEqual(self.said(name, "a.ptx", words=["-q", *words]).stdout, "", name)


if __name__ == "__main__":
    main()
