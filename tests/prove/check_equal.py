#!/usr/bin/env python3
"""check_equal.py PTXASW FILE.cu [--every N] [--mutants N] [-v]: pairs of kernels that compute the same are proved to, unless the
file says `unknown`. With --mutants, one word of the second kernel is changed, every N-th such change: what is proved then has to
agree in `verify` for several contents, and what is refuted to differ there. Pairs `always` and `never` are asked about without a
launch (equal_always.cu, and equal_never.txt, which holds bodies in PTX); `verify` then draws launches, which may not keep what is assumed: it is asked where nothing is."""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ALWAYS = re.compile(r"^// (always|never) (\S+) (\S+) (\S+) ?(.*)$", re.M)
NEVER = re.compile(r"^(\S[^\n]*):\n  ([^\n]+)\n  ([^\n]+)$", re.M)
NEVER_HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) {
.reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<9>; .reg .f64 %g<9>; .reg .b16 %h<9>;
.shared .align 4 .b8 t[1024];
ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x; mul.wide.u32 %d3, %r2, 4; add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;
"""
PAIR = re.compile(r"/\* pair (\S+)([^\n]*)\n(.*?)\nend \*/", re.S)
# What takes the place of a word of an instruction.
OTHERS = [("add.", "sub."), ("sub.", "add."), ("mul.", "add."), ("fma.rn", "fma.rz"), ("max.", "min."), ("min.", "max."), ("and.b32", "or.b32"),
          ("or.b32", "xor.b32"), ("shl.", "shr."), ("shr.u", "shr.s"), ("setp.lt", "setp.le"), ("setp.gt", "setp.ge"), ("setp.ne", "setp.eq"),
          ("div.rn", "div.rz"), (".down.", ".bfly."), (".up.", ".down."), (".bfly.", ".down."), ("bar.sync", "// bar.sync"),
          ("bar.warp.sync", "// "), ("%tid.x", "%laneid"), ("%tid.y", "%tid.x"), ("%ctaid.x", "%tid.x"), ("neg.", "abs."), ("ex2.", "lg2.")]


def mutants(text, kernel):
    begin = text.index(f".entry {kernel}(")
    end = text.index("\n}", begin)
    for old, new in OTHERS:
        for place in re.finditer(re.escape(old), text[begin:end]):
            at = begin + place.start()
            yield f"{old} at {at}", text[:at] + new + text[at + len(old):]
    for place in re.finditer(r"(?<=, )(\d+)(?=;)|(?<=\+)(\d+)(?=\])|(?<=0f)[0-9A-F]{8}", text[begin:end]):
        at, word = begin + place.start(), place.group()
        new = f"{int(word, 16) ^ 0x00400000:08X}" if text[at - 2:at] == "0f" else str(int(word) + 4)
        yield f"{word} at {at}", text[:at] + new + text[at + len(word):]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptxasw")
    parser.add_argument("file", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--mutants", type=int)
    parser.add_argument("-v", dest="verbose", action="store_true")
    arguments = parser.parse_args()
    source, problems, counts = arguments.file.read_text(), [], {}
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    is_ptx = arguments.file.suffix == ".txt"
    if not nvcc and not is_ptx:
        print("skipped: no nvcc")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if is_ptx:
            check_never(arguments, folder, NEVER.findall(source)[::arguments.every], problems, counts)
            return finish(problems, counts)
        compiled = folder / "compiled.ptx"
        subprocess.run([nvcc, "-ptx", "-arch=sm_80", "-fmad=false", "-std=c++17", arguments.file, "-o", compiled], check=True,
                       stderr=subprocess.DEVNULL)
        text = compiled.read_text()
        check_one_launch(arguments, text, folder, PAIR.findall(source)[::arguments.every], problems, counts)
        check_always(arguments, text, folder, ALWAYS.findall(source)[::arguments.every], problems, counts)
    finish(problems, counts)


def finish(problems, counts):
    print("\n".join(problems))
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())) + f"; {len(problems)} wrong")
    sys.exit(bool(problems))


def check_never(arguments, folder, rows, problems, counts):
    for name, *bodies in rows:
        files = [folder / "first.ptx", folder / "second.ptx"]
        for file, body in zip(files, bodies):
            file.write_text(NEVER_HEAD + body + "\nret;\n}\n")
        for one, other in (files, files[::-1]):
            done = subprocess.run([arguments.ptxasw, "prove", one, "--equal", other, "--launches", "0"], capture_output=True, text=True)
            verdict = "unknown" if done.returncode == 3 else "proved" if done.returncode == 0 else "error"
            counts[verdict] = counts.get(verdict, 0) + 1
            if verdict != "unknown":
                problems.append(f"{name}: {done.stdout.splitlines()[:1] or done.stderr}")
            elif arguments.verbose:
                print(f"{name}: {done.stdout.splitlines()[0]}", flush=True)


def alone(text, kernel, name):
    """The module with one of its kernels, under another name."""
    begin = text.index(".visible .entry ")
    at = text.index(f".visible .entry {kernel}(")
    end = text.index("\n}", at) + 3
    return text[:begin] + re.sub(rf"\b{kernel}(?=\(|_param_)", name, text[at:end])


def check_always(arguments, text, folder, pairs, problems, counts):
    first, second = folder / "first.ptx", folder / "second.ptx"

    def prove(words):
        done = subprocess.run([arguments.ptxasw, "prove", first, "--equal", second, "--json", "--witness", folder, *words], capture_output=True, text=True)
        if done.returncode not in (0, 1, 3):
            return "error", done.stderr, None
        answer = json.loads(done.stdout)["equal"]
        return answer["verdict"], answer["reason"], answer["launch"]

    def differs(words, file):
        tolerance = ["--reassociate", "--rtol", "1e-2", "--atol", "1e-3"] if "--reals" in words else []
        launch = ["--launch", file] if file else []
        return subprocess.run([arguments.ptxasw, "verify", first, second, *launch, *tolerance], capture_output=True).returncode == 1

    def check(what, words, expected):
        verdict, reason, file = prove(words)
        counts[verdict] = counts.get(verdict, 0) + 1
        if expected == "always" and verdict != "proved":
            problems.append(f"{what}: {verdict}: {reason}")
        elif expected == "never" and verdict not in ("unknown", "refuted"):
            problems.append(f"{what}: {verdict}: {reason}")
        elif verdict == "refuted" and not differs(words, file):
            problems.append(f"{what}: refuted, but `verify` finds no difference: {reason}")
        elif not expected and verdict == "proved" and not {"--assume", "--launch"} & set(words) and differs(words, None):
            problems.append(f"{what}: proved, and `verify` finds a difference")
        if arguments.verbose:
            print(f"{what}: {verdict}: {(reason or '')[:110]}", flush=True)

    number = 0
    for expected, name, one, other, words in pairs:
        if arguments.mutants and expected == "never":
            continue
        first.write_text(alone(text, one, "kernel"))
        changed = alone(text, other, "kernel")
        if not arguments.mutants:
            second.write_text(changed)
            check(name, words.split(), expected)
        for what, mutant in mutants(changed, "kernel") if arguments.mutants else ():
            number += 1
            if number % arguments.mutants == 0:
                second.write_text(mutant)
                check(f"{name}, {what}", words.split(), "")


def check_one_launch(arguments, text, folder, pairs, problems, counts):
    number = 0
    first, second, launch = folder / "first.ptx", folder / "second.ptx", folder / "launch.toml"
    first.write_text(text)

    def prove(options, *words):
        done = subprocess.run([arguments.ptxasw, "prove", first, "--equal", second, "--launch", launch, "--json", "--witness", folder, *options, *words],
                              capture_output=True, text=True)
        if done.returncode not in (0, 1, 3):
            return "error", done.stderr, None
        answer = json.loads(done.stdout)["equal"]
        return answer["verdict"], answer["reason"], answer["launch"]

    def differs(file, options):
        words = ["--reassociate", "--rtol", "1e-2", "--atol", "1e-3"] if "--reals" in options else []
        return subprocess.run([arguments.ptxasw, "verify", first, second, "--launch", file, *words], capture_output=True).returncode == 1

    for name, options, toml in pairs:
        options = options.split()
        is_unknown = "unknown" in options
        options = [word for word in options if word != "unknown"]
        launch.write_text(toml + "\n")
        kernel = re.search(r'second\b[^\w"]*kernel = "(\w+)"', toml)[1]
        if not arguments.mutants:
            second.write_text(text)
            verdict, reason, _ = prove(options)
            counts[verdict] = counts.get(verdict, 0) + 1
            if verdict != ("unknown" if is_unknown else "proved"):
                problems.append(f"{name}: {verdict}: {reason}")
            elif arguments.verbose:
                print(f"{name}: {verdict}")
            continue
        for what, mutant in mutants(text, kernel):
            number += 1
            if number % arguments.mutants:
                continue
            second.write_text(mutant)
            verdict, reason, file = prove(options)
            counts[verdict] = counts.get(verdict, 0) + 1
            # Numbers of any kind: a difference in one element is enough.
            tried = [toml] + [re.sub(r'(name = "(?:in|x|a|b|c|p)"[^}]*?), (fill|range) = [^}]*', rf'\1, fill = "{fill}", seed = {seed} ', toml)
                              for seed, fill in enumerate(["random", "whole32", "edges32", "f32", "small"], 1)]
            if verdict == "proved":
                for one in tried:
                    launch.write_text(one + "\n")
                    if differs(launch, options) and not ("--reals" in options and ("random" in one or "edges" in one)):
                        problems.append(f"{name}, {what}: proved, and `verify` finds a difference")
                        break
                launch.write_text(toml + "\n")
            elif verdict == "refuted" and not differs(file, options):
                problems.append(f"{name}, {what}: refuted, but `verify` finds no difference: {reason}")
            elif verdict == "error" and "not emulated" not in reason:
                problems.append(f"{name}, {what}: {reason}")
            if arguments.verbose:
                print(f"{name}, {what}: {verdict}: {(reason or '')[:110]}", flush=True)


main()
