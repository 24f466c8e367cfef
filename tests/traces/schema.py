"""What the commands print as JSON is what docs/*.schema.json says; and no kernel of the suite needs Z3.

schema.py PTXASW SOURCE_DIR EVERY    of the modules each EVERY-th; of all of them each key of a schema is seen
"""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import jsonschema
except ImportError:
    print("skipped: no jsonschema (Debian package python3-jsonschema)")
    sys.exit(77)

PTXASW, SOURCE, EVERY = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
COMMANDS = {
    "explain": [["explain", "--json"], ["explain", "--trace", "--json"]],
    "lint": [["lint", "--json", "-W", "all"]],
    "report": [["rewrite", "-o", "/dev/null", "--shuffle=always", "--report", "/dev/stdout"]],
}
# Only a drop-in that is given several files has the one, only a proof that fails the other.
NOT_HERE = {"modules", "detail", "obligation"}
FOLDERS = ("kernelgen-bench/suite", "kernelgen-bench/ptx", "tests/data", "tests/synth/golden", "tests/grammar/modules", "tests/analysis/lint")


# What `--registers` asks; names every entry, and says nothing of the last one.
FAKE_PTXAS = """#!/bin/sh
for word; do case $word in /proc/self/fd/*) text=$word ;; esac; done
sed -n 's/.*\\.entry  *\\([A-Za-z0-9_$]*\\).*/\\1/p' "$text" | sed '$d' | while read -r name; do
  echo "ptxas info    : Function properties for $name"
  echo "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
  echo "ptxas info    : Used 32 registers, used 0 barriers"
done >&2
"""


def objects(value):
    """Every object in a JSON value."""
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(child)


def check_names():
    """The reasons and obligations of both schemas are those of their one description, in its order."""
    for macro, file, first in (("REASON", "synth/reasons.def", "no-source"),
                               ("OBLIGATION", "synth/proof/obligations.def", "lined-up")):
        names = re.findall(rf'^PTXASW_{macro}\(\w+, "([^"]+)"', (SOURCE / file).read_text(), re.MULTILINE)
        for name in ("report", "explain"):
            schema = json.loads((SOURCE / f"docs/{name}.schema.json").read_text())
            listed = [part["enum"] for part in objects(schema) if first in part.get("enum", ())]
            assert listed == [names], f"docs/{name}.schema.json: not the names of {file}"


def main():
    check_names()
    modules = [m for folder in FOLDERS for m in sorted((SOURCE / folder).glob("*.ptx"))]
    assert len(modules) > 100
    modules = modules[::EVERY]
    failed = 0
    fake = Path(tempfile.mkdtemp()) / "ptxas"
    fake.write_text(FAKE_PTXAS)
    fake.chmod(0o755)
    environment = {**os.environ, "PTXASW_REAL": str(fake)}
    for name, all_words in COMMANDS.items():
        schema = json.loads((SOURCE / f"docs/{name}.schema.json").read_text())
        validator = jsonschema.validators.validator_for(schema)
        validator.check_schema(schema)
        described = {key for part in objects(schema) for key in part.get("properties", {})}
        seen = set()
        for words, module in itertools.product(all_words, modules):
            more = ["--registers"] if name == "report" and "modules" in module.parts else []
            if name == "report" and module.name.startswith("in-kernel-"):
                more.append("--in-kernel=auto,x2,wide-x2")
            done = subprocess.run([PTXASW, *words, *more, module], capture_output=True, text=True, env=environment)
            without = not re.search(r"^\s*(\.\w+ )*\.entry\b", module.read_text(errors="replace"), re.M)
            if done.returncode not in ((0, 2) if without else (0,)):  # 2: there is no kernel in it
                print(f"{name}, {module.name}: exit code {done.returncode}\n{done.stderr}")
                failed += 1
                continue
            text = done.stdout
            value = json.loads(text)
            seen |= {key for part in objects(value) for key in part}
            for error in validator(schema).iter_errors(value):
                print(f"{name}, {module.name}, {error.json_path}: {error.message}")
                failed += 1
        if EVERY == 1 and described - seen - NOT_HERE:
            print(f"{name}: never seen: {sorted(described - seen - NOT_HERE)}")
            failed += 1
        print(f"{name}: {len(modules)} modules")
    fake.unlink()
    fake.parent.rmdir()
    sys.exit(1 if failed else 0)


main()
