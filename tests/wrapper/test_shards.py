"""Shards of a run, put together, are the run; merge takes nothing else."""

import json
import shutil
import subprocess
import unittest

from support import PTXASW, Scratch, main, run

COMMANDS = (["explain", "--trace"], ["explain"], ["independent"], ["cost", "--only", "bounds"], ["siblings"], ["prove", "--only-given"])
ONLY_JSON = (["lint", "--launch=block=32"],)  # its text names a place once, however many kernels have it
KERNEL = ".visible .entry k{}(.param .u64 p)\n{{\n.reg .b64 %rd<2>;\n.reg .f32 %f<2>;\nld.param.u64 %rd1, [p];\n" \
         "ld.global.f32 %f1, [%rd1+{}];\nst.global.f32 [%rd1+64], %f1;\nret;\n}}\n"


class Shards(Scratch):
    def setUp(self):
        super().setUp()
        self.ptx = self.write("five.ptx", ".version 7.8\n.target sm_60\n.address_size 64\n" +
                              "".join(KERNEL.format(i, 4 * i) for i in range(5)))

    def sharded(self, words, count):
        parts = [run([PTXASW, *words, self.ptx, f"--shard={i + 1}/{count}"]) for i in range(count)]
        for part in parts:
            self.assertIn((part.returncode, part.stderr), [(0, ""), (1 if words[0] == "prove" else 0, "")])
        return [part.stdout for part in parts]

    def test_text_needs_only_cat(self):
        for words in COMMANDS:
            whole = run([PTXASW, *words, self.ptx]).stdout
            for count in (1, 2, 5, 7):
                self.assertEqual("".join(self.sharded(words, count)), whole, words)

    def test_json_is_merged(self):
        for words in COMMANDS + ONLY_JSON:
            whole = run([PTXASW, *words, "--json", self.ptx]).stdout
            for count in (2, 7):
                files = [self.write(f"{count}-{i}", text)
                         for i, text in enumerate(self.sharded([*words, "--json"], count))]
                merged = run([PTXASW, "merge", *files])
                self.assertEqual(merged.stderr, "")
                self.assertEqual(json.loads(merged.stdout), json.loads(whole))
                self.assertEqual(merged.stdout, whole, words)

    def verify(self, *words):
        return run([PTXASW, "verify", "--runs=3", *words, self.ptx, self.other])

    def test_verify(self):
        text = (self.dir / "five.ptx").read_text()
        self.other = self.write("other.ptx", text.replace("[%rd1+12]", "[%rd1+16]"))  # k3 differs
        whole, as_json = self.verify(), self.verify("--json")
        self.assertEqual((whole.returncode, as_json.returncode), (1, 1))
        for count in (2, 5, 7):
            parts = [self.verify(f"--shard={i + 1}/{count}") for i in range(count)]
            self.assertEqual("".join(part.stdout for part in parts), whole.stdout)
            self.assertEqual(max(part.returncode for part in parts), 1)
            files = [self.write(f"v{count}-{i}", self.verify("--json", f"--shard={i + 1}/{count}").stdout)
                     for i in range(count)]
            merged = run([PTXASW, "merge", *files])
            self.assertEqual((merged.stdout, merged.stderr), (as_json.stdout, ""))

    def test_what_does_not_go_together(self):
        for words in (["cost", "--compare", self.ptx], ["lint", "--baseline", "b.json"],
                      ["verify", self.ptx, "--launch", "l.toml"]):
            result = run([PTXASW, *words, self.ptx, "--shard=1/2"])
            self.assertEqual(result.returncode, 2)
            self.assertIn("do not go together", result.stderr)

    def test_with_a_choice_of_kernels(self):
        words = ["explain", "--trace", "--kernel=k3", "--kernel=k1"]
        self.assertEqual("".join(self.sharded(words, 3)), run([PTXASW, *words, self.ptx]).stdout)

    def test_what_is_no_shard(self):
        for word in ("0/2", "3/2", "1", "x/y", ""):
            result = run([PTXASW, "explain", self.ptx, f"--shard={word}"])
            self.assertEqual(result.returncode, 2)
            self.assertIn("--shard", result.stderr)

    def test_by_gnu_parallel(self):
        if not shutil.which("parallel"):
            self.skipTest("no GNU parallel")
        done = run(["parallel", "--will-cite", "-k", "-j2", PTXASW, "independent", "--json", self.ptx, "--shard={}/3",
                    ":::", "1", "2", "3"])
        merged = subprocess.run([PTXASW, "merge", "-"], input=done.stdout, text=True, capture_output=True)
        self.assertEqual(merged.stdout, run([PTXASW, "independent", "--json", self.ptx]).stdout, done.stderr)


def profile(kernel, chosen):
    return f"""version = 1

[[choice]]
kernel = "{kernel}"
hash = "h{kernel}"
gpu = "G"
block = [256, 1, 1]
threads = 14
among = ["s"]
chosen = "{chosen}"
original_us = 2.000
chosen_us = 1.000
"""


class Merge(Scratch):
    def test_profiles(self):
        files = [self.write("1.toml", profile("b", "original")), self.write("2.toml", profile("a", "s")),
                 self.write("3.toml", profile("b", "s"))]
        merged = run([PTXASW, "merge", *files])
        self.assertEqual((merged.returncode, merged.stderr), (0, ""))
        self.assertEqual([line for line in merged.stdout.splitlines() if line.startswith(("kernel", "chosen ="))],
                         ['kernel = "a"', 'chosen = "s"', 'kernel = "b"', 'chosen = "s"'])
        broken = self.write("4.toml", "version = 1\n[[choice]]\n")
        result = run([PTXASW, "merge", files[0], broken])
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("4.toml:2", result.stderr)

    def merge(self, *texts, words=()):
        return run([PTXASW, "merge", *words, *[self.write(f"{i}.json", text) for i, text in enumerate(texts)]])

    def test_totals_are_added_and_lists_joined(self):
        result = self.merge('{"run": "a", "totals": {"n": 1, "seconds": 0.5}, "found": [1]}\n',
                            '{"run": "a", "totals": {"n": 2, "seconds": 1}, "found": []}\n'
                            '{"run": "a", "totals": {"n": 4, "more": 1}, "found": [2, 3]}', words=["--line"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, '{"run":"a","totals":{"n":7,"seconds":1.5,"more":1},"found":[1,2,3]}\n')

    def test_what_does_not_belong_together(self):
        for a, b, why in (('{"run": 1}', '{"run": 2}', "`run`"), ('{"a": []}', '{}', "`a`"), ('{}', '{"b": 1}', "`b`"),
                          ('{"a": []}', '{"a": {}}', "`a`"), ('{"totals": 1}', '{"totals": 2}', "`totals`"),
                          ('{"totals": {"a": 1}}', '{"totals": {"a": "x"}}', "no number"),
                          ('[]', '{}', "object"), ('{}', '{', "parse error"), ('{}', '', "no JSON"),
                          ('{}', '{} x', "parse error")):
            with self.subTest(a=a, b=b):
                result = self.merge(a, b)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(why, result.stderr)
                self.assertNotIn("terminate", result.stderr)

    def test_no_file(self):
        self.assertEqual(run([PTXASW, "merge"]).returncode, 2)
        self.assertEqual(run([PTXASW, "merge", "absent"]).returncode, 2)

    def test_random_kernels(self):
        program = PTXASW.parent / "tests/random/random_kernels"
        if not program.exists():
            self.skipTest("not built")
        words = [program, "--seed", "7", "--count", "10", "--runs", "1", "--json"]
        parts = [self.write(f"part{i}", run([*words, "--shard", f"{i}/3"]).stdout) for i in (1, 2, 3)]
        self.assertEqual(run([PTXASW, "merge", "--line", *parts]).stdout,
                         json.dumps(json.loads(run(words).stdout), separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
