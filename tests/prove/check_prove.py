#!/usr/bin/env python3
"""check_prove.py PTXASW HEAD KERNELS [-v] [--every N], check_prove.py PTXASW --cuda KERNELS [-v] [--every N] [--flags FLAGS], or
check_prove.py PTXASW --races FOLDER [--every N]: `ptxasw prove` on every kernel of the table, in PTX or in CUDA, or on each N-th. No
racy one is proved (`diverge`: its barriers are not, `outside`: its bounds are not), no race-free one is refuted, at least 80 % of the
race-free ones are proved; and every launch that refutes is run again by `ptxasw emulate`, which has to see the race. What would do is
what a row wants (`wants WHAT`), and does. Of the programs for the race check none that races may be proved."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

USUAL = "--launch block=64,grid=2 --assume disjoint"
USUAL_IN_CUDA = USUAL + ",no-wrap"
EVERY = int(sys.argv[sys.argv.index("--every") + 1]) if "--every" in sys.argv else 1
LINE = re.compile(r"(free|race|diverge|outside|wants [^:]*):(?: \[(--[^\]]*)\](?= |$))?(?: (.*))?$")


def changed(body, edits, cuda):
    for edit in (edits or "").split(" ;; "):
        if not edit:
            continue
        old, new = (side.strip().replace("@", "\n") if cuda else side.strip().replace(";;", ";\n").replace(":;", ":\n")
                    for side in edit.split("->"))
        if old not in body:
            sys.exit(f"nothing to change: {old!r}")
        body = body.replace(old, new)
    return body


def kernels(table, cuda=False):
    """Name, verdict, options and body of each."""
    for part in re.split(r"^= ", table, flags=re.M)[1:]:
        name, *lines = part.strip().split("\n")
        variants = [LINE.match(line) for line in lines if LINE.match(line)]
        body = "\n".join(line for line in lines if not LINE.match(line))
        for number, variant in enumerate(variants):
            verdict, options, edits = variant.groups()
            yield f"{name} {number}", verdict, (options or (USUAL_IN_CUDA if cuda else USUAL)).split(" "), changed(body, edits, cuda)


def compiled(table, folder, flags):
    """The same of a table in CUDA; each kernel as a module of its own, with the variables that it uses."""
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc:
        print("skipped: no nvcc")
        sys.exit(77)
    rows = list(kernels(table, cuda=True))[::EVERY]
    source = folder / "kernels.cu"
    with source.open("w") as out:
        for i, (*_, body) in enumerate(rows):
            for name in re.findall(r"extern __shared__ \w+ (\w+)", body): # one in a whole module
                body = re.sub(rf"\b{name}\b", f"{name}_{i}", body)
            body = body.replace("KERNEL", f'extern "C" __global__ void k{i}')
            out.write(f"namespace v{i} {{\n{body}\n}}\n")
    subprocess.run([nvcc, "-ptx", "-w", "-arch=sm_80", "-std=c++17", *flags, source, "-o", folder / "all.ptx"], check=True)
    head, *parts = re.split(r"^(?=\.visible \.entry )", (folder / "all.ptx").read_text(), flags=re.M)
    variable = re.compile(r"^(?:\.visible |\.weak |\.extern )?\.(?:shared|global|const) .*?([\w$]+)(?:\[\d*\])?(?: = .*)?;\n", re.M)
    variables = list(variable.finditer(head))
    for part in parts[:-1]:
        variables += variable.finditer(part)
    head = re.search(r"\.version.*\n\.target.*\n\.address_size.*\n", head)[0]
    texts = {re.match(r"\.visible \.entry (\w+)", part)[1]: re.split(r"(?<=^}\n)", part, maxsplit=1, flags=re.M)[0] for part in parts}
    for i, (name, verdict, options, _) in enumerate(rows):
        text = texts[f"k{i}"]
        words = set(re.findall(r"[\w$]+", text))
        yield name, verdict, options, head + "".join(one[0] for one in variables if one[1] in words) + text


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


def proposal_fault(ptxasw, source, name, wanted, options):
    """What is wrong with the assumptions that would do: they are others than those wanted, or do not."""
    def ask(*more):
        done = subprocess.run([ptxasw, "prove", source, "--json", *options, *more], capture_output=True, text=True)
        return json.loads(done.stdout)["kernels"][0] if done.stdout else {"would_do": done.stderr, "race_free": {"verdict": "error"}}
    would_do = ",".join(ask()["would_do"])
    if would_do != wanted:
        return [f"{name}: wants {would_do!r}, not {wanted!r}"]
    verdict = ask("--only-given", "--assume", wanted)["race_free"]["verdict"] if wanted else "proved"
    return [] if verdict == "proved" else [f"{name}: {verdict} with {wanted}"]


def main():
    if sys.argv[2] == "--races":
        check_races(sys.argv[1], Path(sys.argv[3]))
    ptxasw, head, table = sys.argv[1], sys.argv[2], Path(sys.argv[3]).read_text()
    verbose = "-v" in sys.argv
    counts, wrong = {}, []
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "kernel.ptx"
        if head == "--cuda":
            modules = compiled(table, Path(place), sys.argv[sys.argv.index("--flags") + 1].split() if "--flags" in sys.argv else [])
        else:
            around = Path(head).read_text()
            modules = [(*row, around.replace("BODY", body)) for *row, body in list(kernels(table))[::EVERY]]
        for name, verdict, options, text in modules:
            source.write_text(text)
            if verdict.startswith("wants"):
                wrong += proposal_fault(ptxasw, source, name, verdict.removeprefix("wants").strip(), options)
                continue
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


if __name__ == "__main__":
    main()
