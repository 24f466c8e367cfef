"""Some hundreds of command lines, run by the real ptxas and by us: the same exit code, the same
output files byte for byte, the same messages."""

import itertools
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import JACOBI, PTXASW, link_as_ptxas, main, need_cuda, same_but_for_time

REAL = need_cuda() / "bin/ptxas"

BAD = JACOBI.read_text().replace("mad.lo.s32", "mad.low.s32", 1)

# What every run finds in its directory.
FILES = {
    "in.ptx": JACOBI.read_text(),
    "in.s": JACOBI.read_text(),
    "noext": JACOBI.read_text(),
    "with space.ptx": JACOBI.read_text(),
    "sub/in.ptx": JACOBI.read_text(),
    "bad.ptx": BAD,
    "empty.ptx": "",
    "binary.ptx": "\x00\x01\x7fELF",
    "two.ptx": JACOBI.read_text().replace("jacobi", "second"),
    "crlf.ptx": JACOBI.read_text().replace("\n", "\r\n"),
    "noeol.ptx": JACOBI.read_text().rstrip("\n"),
    "old": "an older output",
    "opt1": "-arch=sm_90 in.ptx -o out",
    "opt2": "-v -optf opt1",
    "opt3": "-arch=sm_90 \"with space.ptx\" -o \"out\"\n",
    "opt4": "-arch=sm_90 with\\ space.ptx -o out",
    "opt5": "-arch=sm_90 \"open.ptx",
    "opt6": "-optf opt6",
    "opt7": "-arch=sm_90 'in.ptx' -o out # in.ptx",
    "opt8": "",
}

TARGETS = ["-arch=sm_90", "-arch sm_90", "--gpu-name=sm_90", "--gpu-name sm_90", "-arch=sm_90a",
           "-arch=sm_100", "-arch=sm_120", "-arch=compute_90", "-arch=lto_90", "-arch=sm_75",
           "-arch=sm_91", "-arch=", "-arch", "--arch=sm_90", "-gpu-name=sm_90", "",
           "-arch=sm_75 -arch=sm_90", "-arch=sm_90 --gpu-name=sm_75"]
OUTPUTS = ["-o out", "-o=out", "--output-file out", "--output-file=out", "", "-oout", "-o",
           "-o out -o out2", "-o old", "-o no/dir/out", "-o ''", "-o -", "-o /dev/null",
           "-o /dev/full", "-o in.ptx", "-o link", "-o dangling", "-o sub", "-o readonly"]
INPUTS = ["in.ptx", "in.s", "noext", "'with space.ptx'", "sub/in.ptx", "./in.ptx", "bad.ptx",
          "empty.ptx", "binary.ptx", "in.ptx two.ptx", "in.ptx in.ptx", "missing.ptx", "",
          "in.ptx missing.ptx", "sub", "''", "-", "- in.ptx", "link.ptx", "crlf.ptx", "noeol.ptx",
          "@in.ptx", "in.ptx,two.ptx", "/dev/stdin", "bad.ptx two.ptx"]
OPTIONS = ["-v", "--verbose", "-c", "--compile-only", "-O0", "-O1", "-O2", "-O3", "-O4", "-O=3",
           "-O 3", "-O", "--opt-level 2", "--opt-level=1", "-Omax", "-g", "--device-debug",
           "-g -O3", "-lineinfo", "-w", "-wv", "-Werror", "-m64", "-m 64", "-m=64", "-m32",
           "--machine=64", "-maxrregcount=32", "-maxrregcount 32", "--maxrregcount=16",
           "-maxrregcount x", "-e jacobi", "-e=jacobi", "--entry jacobi", "-e nosuch",
           "-fmad=false", "-fmad false", "-fmad", "-fmad maybe", "-dlcm=cg", "-dlcm cg",
           "-dlcm=zz", "-dscm=wb", "-flcm=ca", "-Ofc max", "-Ofc=mid", "--Ofast-compile=min",
           "-split-compile=2", "--split-compile 0", "-regUsageLevel=3", "-regUsageLevel 11",
           "-ewp", "-pic true", "-pic=false", "-preserve-relocs", "-ret-end", "-no-bb-merge",
           "-warn-spills", "-warn-lmem-usage", "-warn-double-usage", "-annotate",
           "-suppress-debug-info", "-disable-optimizer-consts", "-sp-bounds-check",
           "-maxntid=128", "-maxntid 128,1,1", "-minnctapersm=2", "-sanitize=memcheck",
           "-sanitize=nothing", "-allow-expensive-optimizations=false",
           "-make-errors-visible-at-exit", "-opt-fp-atomics", "-astoolspatch", "--bogus",
           "-bogus", "--bogus=1", "--", "-c=true", "-v=1", "--verbose=true", "-c false",
           "-func-maxrregcount=24 -c", "-device-stack-protector true", "-v -v", "-lineinfo -v"]
WHOLE = ["", "--version", "-V", "--version in.ptx", "-V --bogus", "-h", "--help", "-h -V", "-V -h",
         "--help in.ptx -o out", "-version-ls", "--list-version", "-optf opt1", "-optf=opt1",
         "--options-file opt1", "--options-file=opt1", "-optf opt2", "-optf opt3", "-optf opt4",
         "-optf opt5", "-optf opt7", "-optf opt8", "-optf", "-optf missing",
         "-optf opt1 -v", "-v -optf opt1", "-optf opt1 -optf opt1", "-optf opt8 in.ptx -arch=sm_90",
         "-ias", "-ias ''", "-arch=sm_90 -ias TEXT -o out", "-arch=sm_90 -ias=TEXT -o out",
         "-arch=sm_90 --input-as-string TEXT", "-arch=sm_90 -ias BADTEXT -o out",
         "-arch=sm_90 -ias TEXT in.ptx -o out", "-arch=sm_90 -ias TEXT two.ptx -o out"]


def command_lines():
    base = "-arch=sm_90 in.ptx -o out"
    yield from WHOLE
    yield from (f"{target} in.ptx -o out" for target in TARGETS)
    yield from (f"-arch=sm_90 in.ptx {output}" for output in OUTPUTS)
    yield from (f"-arch=sm_90 {words} -o out" for words in INPUTS)
    yield from (f"{option} {base}" for option in OPTIONS)
    yield from (f"-arch=sm_90 in.ptx {option} -o out" for option in OPTIONS)
    yield from (f"{base} {option}" for option in OPTIONS[::2])
    yield from (f"-arch=sm_90 {words} {output}"
                for words, output in itertools.product(INPUTS[6:17:2], OUTPUTS[:13:3]))


def split(line):
    import shlex
    texts = {"TEXT": JACOBI.read_text(), "BADTEXT": BAD}
    words = shlex.split(line)
    return [texts.get(word) or word.replace("-ias=TEXT", "-ias=" + texts["TEXT"])
            for word in words]


def snapshot(directory):
    """Every file but those that were there, with its bytes; links as links."""
    found = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if path.is_symlink():
            found[name] = "link to " + os.readlink(path)
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


class Matrix(unittest.TestCase):
    def outcome(self, program, words, environment):
        with tempfile.TemporaryDirectory(prefix="ptxasw-matrix-") as name:
            directory = Path(name)
            for file, text in FILES.items():
                (directory / file).parent.mkdir(exist_ok=True)
                (directory / file).write_bytes(text.encode())
            (directory / "link").symlink_to("old")
            (directory / "link.ptx").symlink_to("in.ptx")
            (directory / "dangling").symlink_to("target")
            (directory / "readonly").write_text("keep")
            (directory / "readonly").chmod(0o444)
            result = subprocess.run([program, *words], cwd=directory, env=environment,
                                    input=JACOBI.read_bytes(), stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, timeout=120)
            return (result.returncode, result.stdout.decode(errors="replace"),
                    same_but_for_time(result.stderr.decode(errors="replace")),
                    snapshot(directory))

    def compare(self, lines, ours, environment, compare_bytes):
        differences = []
        for line in lines:
            words = split(line)
            wanted = self.outcome(REAL, words, dict(os.environ))
            got = self.outcome(ours, words, environment)
            # What ptxasw adds: a line to the version, to the help, and under -v.
            stdout = "".join(text for text in got[1].splitlines(True)
                             if not text.startswith(("ptxasw 0.", "This ptxas is ptxasw; --ptxasw-help")))
            stderr = got[2]
            if "v" in line or "ptxas info" in wanted[2]:
                stderr = "".join(text for text in stderr.splitlines(True)
                                 if not text.startswith("ptxasw info    : "))
            for what, real, mine in (("exit code", wanted[0], got[0]), ("stdout", wanted[1], stdout),
                                     ("stderr", wanted[2], stderr),
                                     ("files", list(wanted[3]), list(got[3])),
                                     ("bytes", wanted[3], got[3])):
                if real != mine and (what != "bytes" or compare_bytes):
                    differences.append(f"{line!r}: {what}\n  real: {str(real)[:300]}\n"
                                       f"  ours: {str(mine)[:300]}")
                    break
        self.assertEqual(len(differences), 0, "\n" + "\n".join(differences[:20]))

    def ours(self):
        directory = Path(tempfile.mkdtemp(prefix="ptxasw-matrix-bin-"))
        self.addCleanup(shutil.rmtree, directory)
        return link_as_ptxas(directory)

    def test_everything_the_same(self):
        lines = list(command_lines())
        self.assertGreaterEqual(len(set(lines)), 300)
        environment = dict(os.environ, PTXASW_REAL=str(REAL), PTXASW_SHUFFLE="never")
        self.compare(lines, self.ours(), environment, True)

    def test_everything_but_the_code_the_same_when_rewriting(self):
        environment = dict(os.environ, PTXASW_REAL=str(REAL), PTXASW_SHUFFLE="always")
        # -v reports how many registers the code needs, which is allowed to change.
        lines = [line for line in command_lines() if "-v" not in line.split()
                 and "--verbose" not in line and "opt2" not in line]
        self.compare(lines, self.ours(), environment, False)


if __name__ == "__main__":
    main()
