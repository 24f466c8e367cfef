#!/usr/bin/env python3
"""check_prove.py PTXASW HEAD KERNELS [-v] [--every N], or check_prove.py PTXASW --races FOLDER [--every N]: `ptxasw prove` on every
kernel of the table, or on each N-th. No racy one is proved (`diverge`: its barriers are not, `outside`: its bounds are not), no
race-free one is refuted, at least 80 % of the race-free ones are proved; and every launch that refutes is run again by
`ptxasw emulate`, which has to see the race. Of the programs for the race check none that races may be proved."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

USUAL = "--launch block=64,grid=2 --assume disjoint"
EVERY = int(sys.argv[sys.argv.index("--every") + 1]) if "--every" in sys.argv else 1
LINE = re.compile(r"(free|race|diverge|outside):(?: \[(--[^\]]*)\](?= |$))?(?: (.*))?$")


def changed(body, edits):
    for edit in (edits or "").split(" ;; "):
        if not edit:
            continue
        old, new = (side.strip().replace(";;", ";\n").replace(":;", ":\n") for side in edit.split("->"))
        if old not in body:
            sys.exit(f"nothing to change: {old!r}")
        body = body.replace(old, new)
    return body


def kernels(table):
    """Name, verdict, options and body of each."""
    for part in re.split(r"^= ", table, flags=re.M)[1:]:
        name, *lines = part.strip().split("\n")
        variants = [LINE.match(line) for line in lines if LINE.match(line)]
        body = "\n".join(line for line in lines if not LINE.match(line))
        for number, variant in enumerate(variants):
            verdict, options, edits = variant.groups()
            yield f"{name} {number}", verdict, (options or USUAL).split(" "), changed(body, edits)


def check_races(ptxasw, folder):
    head = (folder / "head.ptx").read_text()
    counts, wrong = {}, []
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "program.ptx"
        for program in sorted((folder / "programs").iterdir())[::EVERY]:
            body = program.read_text()
            said = dict(re.findall(r"^// (verdict|launch): (.*)", body, re.M))
            launch = dict(word.split("=") for word in said["launch"].split())
            cluster = launch.pop("cluster", None)
            directives = f".reqnctapercluster {cluster}" if cluster else ""
            source.write_text(head.replace("BODY", body).replace("DIRECTIVES", directives))
            at = ",".join(f"{name}={extent}" for name, extent in launch.items())
            done = subprocess.run([ptxasw, "prove", source, "--json", "--only-given", "--launches", "0", "--launch", at], capture_output=True,
                                  text=True)
            answer = json.loads(done.stdout)["kernels"][0]["race_free"]["verdict"]
            counts[said["verdict"], answer] = counts.get((said["verdict"], answer), 0) + 1
            if (said["verdict"], answer) == ("race", "proved"):
                wrong.append(program.name)
    print("\n".join(wrong))
    print(f"{counts.get(('none', 'proved'), 0)} race-free programs proved; {len(wrong)} racy ones")
    sys.exit(bool(wrong))


def main():
    if sys.argv[2] == "--races":
        check_races(sys.argv[1], Path(sys.argv[3]))
    ptxasw, head, table = sys.argv[1], Path(sys.argv[2]).read_text(), Path(sys.argv[3]).read_text()
    verbose = "-v" in sys.argv
    counts, wrong = {}, []
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "kernel.ptx"
        for name, verdict, options, body in list(kernels(table))[::EVERY]:
            source.write_text(head.replace("BODY", body))
            done = subprocess.run([ptxasw, "prove", source, "--json", "--only-given", "--witness", place, *options], capture_output=True,
                                  text=True)
            if done.returncode not in (0, 1, 3):
                wrong.append(f"{name}: {done.stderr}")
                continue
            answer = json.loads(done.stdout)["kernels"][0]
            races, barriers = answer["race_free"], answer["barriers"]
            of_which = {"diverge": barriers, "outside": answer["in_bounds"]}.get(verdict, races)
            got = of_which["verdict"]
            counts[verdict, got] = counts.get((verdict, got), 0) + 1
            if (verdict == "free") != (got == "proved") and got in ("proved", "refuted") or (
                    verdict == "free" and barriers["verdict"] == "refuted"):
                wrong.append(f"{name}: {verdict}, but {got}: {of_which['reason']}")
            if verbose:
                print(f"{name}: {verdict}, {got}, barriers {barriers['verdict']}, {races['reason'] or ''}")
            for what in (races, barriers):
                if what["verdict"] == "refuted" and subprocess.run(
                        [ptxasw, "emulate", source, "--launch", what["launch"], "--check", "races,barriers", *(
                            ["--races", "volatile"] if "volatile" in options else [])], capture_output=True).returncode != 1:
                    wrong.append(f"{name}: emulate does not see what refutes it")
    free = sum(count for (verdict, _), count in counts.items() if verdict == "free")
    racy = sum(count for (verdict, _), count in counts.items() if verdict == "race")
    proved, refuted = counts.get(("free", "proved"), 0), counts.get(("race", "refuted"), 0)
    print("\n".join(wrong))
    print(f"{free} race-free kernels, {proved} proved; {racy} racy ones, {refuted} refuted; {len(wrong)} wrong")
    sys.exit(bool(wrong) or 5 * proved < 4 * free)


main()
