#!/usr/bin/env python3
"""compare.py PTXASW COUNTERS [--bench] [--table | --errors]: RaCUDA's kernels, or those of kernelgen-bench: what
`ptxasw lint` predicts of each access, times how often the warp emulator executes it, and what the emulator counts, against the counters of a GPU
for the same launches: sectors and instructions of global loads and stores, wavefronts and instructions
of shared ones. Exit code 1 if a counter is above the prediction, or another one where all predictions are
exact and no lane was missing, and the difference is not in EXPLAINED. --errors prints what RaCUDA's Table 3 has: the
emulator's sums and the GPU's, of RaCUDA's kernels at all sizes of `racuda.py --means`."""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PTXASW, COUNTERS = sys.argv[1:3]
HERE = Path(__file__).resolve().parent.parent
PROJECT = HERE.parent.parent
GLOBAL, SHARED = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
EXECUTED = "smsp__inst_executed_op_{}_{}.sum"
SHORT = {"load": "ld", "store": "st"}
PREDICATED = "executed by warps without active lanes, too: ptxas puts a predicate in place of the branch"
MERGED = "ptxas merges neighbouring accesses into wider ones"
EXPLAINED = {**{(f"reduce{version}", "shared", op): PREDICATED
                for version in ("0", "2", "2a", "3", "3a") for op in ("load", "store")},
             ("matMul", "shared", "load"): MERGED, ("synBrdis", "shared", "store"): MERGED,
             ("synBrdisOpt", "shared", "store"): MERGED,
             **{(f"synBrdis {size}", "shared", "load"): PREDICATED for size in ("39 42", "63 54")},
             ("ptx/matmul even", "global", "load"): PREDICATED, ("ptx/matvec odd", "global", "load"): PREDICATED}


def ask(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode != 0 or not done.stdout:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return json.loads(done.stdout)


def launch_file(launch):
    """The launch as `ptxasw emulate --launch` reads it."""
    lines = [f"{word} = {json.dumps(launch[word])}" for word in ("grid", "block", "shared")]
    lines.insert(0, f"kernel = \"{launch['name']}\"")
    arguments = []
    for i, (kind, value) in enumerate(launch["args"]):
        if kind == "zeros":
            lines += ["[[buffer]]", f"name = \"b{i}\"", f"size = {value}", "alignment = 256"]
        arguments += ["[[argument]]", f"buffer = \"b{i}\"" if kind == "zeros" else f"bytes = \"{value}\""
                      if kind == "bytes" else f"value = {value}"]
    return "\n".join(lines + arguments) + "\n"


def predicted(launch):
    """By space and operation: prediction, emulator's count, executions, and if all of it is exact."""
    ptx = PROJECT / launch["ptx"] if "ptx" in launch else HERE / "racuda" / f"{launch['file']}.ptx"
    block, grid = ("x".join(map(str, launch[word])) for word in ("block", "grid"))
    names = launch.get("names", "").split(",")
    numbers = ",".join(f"{f'param_{names.index(name)}' if name in names else name}={value}"
                       for name, value in launch["numbers"].items())
    told = ask(PTXASW, "lint", ptx, "--json", "--kernel", launch["name"], "--launch",
               f"{numbers},block={block},grid={grid},base-align=256")
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(launch_file(launch))
        file.flush()
        ran = ask(PTXASW, "emulate", ptx, "--launch", file.name, "--check", "none", "--by-instruction", "--json")
    profile = {entry["line"]: entry for entry in ran["profile"]}
    sums = {}
    for access in told["kernels"][0]["accesses"]:
        space, op = access["space"], access["op"]
        if space not in ("global", "shared") or op not in SHORT:
            continue
        seen = profile.get(access["line"])
        if seen is None:
            continue  # never executed
        one = sums.setdefault((space, op), [0, 0, 0, True])
        count = access["sectors"] if space == "global" else access["conflicts"]
        more = seen["executions"] if space == "shared" else 0
        # Of data: no prediction, for the sum neither.
        one[0] = None if count["value"] is None or one[0] is None else one[0] + count["value"] * seen["executions"] + more
        one[1] += seen["sectors"] if space == "global" else seen["conflicts"] + more
        one[2] += seen["executions"]
        full = seen["lanes"] == 32 * seen["executions"]
        one[3] = one[3] and count["verdict"] == "exact" and full
    return sums


def main():
    script = [HERE / "device" / "bench.py"] if "--bench" in sys.argv else [HERE / "racuda.py", PTXASW, "--launches"]
    if "--errors" in sys.argv:
        script.append("--every-size")
    launches = ask(sys.executable, "-B", *script)
    counted = {row["Kernel Name"]: row for row in csv.DictReader(open(COUNTERS))}
    rows, wrong, exact, equal = [], 0, 0, 0
    for launch in launches:
        label = launch.get("label", launch["name"])
        row = {key: int(value.replace(",", "")) for key, value in counted[label].items() if ".sum" in key}
        for (space, op), (most, emulated, executed, all_exact) in sorted(predicted(launch).items()):
            name = (GLOBAL if space == "global" else SHARED).format(SHORT[op])
            instructions, there = row[EXECUTED.format(space, SHORT[op])], row[name]
            known = EXPLAINED.get((label, space, op)) or EXPLAINED.get((launch["name"], space, op))
            good = (most is None or there <= most) and (not all_exact or there == most or known == MERGED)
            good = good and (instructions == executed or known is not None)
            wrong += not good
            exact += all_exact
            equal += there == emulated
            rows.append((label, f"{space} {op}", executed, instructions, most,
                         "unknown" if most is None else "exact" if all_exact else "bound", emulated, there,
                         (known or "") if good else "WRONG"))
    if "--table" in sys.argv:
        print("| kernel | access | executed: emulator | GPU | predicted | verdict | emulator | GPU | |")
        print("|---|---|---|---|---|---|---|---|---|")
        print("\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows))
    if "--errors" in sys.argv:
        sums = {}
        for label, access, _, _, _, _, emulated, there, _ in rows:
            one = sums.setdefault(label, {"global": [0, 0], "shared": [0, 0]})[access.split()[0]]
            one[0], one[1] = one[0] + emulated, one[1] + there
        print("launch\tsectors\tsectors of GPU\twavefronts\twavefronts of GPU")
        for label, one in sums.items():
            print(label, *one["global"], *one["shared"], sep="\t")
        return wrong > 0
    print(f"{len(rows)} sums: {exact} exact, {equal} as the emulator counts, {wrong} wrong")
    return wrong > 0


sys.exit(main())
