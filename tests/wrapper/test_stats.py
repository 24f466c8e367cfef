"""What was found and why it was not applied: under -v, in the log, and added up by `ptxasw status --totals`."""

import json
import os

from support import JACOBI, PTXASW, Scratch, link_as_ptxas, main, need_cuda, run

REAL = need_cuda() / "bin/ptxas"


class Findings(Scratch):
    def setUp(self):
        super().setUp()
        self.write("in.ptx", JACOBI.read_text())
        self.ptxas = link_as_ptxas(self.dir / "bin")
        self.env = dict(os.environ, PTXASW_REAL=str(REAL))

    def assemble(self, *words, **environment):
        result = run([self.ptxas, "-arch=sm_90", "in.ptx", "-o", "out", *words],
                     env={**self.env, **environment})
        self.assertEqual(result.returncode, 0, result.stderr)
        return [line for line in result.stderr.splitlines() if line.startswith("ptxasw")]

    def test_one_line_under_v(self):
        (line,) = self.assemble("-v")
        self.assertIn("info    : 6 of 9 loads could be replaced; not applied: sm_90: an L1 hit", line)
        (line,) = self.assemble("--verbose", PTXASW_SHUFFLE="always")
        self.assertIn("info    : 6 of 9 loads replaced", line)
        (line,) = self.assemble("-v", PTXASW_SHUFFLE="always", PTXASW_MAX_DELTA="0")
        self.assertIn("0 of 9 loads replaced: 6 delta-too-large, 3 no-source", line)
        (line,) = self.assemble("-v", "-g")
        self.assertIn("nothing was changed: debug-build", line)
        for fault, word in (("parse", "not-ptx"), ("reject", "ptxas refused the rewritten text")):
            (line,) = self.assemble("-v", PTXASW_SHUFFLE="always", PTXASW_INJECT_FAULT=fault)
            self.assertIn(word, line)

    def test_silent_without_it(self):
        self.assertEqual(self.assemble(), [])
        self.assertEqual(self.assemble(PTXASW_SHUFFLE="always"), [])

    def test_the_code_is_the_same_with_and_without_a_look(self):
        self.assemble()
        plain = (self.dir / "out").read_bytes()
        self.assemble(PTXASW_LOG="log")
        self.assertEqual((self.dir / "out").read_bytes(), plain)

    def test_stats_add_up(self):
        self.env["PTXASW_LOG"] = str(self.dir / "log")
        self.assemble()
        self.assemble(PTXASW_SHUFFLE="always")
        self.assemble("-g")
        last = run([PTXASW, "status", "--last-run"], env=self.env).stdout
        self.assertIn("debug-build", last)
        with open("log", "a") as log:
            log.write("half a li\n")
        stats = json.loads(run([PTXASW, "status", "--totals", "--json"], env=self.env).stdout)
        self.assertEqual(stats["runs"], 3)
        self.assertEqual(stats["outcomes"], {"debug-build": 1, "rewritten": 1, "target-decision": 1})
        self.assertEqual((stats["inputs"], stats["unreadable_lines"]), (1, 1))
        numbers = stats["numbers"]
        self.assertEqual({name: numbers[name] for name in ("modules", "kernels", "loads", "replaced", "possible")},
                         {"modules": 2, "kernels": 2, "loads": 18, "replaced": 6, "possible": 6})
        self.assertEqual(numbers["kept:is-source"], 6)
        self.assertGreater(numbers["microseconds"], 0)
        text = run([PTXASW, "status", "--totals"], env=self.env).stdout
        self.assertRegex(text, r"possible, not applied +6\n")

    def test_names_with_tabs_and_newlines_are_one_line(self):
        self.env["PTXASW_LOG"] = str(self.dir / "log")
        name = "a\tb\nc.ptx"
        (self.dir / name).write_text(JACOBI.read_text())
        result = run([self.ptxas, "-arch=sm_90", name, "-o", "out"], env=self.env)
        self.assertEqual(result.returncode, 0, result.stderr)
        stats = json.loads(run([PTXASW, "status", "--totals", "--json"], env=self.env).stdout)
        self.assertEqual((stats["runs"], stats["unreadable_lines"], stats["numbers"]["loads"]), (1, 0, 9))

    def test_a_log_of_somebody_else(self):
        self.env["PTXASW_LOG"] = str(self.dir / "log")
        (self.dir / "log").write_text("\x1b[31m\tx\t\x1b[32mE\t\x1b]0;t\x07\td\tq=3\nhalf")
        self.assertNotIn("\x1b", run([PTXASW, "status", "--totals"], env=self.env).stdout)
        self.assertEqual(run([PTXASW, "status", "--last-run"], env=self.env).stdout, "half\n")
        for log, why in (("/nonexistent/log", "No such file"), ("/tmp", "Is a directory")):
            result = run([PTXASW, "status", "--last-run"], env={**self.env, "PTXASW_LOG": log})
            self.assertEqual(result.returncode, 2)
            self.assertIn(why, result.stderr)

    def test_a_wrong_variable_hides_no_other(self):
        self.env |= {"PTXASW_LOG": str(self.dir / "log"), "PTXASW_FOO": "1"}
        (self.dir / "log").write_text("line\n")
        result = run([PTXASW, "status", "--last-run"], env=self.env)
        self.assertEqual(result.stdout, "line\n")
        self.assertIn("PTXASW_FOO", result.stderr)

    def test_stats_without_a_log(self):
        result = run([PTXASW, "status", "--totals"], env=self.env)
        self.assertEqual(result.returncode, 2)
        self.assertIn("PTXASW_LOG", result.stderr)

    def test_help(self):
        real = run([REAL, "--help"]).stdout
        ours = run([self.ptxas, "--help"], env=self.env).stdout
        self.assertEqual(ours, real + "This ptxas is ptxasw; --ptxasw-help lists its own options.\n")
        own = run([self.ptxas, "--ptxasw-help"], env=self.env)
        self.assertEqual((own.returncode, own.stderr), (0, ""))
        self.assertIn("--ptxasw-max-delta=0..31", own.stdout)

    def test_the_key_of_a_cache(self):
        def key(**environment):
            return run([self.ptxas, "--ptxasw-cache-key"], env={**self.env, **environment}).stdout

        self.assertRegex(key(), r"^ptxasw-[0-9a-f]{16}\n$")
        self.assertEqual(key(), key())
        self.assertNotEqual(key(), key(PTXASW_SHUFFLE="always"))
        # Also where no ptxas is found: a caller may have one of its own.
        nowhere = {"PTXASW_REAL": "/nonexistent/ptxas"}
        self.assertRegex(key(**nowhere), r"^ptxasw-[0-9a-f]{16}\n$")
        self.assertNotEqual(key(**nowhere), key(**nowhere, PTXASW_SHUFFLE="always"))


if __name__ == "__main__":
    main()
