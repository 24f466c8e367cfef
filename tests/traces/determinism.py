"""Same bytes in, same bytes out: rewrites, traces, explanations and reports of runs that differ in
address-space layout, locale, stack, environment, what freed memory holds and how busy the machine is.

determinism.py PTXASW SOURCE_DIR RUNS    in the last quarter of the runs the machine is busy
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PTXASW, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
RUNS = int(sys.argv[3])
MODULES = [
    "tests/data/jacobi.ptx",  # loops of a grid
    "kernelgen-bench/suite/rhs4th3fort.ptx",  # the largest
    "kernelgen-bench/suite/tricubic2.ptx",  # by run-time tests
    "kernelgen-bench/suite/sincos.ptx",  # branches, local memory
    "tests/synth/golden/address-by-call.ptx",
    "tests/synth/golden/store-between.ptx",
]


def without_times(text):
    """A report, with its times set to nothing, as text again: keys in the order they came."""
    report = json.loads(text)
    report["parse_milliseconds"] = None
    for kernel in report["kernels"]:
        kernel["milliseconds"] = list(kernel["milliseconds"])  # which passes there were
    return json.dumps(report)


def commands(module, folder):
    rewritten, report = folder / "out.ptx", folder / "report.json"
    yield ("rewrite", [PTXASW, "rewrite", module, "-o", rewritten, "--shuffle=always", "--report",
                       report], lambda _: rewritten.read_bytes() + without_times(
                           report.read_text()).encode())
    for command in (["explain", "--trace"], ["explain"]):
        for words in ([], ["--json"]):
            yield (" ".join([*command, *words]), [PTXASW, *command, module, *words], lambda out: out)


class Circumstances:
    def __init__(self, run, locales):
        self.fixed = run % 2 == 1 and shutil.which("setarch") is not None
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(("LC_", "LANG", "PTXASW_"))}
        self.environment["LC_ALL"] = locales[run % len(locales)]
        self.environment["MALLOC_PERTURB_"] = str(run * 37 % 256)
        self.environment["PADDING"] = "x" * (run * 997 % 20000)
        self.stack = [1, 8, 64][run % 3] * 1024 * 1024
        self.busy = run >= RUNS - RUNS // 4

    def __str__(self):
        return (f"{'a fixed' if self.fixed else 'a random'} layout, LC_ALL={self.environment['LC_ALL']}, "
                f"{self.stack >> 20} MiB of stack, {len(self.environment['PADDING'])} bytes more of "
                f"environment, {'a busy' if self.busy else 'an idle'} machine")

    def run(self, words):
        layout = ["setarch", "-R"] if self.fixed else []
        hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
        limit = self.stack if hard == resource.RLIM_INFINITY else min(self.stack, hard)
        done = subprocess.run(
            [*layout, *words], env=self.environment, capture_output=True, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (limit, hard)))
        if done.returncode:
            sys.exit(f"{words}: {done.stderr.decode()}")
        return done.stdout


def main():
    if shutil.which("setarch") and subprocess.run(["setarch", "-R", "true"], check=False,
                                                  capture_output=True).returncode:
        shutil.which = lambda _: None  # a container may forbid it
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout
    locales = list(dict.fromkeys(["C", "C.UTF-8", *listed.split()]))[:RUNS]
    first, compared, different = {}, 0, 0
    loops = []
    try:
        with tempfile.TemporaryDirectory() as name:
            for run in range(RUNS):
                how = Circumstances(run, locales)
                if how.busy and not loops:
                    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                             for _ in range(2)]
                for module in MODULES:
                    for label, words, result in commands(SOURCE / module, Path(name)):
                        got = result(how.run(words))
                        compared += 1
                        if first.setdefault((module, label), got) != got:
                            different += 1
                            print(f"{label} of {module} differs under {how}")
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    print(f"{RUNS} runs, locales {', '.join(locales)}: {compared} results, {different} differ")
    sys.exit(1 if different else 0)


main()
