"""code_quality.py SARIF: its results as a code quality report, which GitLab shows in merge requests."""

import json
import sys

SEVERITY = {"error": "major", "warning": "minor", "note": "info"}
issues = []
for run in json.load(open(sys.argv[1], encoding="utf-8"))["runs"]:
    for result in run["results"]:
        place = result["locations"][0].get("physicalLocation")
        if not place:  # of a build without -lineinfo
            continue
        issues.append({"description": result["message"]["text"], "check_name": result["ruleId"],
                       "fingerprint": next(iter(result["partialFingerprints"].values())),
                       "severity": SEVERITY.get(result.get("level", "warning"), "minor"),
                       "location": {"path": place["artifactLocation"]["uri"],
                                    "lines": {"begin": place["region"]["startLine"]}}})
json.dump(issues, sys.stdout, indent=1)
