"""The snippets of docs/examples/ci: the commands in them run, and what they hand on is as GitHub's code scanning
(SARIF 2.1.0 and its own rules) and GitLab's code quality report ask for it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from support import PTXASW, Scratch, main
from test_lint import HEAD, module

ROOT = Path(__file__).resolve().parents[2]
CI = ROOT / "docs/examples/ci"


def commands(name):
    """The commands of a snippet, from `run:` lines and from the list under `script:`."""
    return re.findall(r"(?m)^ +- (?:run: )?((?:ptxasw|python3) .*)$", (CI / name).read_text())


def sarif_faults(sarif):
    """What GitHub's code scanning would refuse or could not show."""
    if sarif["version"] != "2.1.0" or "sarif-2.1.0" not in sarif["$schema"]:
        yield "version"
    for run_ in sarif["runs"]:
        driver = run_["tool"]["driver"]
        rules = [rule["id"] for rule in driver["rules"]]
        if not driver["name"] or len(set(rules)) != len(rules):
            yield "driver"
        for rule in driver["rules"]:
            if not rule["shortDescription"]["text"] or not rule["help"]["text"]:
                yield f"rule {rule['id']}"
        for result in run_["results"]:
            if result["ruleId"] not in rules or rules[result.get("ruleIndex", rules.index(result["ruleId"]))] != result["ruleId"]:
                yield f"no rule {result['ruleId']}"
            if result["level"] not in ("error", "warning", "note") or not result["message"]["text"]:
                yield "result"
            if not result["partialFingerprints"]:
                yield "no fingerprint"
            for location in [*result["locations"], *result.get("relatedLocations", [])]:
                place = location["physicalLocation"]
                if place["region"]["startLine"] < 1 or place["region"].get("startColumn", 1) < 1:
                    yield "region"
                uri = place["artifactLocation"]["uri"]
                if uri.startswith("/") or ":" in uri or ".." in uri.split("/"):
                    yield f"{uri} is not relative"


def installs(name):
    """Returns true if the snippet brings the program before it runs it."""
    text = (CI / name).read_text()
    return 0 <= text.find("apt-get install -y ./ci/ptxasw_*.deb") < text.find("ptxasw lint --sarif")


class Ci(Scratch):
    def setUp(self):
        super().setUp()
        (self.dir / "src").mkdir()
        self.write("src/a.ptx", module(64))
        self.write("src/b.ptx", HEAD + module(4).split("\n", 3)[3])
        (self.dir / "bin").mkdir()
        (self.dir / "bin/ptxasw").symlink_to(PTXASW)
        self.write("code_quality.py", (CI / "code_quality.py").read_text())

    def run_snippet(self, name):
        found = commands(name)
        self.assertTrue(found)
        for command in found:
            command = command.replace("python3", sys.executable)
            path = f"{self.dir / 'bin'}:{os.environ['PATH']}"
            done = subprocess.run(["sh", "-c", command], cwd=self.dir, env={**os.environ, "PATH": path}, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)

    def test_github(self):
        self.assertTrue(installs("github.yml"))
        self.run_snippet("github.yml")
        sarif = json.loads((self.dir / "lint.sarif").read_text())
        self.assertEqual(list(sarif_faults(sarif)), [])
        self.assertEqual([result["ruleId"] for run_ in sarif["runs"] for result in run_["results"]], ["uncoalesced"])

    def test_gitlab(self):
        self.assertTrue(installs("gitlab.yml"))
        self.run_snippet("gitlab.yml")
        (issue,) = json.loads((self.dir / "code-quality.json").read_text())
        self.assertEqual((issue["check_name"], issue["severity"]), ("uncoalesced", "minor"))
        self.assertTrue(issue["description"] and issue["fingerprint"])
        self.assertEqual(issue["location"]["lines"]["begin"], 7)
        self.assertFalse(issue["location"]["path"].startswith("/"))


if __name__ == "__main__":
    main()
