#!/usr/bin/env python3
"""test_exits.py PTXASW [COUNT [FIRST]]: loops left in every way, rewritten, run against themselves.

Nests of loops whose lanes leave by breaks and continues, some taken by all lanes together and some
not, under branches of both sorts. Counters of these loops index the loads, inside and after them:
whether a counter may be taken for the same number in all lanes is the question (soundness.md,
rule 2). `ptxasw verify` answers it.
"""

import pathlib
import random
import subprocess
import sys
import tempfile

HEAD = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n){directives}
{{
.reg .b64 %rd<8>; .reg .b32 %r<16>; .reg .b32 %v<8>; .reg .pred %p<4>; .reg .b32 %acc;
ld.param.u64 %rd1, [p]; ld.param.u64 %rd5, [q]; ld.param.u32 %r9, [n];
and.b32 %r9, %r9, 7; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2; add.s64 %rd6, %rd5, %rd2;
{varying}
mov.u32 %acc, 0;
"""
VARYING = [  # %r8: a number of its own for each lane
    "ld.global.u32 %r8, [%rd6]; and.b32 %r8, %r8, 3;",
    "shr.u32 %r8, %r1, 1; and.b32 %r8, %r8, 3;",
    "mul.lo.u32 %r8, %r1, 7; shr.u32 %r8, %r8, 2; and.b32 %r8, %r8, 3;",
]


class Kernel:
    """Counters %v0 to %v3, one per loop; %v4 to %v7 hold what was copied on the way."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.labels = 0
        self.loops = 0
        pick = self.random.choice
        self.lines = [HEAD.format(directives=pick(["", "\n.reqntid 64"]), varying=pick(VARYING))]
        for i in range(8):
            self.write(f"mov.u32 %v{i}, {self.below(2)};")
        for _ in range(1 + self.below(3)):
            self.loop([], 1)
            self.loads(4 + self.below(4))
        self.write("st.global.u32 [%rd6], %acc; ret;\n}")

    def text(self):
        return "\n".join(self.lines) + "\n"

    def write(self, line):
        self.lines.append(line)

    def below(self, bound):
        return self.random.randrange(bound)

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def loads(self, counter):
        first, second = self.random.sample([0, 4, 8, 12], 2)
        self.write(f"mul.wide.u32 %rd4, %v{counter}, 4; add.s64 %rd4, %rd3, %rd4;")
        for offset in (first, second):
            self.write(f"ld.global.u32 %r2, [%rd4+{offset}]; mad.lo.u32 %acc, %acc, 31, %r2;")

    def branch(self, to):
        counter = self.below(4)
        test = self.random.choices(
            [
                f"eq.u32 %p2, %r8, {self.below(4)}",
                f"lt.u32 %p2, %r8, %v{counter}",
                f"{self.random.choice(['gt', 'eq', 'lt'])}.u32 %p2, %v{counter}, {1 + self.below(4)}",
                f"gt.u32 %p2, %v{counter}, %r9",
                f"eq.u32 %p2, %r9, {self.below(8)}",
            ],
            [6, 2, 7, 2, 3],
        )[0]
        self.write(f"setp.{test}; @{self.random.choice(['', '!'])}%p2 bra {to};")

    def statement(self, targets, depth):
        kind = self.random.choices(range(6), [4, 4, 5, 3, 2, 3])[0]
        copy = 4 + self.below(4)
        if kind == 0:
            self.loads(self.below(8))
        elif kind == 1:  # some lanes, or all, skip something
            after = self.label()
            self.branch(after)
            for _ in range(1 + self.below(2)):
                self.statement(targets, depth)
            self.write(f"{after}:")
        elif kind == 2:  # a continue or a break, perhaps of an outer loop
            self.branch(self.random.choice(targets + targets[-1:]))
        elif kind == 3:
            self.write(f"mov.u32 %v{copy}, %v{self.below(4)};")
        elif kind == 4:
            self.write(f"add.u32 %v{copy}, %v{copy}, 1; and.b32 %v{copy}, %v{copy}, 15;")
        elif depth < 2:
            self.loop(targets, depth + 1)

    def loop(self, targets, depth):
        if self.loops == 4:
            return
        counter, self.loops = self.loops, self.loops + 1
        top, latch, end = self.label(), self.label(), self.label()
        self.write(f"mov.u32 %v{counter}, {self.below(2)};")
        self.write(f"{top}: add.u32 %v{counter}, %v{counter}, 1;")
        for _ in range(1 + self.below(4)):
            self.statement(targets + [latch, end, end], depth)
        bound = self.random.choice(["3", "5", "6", "%r9", "%r9", "%r8"])
        self.write(f"{latch}: setp.lt.u32 %p1, %v{counter}, {bound}; @%p1 bra {top};")
        if self.below(2):
            self.write(f"mov.u32 %v{4 + self.below(4)}, {self.below(7)};")
        self.write(f"{end}:")
        self.loads(counter)


def main():
    ptxasw = sys.argv[1]
    count, first = (int(a) for a in (sys.argv[2:] + ["100", "0"][len(sys.argv) - 2 :]))
    shuffles = whole = parts = 0
    with tempfile.TemporaryDirectory() as folder:
        original, rewritten = pathlib.Path(folder, "original.ptx"), pathlib.Path(folder, "new.ptx")
        for seed in range(first, first + count):
            original.write_text(Kernel(seed).text())
            command = [ptxasw, "rewrite", "--shuffle", "always", original, "-o", rewritten]
            subprocess.run(command, check=True)
            found = rewritten.read_text().count("shfl.sync")
            shuffles += found
            if not found:
                continue
            command = [ptxasw, "verify", original, rewritten, "--runs", "4", "--schedules", "2",
                       "--search", "20"]
            verdict = subprocess.run(command, capture_output=True, text=True)
            # Some lines of random kernels no launch can reach.
            whole += verdict.returncode == 0
            parts += verdict.returncode == 3
            if verdict.returncode not in (0, 3):
                print(original.read_text(), verdict.stdout, verdict.stderr, sep="\n")
                sys.exit(f"the kernel of seed {seed} is rewritten wrongly")
    print(f"{count} kernels, {shuffles} shuffles, none differ; of {whole + parts} all that changed "
          f"was executed in {whole}")
    if shuffles < count or whole < parts:
        sys.exit("too few of them are rewritten for this to show anything")


if __name__ == "__main__":
    main()
