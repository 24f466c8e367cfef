"""What is made of the table of options (man pages, completions, the page of commands) has every command and
every option, and the programs that read it understand it."""

import json
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from support import PTXASW, Scratch, main, run

ROOT = Path(__file__).resolve().parent.parent.parent


def described(*words):
    result = run([PTXASW, "describe", *words])
    assert result.returncode == 0, result.stderr
    return result.stdout


ALL = json.loads(described("json"))
COMMANDS = {command["name"]: command for command in ALL["commands"]}


def option_names(command):
    return [name for option in COMMANDS[command]["options"] for name in option["names"]]


class Table(unittest.TestCase):
    def test_json_is_as_its_schema_says(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("no jsonschema")
        jsonschema.validate(ALL, json.loads((ROOT / "docs/describe.schema.json").read_text()))

    def test_the_commands_are_those_of_help(self):
        help_text = run([PTXASW, "help", "--all"]).stdout
        # Behind the first blank line after the options; two blanks, a name, blanks.
        shown = re.findall(r"^  ([a-z][a-z-]*) {2,}|^  ([a-z][a-z-]*)$", help_text, flags=re.M)
        self.assertEqual({a or b for a, b in shown}, set(COMMANDS) - {""})

    def test_help_fits_a_terminal(self):
        for words in (["--help"], ["help"], ["help", "--all"], *([name, "--help"] for name in COMMANDS if name)):
            done = run([PTXASW, *words])
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for line in done.stdout.splitlines():
                self.assertTrue(len(line) <= 80 or " " not in line.strip() or line.startswith("  ptxasw "), (words, line))
        short = run([PTXASW, "help"]).stdout
        self.assertIn("\n  lint ", short)
        self.assertNotIn("\n  merge ", short)
        self.assertIn("ptxasw help --all", short)

    def test_the_options_are_those_of_help(self):
        for command in filter(None, COMMANDS):
            shown = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", run([PTXASW, command, "--help"]).stdout, flags=re.M))
            self.assertEqual({name for name in option_names(command) if name.startswith("--")}, shown, command)

    def test_the_page_has_every_command(self):
        page = (ROOT / "docs/commands.md").read_text()
        for command in filter(None, COMMANDS):
            self.assertTrue(re.search(rf"^\| `ptxasw {command}[ `]", page, flags=re.M),
                            f"docs/commands.md has no line of {command}: see `ptxasw describe markdown`")

    def test_the_example_of_settings_holds(self):
        text = described("toml")
        keys = re.findall(r"^# ([a-z-]+) = ", text, flags=re.M)
        table = run([PTXASW, "config", "--markdown"]).stdout
        self.assertEqual(keys, re.findall(r"^\| `--ptxasw-([a-z-]+)`", table, flags=re.M))


class Settings(Scratch):
    def test_each_key_of_the_example_can_be_taken(self):
        for line in re.findall(r"^# ([a-z-]+ = .*)$", described("toml"), flags=re.M):
            if line.endswith('""'):
                continue  # nothing is set by default: there is no value to try
            self.write("ptxasw.toml", line + "\n")
            result = run([PTXASW, "config"], cwd=self.dir)
            self.assertEqual((result.returncode, result.stderr), (0, ""), line)


class ManPages(Scratch):
    def test_they_have_every_option_and_no_fault(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                page = described("man", command) if command else described("man")
                for name in option_names(command):
                    self.assertIn(name.replace("-", "\\-"), page)
                if shutil.which("groff"):
                    done = subprocess.run(["groff", "-ww", "-man", "-Tutf8"], input=page, text=True,
                                          capture_output=True, timeout=60)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_first_page_leads_to_all_others(self):
        for command in filter(None, COMMANDS):
            self.assertIn("ptxasw\\-" + command, described("man"))

    def test_no_such_page(self):
        result = run([PTXASW, "describe", "man", "nonsense"])
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("nonsense", result.stderr)


class Completion(Scratch):
    def bash(self, *words):
        """What bash would offer for the last of the words, cut as readline does."""
        script = self.write("completion.bash", described("bash"))
        cut = [part for word in words for part in re.split(r"(=)", word) if part or not word]
        quoted = " ".join("'" + part + "'" for part in cut)
        done = run(["bash", "-c", f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(cut) - 1}; _ptxasw; "
                    "printf '%s\\n' \"${COMPREPLY[@]}\""], cwd=self.dir)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_offers_commands(self):
        self.assertEqual(set(self.bash("ptxasw", "")), set(COMMANDS) - {""} | set(option_names("")))
        self.assertIn("verify", self.bash("ptxasw", "ver"))

    def test_bash_offers_the_options_of_each_command(self):
        for command in filter(None, COMMANDS):
            self.assertEqual(set(self.bash("ptxasw", command, "-")), set(option_names(command)), command)

    def test_bash_offers_values_and_files(self):
        self.write("kernel.ptx", "")
        self.assertEqual(self.bash("ptxasw", "rewrite", "--shuffle=al"), ["always"])
        self.assertEqual(self.bash("ptxasw", "rewrite", "--shuffle="), ["auto", "always", "never"])
        self.assertEqual(self.bash("ptxasw", "rewrite", "--shuffle", "n"), ["never"])
        self.assertEqual(self.bash("ptxasw", "rewrite", "ker"), ["kernel.ptx"])
        self.assertIn("bash", self.bash("ptxasw", "run", "--", "bas"))

    def test_others_have_every_option(self):
        zsh, fish = described("zsh"), described("fish")
        for command in COMMANDS:
            for name in option_names(command):
                self.assertIn(f"{name}", zsh)
                long = name.startswith("--")
                self.assertIn(f" {'-l' if long else '-s'} {name.lstrip('-')}", fish)

    def test_others_are_without_fault(self):
        for shell in ("zsh", "fish"):
            if shutil.which(shell):
                script = self.write("script", described(shell))
                done = run([shell, "-n", script])
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)


if __name__ == "__main__":
    main()
