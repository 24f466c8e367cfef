"""The documentation says what the program does."""

import json
import re
import unittest
from pathlib import Path

from support import PTXASW, Scratch, main, run

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = (ROOT / "docs/settings.md").read_text()


class Documentation(unittest.TestCase):
    def test_the_table_of_settings_is_the_programs_own(self):
        table = run([PTXASW, "describe", "settings"]).stdout
        self.assertIn(table, DOCS, "docs/settings.md: paste `ptxasw describe settings`")

    def test_every_outcome_is_explained(self):
        source = (ROOT / "wrapper/drop_in/outcome.cpp").read_text()
        for outcome in re.findall(r'return "([a-z-]+)";', source):
            if outcome != "unknown":
                self.assertIn(f"| `{outcome}` |", DOCS)

    def test_every_subcommand_has_help(self):
        text = run([PTXASW, "help", "--all"]).stdout
        for name in ("rewrite", "overlay", "status", "cost", "run", "bisect", "assemble"):
            self.assertIn(name, text)
            result = run([PTXASW, name, "--help"])
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("Usage", result.stdout)

    def test_changes_name_commands_and_pages_that_there_are(self):
        text = (ROOT / "CHANGELOG.md").read_text()
        commands = {one["name"] for one in json.loads(run([PTXASW, "describe", "json"]).stdout)["commands"]}
        named = set(re.findall(r"`ptxasw ([a-z]+)\b", text))
        self.assertGreater(len(named), 10)
        self.assertEqual(named - commands - {"help"}, set())
        for page in re.findall(r"\bdocs/[\w/-]+\.md\b", text):
            self.assertTrue((ROOT / page).exists(), page)

    def test_version(self):
        version = re.search(r"VERSION (\S+) LANGUAGES", (ROOT / "CMakeLists.txt").read_text())[1]
        self.assertRegex(run([PTXASW, "--version"]).stdout,
                         rf"^ptxasw {re.escape(version)}( \([0-9a-f]+( and changes)?\))?\nptxas: .+\nZ3: .+\n$")
        self.assertIn(f"\nversion: {version}\n", (ROOT / "CITATION.cff").read_text())
        self.assertIn(f"\n## {version} ", (ROOT / "CHANGELOG.md").read_text())


class WrongWords(Scratch):
    def test_what_is_said(self):
        for words, said in ((["lint", "--theshold", "3", "x"], "`ptxasw lint` has no option `--theshold`; did you mean `--threshold`?"),
                            (["lint", "--jsn=3", "--qiet", "x"], "`ptxasw lint` has no option `--jsn`; did you mean `--json`?"),
                            (["emulate", "a", "b", "c"], "`b` is one word too many for `ptxasw emulate`"),
                            (["cost"], "nothing to read; give PTX, a CUDA source, a program or a folder: ptxasw cost heat.cu"),
                            (["--json", "lint", "x"], "options stand behind the command: ptxasw lint --json"),
                            (["check", "./app"], "write the program after `--`: ptxasw check -- ./app"),
                            (["tune", "--again", "./app"], "write the program after `--`: ptxasw tune -- ./app"),
                            (["check", "--", "./no-such"], "there is no program `./no-such`"),
                            (["check", "--", "no-such"], "there is no program `no-such`"),
                            (["check", "--", "/"], "`/` is no program that can be run"),
                            (["lnt"], "there is no command `lnt`; did you mean `lint`?"),
                            (["advise", "--threads", "axb", "x"], "`--threads` is written `--launch threads=2048x2048` now"),
                            (["lint", "x", "--at=n=3"], "`--at` is written `--launch NAME=NUMBER` now"),
                            (["cost", "--block", "0", "x"], "`--block` is written `--launch block=32x8` now"),
                            (["bound", "x"], "`bound` is written `cost` now"), (["occupancy"], "`occupancy` is written `cost` now"),
                            (["trace", "x"], "`trace` is written `explain --trace` now"),
                            (["stats"], "`stats` is written `status --totals` now"),
                            (["config"], "`config` is written `status --settings` now"),
                            (["overlay", "x", "--check"], "`--check` is written `--status` now"),
                            (["launch", "--check"], "`--check` is written `--why` now"),
                            (["launch", "--first"], "`--first` is written `--unmeasured` now"),
                            (["faster", "--explain", "x"], "`--explain` is written `--why` now"),
                            (["status", "--last"], "`--last` is written `--last-run` now"),
                            (["status", "--launch"], "`--launch` is written `--launch-log` now"),
                            (["emulate", "x", "--profile"], "`--profile` is written `--by-instruction` now"),
                            (["emulate", "x", "--threads=3"], "`--threads` is written `--jobs N` now"),
                            (["tune", "--json=x"], "`--json` is written `--tuner-json FILE` now"),
                            (["advise", "x", "--registers", "3"], "`--registers` is written `--registers-per-thread N` now")):
            result = run([PTXASW, *words])
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            self.assertTrue(result.stderr.startswith("ptxasw: error: "), result.stderr)
            self.assertIn(said, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_no_option_takes_the_name_of_the_file(self):
        for words in (["advise", "--launch", "threads=64", "none.ptx"], ["siblings", "--retile", "x2", "none.ptx"],
                      ["emulate", "--launch", "grid=2x1", "none.ptx"], ["lint", "-W", "all", "none.ptx"]):
            self.assertIn("cannot read `none.ptx`", run([PTXASW, *words]).stderr, words)

    def test_words_that_are_not_understood_end_with_2(self):
        for words in ([], ["nonsense"], ["rewrite"], ["rewrite", "x"], ["overlay"],
                      ["rewrite", "x", "-o", "y", "--variant", "half"], ["run"], ["--bogus"],
                      ["rewrite", "x", "-o", "y", "--max-delta=99"]):
            with self.subTest(words=words):
                result = run([PTXASW, *words])
                self.assertEqual(result.returncode, 2)
                self.assertNotEqual(result.stderr, "")


# Each thread stores a number at its global index in p: in %d.
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %q;
  ld.param.u64 %d1, [p];
  mov.u32 %r1, %ntid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.s32 %d2, %r4, 4; add.s64 %d1, %d1, %d2;
  BODY
  ret;
}
"""
BODIES = {
    "fine": "st.global.u32 [%d1], %r4;",
    "other": "add.u32 %r4, %r4, 1; st.global.u32 [%d1], %r4;",
    "race": "ld.param.u64 %d1, [p]; st.global.u32 [%d1], %r3;",
    "shape": "st.global.u32 [%d1], %r3;",  # depends on how threads form blocks
    "strange": "suld.b.1d.b32.trap %r4, [%d1, {%r1}]; st.global.u32 [%d1], %r4;",  # is not emulated
    "together": "shfl.sync.idx.b32 %r5, %r4, 0, 31, -1; st.global.u32 [%d1], %r5;",
    "endless": "L: bra L;",
    "apart": "mul.wide.s32 %d2, %r4, 128; add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r4;",  # each lane has its own sector
    "typo": "st.globl.u32 [%d1], %r4;",
}
AT = ["--launch", "grid=2,block=32,p=zeros:256"]
NUMBERS = ["--launch", "threads=1024", "--gpu", "H100", "--registers-per-thread", "16"]
CODES = (  # what each command ends with; None: it can not end so
    ("emulate", ["fine", *AT], ["race", *AT], ["typo", *AT], ["strange", *AT]),
    ("emulate", ["fine", *AT, "--steps", "9999"], ["fine", "--launch", "p=zeros:4,block=32"], ["fine", "--launch", "block=32"],
     ["endless", *AT, "--steps", "9999"]),
    ("verify", ["fine", "fine"], ["fine", "other"], ["fine", "more"], ["strange", "strange"]),
    ("verify", ["fine", "fine", *AT], ["fine", "other", *AT], ["race", "fine", *AT], ["strange", "strange", *AT]),
    ("verify", None, ["two", "two-others"], ["two", "two-more"], ["two", "two"]),
    ("prove", ["fine", "--assume", "no-wrap,1d"], ["race"], ["none"], ["strange"]),
    ("prove", ["fine", "--equal", "fine", *AT], ["fine", "--equal", "other", *AT], ["fine", "--equal", "none", *AT],
     ["strange", "--equal", "strange", *AT]),
    ("independent", ["fine"], ["shape"], ["none"], ["together"]),
    ("cost", ["fine", "--only", "bounds"], None, ["typo", "--only", "bounds"], ["endless", "--only", "bounds"]),
    ("cost", ["fine", "--compare", "other"], None, ["fine", "--kernel", "k", "--compare", "k2"], ["endless", "--compare", "endless"]),
    ("optimize", ["fine"], None, ["none"], ["endless"]),
    ("optimize", ["fine", "--budget", "60s"], None, ["fine", "--budget", "soon"], ["fine", "--budget", "0.000001s"]),
    ("advise", ["fine", *NUMBERS], None, ["fine", "--launch", "threads=x"], ["together", *NUMBERS]),
    ("lint", ["fine", "-Werror"], ["apart", "-Werror"], ["typo", "-Werror"], None),
    ("lint", ["typo"], None, ["none"], None),  # no gate
    ("explain", ["endless"], None, ["none"], None),
    ("siblings", ["endless"], None, ["none"], None),
    ("report", ["endless", "-o", "pages"], None, ["none", "-o", "pages"], None),
)


class ExitCodes(Scratch):
    def test_each_means_the_same_in_every_command(self):
        for name, body in BODIES.items():
            self.write(f"{name}.ptx", KERNEL.replace("BODY", body))
        fine, other, strange = (KERNEL.replace("BODY", BODIES[name]) for name in ("fine", "other", "strange"))
        self.write("k2.ptx", fine.replace("k(", "k2("))
        self.write("more.ptx", fine.replace(".u64 p)", ".u64 p, .param .u64 more)"))
        # Of two kernels the worse one counts: a difference before what cannot be compared, that before what is not known.
        two = strange + fine[fine.index(".visible"):].replace("k(", "k2(")
        self.write("two.ptx", two)
        self.write("two-others.ptx", strange + other[other.index(".visible"):].replace("k(", "k2("))
        self.write("two-more.ptx", two.replace("k2(.param", "k2(.param .u64 more, .param"))
        for name, *ends in CODES:
            for code, words in enumerate(ends):
                if words is None:
                    continue
                words = [f"{word}.ptx" if word in BODIES or word in ("none", "k2", "more") or word.startswith("two") else word
                         for word in words]
                with self.subTest(words=" ".join([name, *words])):
                    done = run([PTXASW, name, *words])
                    self.assertEqual(done.returncode, code, done.stdout + done.stderr)

    def test_what_was_found_counts_before_a_file_that_cannot_be_written(self):
        for name in ("fine", "other"):
            self.write(f"{name}.ptx", KERNEL.replace("BODY", BODIES[name]))
        done = run([PTXASW, "verify", "fine.ptx", "other.ptx", "--counter-example", "none/launch.toml"])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("DIFFER", done.stdout)
        self.assertIn("none/launch.toml", done.stderr)

    def test_what_was_found_is_written_though_time_was_spent(self):
        self.write("fine.ptx", KERNEL.replace("BODY", BODIES["fine"]))
        self.assertEqual(run([PTXASW, "optimize", "fine.ptx", "--budget", "0.000001s", "-o", "out.ptx"]).returncode, 3)
        self.assertEqual(Path("out.ptx").read_text(), Path("fine.ptx").read_text())


if __name__ == "__main__":
    main()
