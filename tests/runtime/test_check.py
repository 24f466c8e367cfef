"""`ptxasw check`: seeded faults, each compiled into its program by a number, are found where the source
says so, and nothing is found in the program without them."""

import json
import re
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "wrapper"))
from support import PTXASW, Scratch, cuda_home, main, need, need_cuda, run, shown_on_terminal  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

need_cuda()
need("addr2line")
ROOT = HERE.parent.parent
FAULTS = HERE / "faults"
TOOLS = "memcheck,racecheck,initcheck,synccheck,leakcheck"


def marked(text, mark, number):
    """Lines of the source that bear the mark of a fault."""
    return [line for line, words in enumerate(text.splitlines(), 1)
            if re.search(rf"// (?:.*\b)?{mark}(?: \d+)*? {number}\b", words)]


class Check(Scratch):
    def setUp(self):
        super().setUp()
        self.assertEqual(run([PTXASW, "overlay", "o", "--cuda", cuda_home()]).returncode, 0)

    def compile(self, name, fault):
        done = run(["o/bin/nvcc", "--no-gpu", "-arch=sm_90", "-g", "-lineinfo", f"-DFAULT={fault}", "-o", "p",
                    FAULTS / f"{name}.cu"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def findings(self):
        done = run([PTXASW, "check", "--json", "--tool", TOOLS, "--", "./p"])
        self.assertTrue(done.stdout.startswith("end\n"), done.stdout + done.stderr)
        document = json.loads(done.stdout[4:])
        if jsonschema:
            jsonschema.validate(document, json.loads((ROOT / "docs/check.schema.json").read_text()))
        found = document["findings"]
        self.assertEqual(done.returncode, 1 if found else 0)
        return found

    def faults(self, name, kinds):
        text = (FAULTS / f"{name}.cu").read_text()
        self.compile(name, 0)
        self.assertEqual(self.findings(), [])
        for number, kind in enumerate(kinds, 1):
            with self.subTest(program=name, fault=number):
                self.compile(name, number)
                found = self.findings()
                lines = marked(text, "FAULT", number)
                right = [f for f in found if f["kind"] == kind and (not lines or f.get("line") in lines)]
                self.assertTrue(right, found)
                made = marked(text, "MADE", number)
                if made:
                    self.assertIn(f"{name}.cu:{made[0]} (main)", right[0]["made"])

    def test_memory(self):
        self.faults("memory", ["out of bounds"] * 3 + ["misaligned"] + ["out of bounds"] * 8 +
                    ["double free", "leak", "bad free"])

    def test_races(self):
        self.faults("races", ["race"] * 6)

    def test_initialised(self):
        self.faults("initialised", ["uninitialized"] * 5)

    def test_barriers(self):
        self.faults("barriers", ["divergent barrier"] * 2 + ["missing lane"])

    def test_options(self):
        self.compile("memory", 3)

        def check(*words):
            return run([PTXASW, "check", *words, "--", "./p"])
        done = check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("byte 0 of 400 bytes of cudaMalloc, which was freed", done.stderr)
        self.assertRegex(done.stderr, r"freed at \S*memory.cu:\d+ \(main\)")
        self.assertEqual(check("--error-exitcode", "9").returncode, 9)
        self.assertEqual(check("--tool", "racecheck", "--kernel", "nothing").returncode, 0)
        self.assertIn("check: 0 findings", check("--tool", "racecheck").stderr)
        self.write("known", "# of old\nwhich was freed\n")
        self.assertEqual(check("--suppress", "known").returncode, 0)
        self.assertEqual(check("--suppress", "unknown").returncode, 2)
        self.assertEqual(check("--sarif", "out.sarif").returncode, 1)
        sarif = json.loads((self.dir / "out.sarif").read_text())
        self.assertEqual(sarif["runs"][0]["results"][0]["ruleId"], "memcheck/out of bounds")
        done = run([PTXASW, "check", "--prove", "--json", "--", "./p"])
        document = json.loads(done.stdout[done.stdout.index("{"):])
        self.assertEqual({"kernel", "conditions"}, {name for one in document["proved"] for name in one})
        self.assertIn("need not be watched for races", check("--prove").stderr)
        self.assertNotIn("end", check("--stop-after", "1").stdout)
        self.assertEqual(run([PTXASW, "check"]).returncode, 2)
        done = run([PTXASW, "check", "--", "true"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("does not use our runtime", done.stderr)

    def test_what_was_not_checked_is_not_fine(self):
        program = """#include <cstdio>
__global__ void k(int *p) { %s }
int main() { int *p; cudaMalloc(&p, 4); k<<<1, %d>>>(p); cudaDeviceSynchronize(); puts("end"); }
"""
        unknown = 'int r; asm("vadd.s32.s32.s32 %0, %1.h0, %1.h1;" : "=r"(r) : "r"(3)); *p = r;'
        for body, threads, code, words in (("*p = 1;", 1, 0, "0 findings"), ("*p = 1;", 2048, 2, "no kernel of the program ran"),
                                           (unknown, 1, 3, "not emulated")):
            self.write("p.cu", program % (body, threads))
            self.assertEqual(run(["o/bin/nvcc", "--no-gpu", "-arch=sm_90", "-o", "p", "p.cu"]).returncode, 0)
            done = run([PTXASW, "check", "--", "./p"])
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(words, done.stderr)

    def test_memory_of_a_kernel_was_freed_only_if_it_was_by_then(self):
        program = """__global__ void k(int *to) {
  int *const p = static_cast<int *>(malloc(64));
  %s
}
int main() { int *to; cudaMalloc(&to, 4); k<<<1, 1>>>(to); cudaDeviceSynchronize(); }
"""
        for body, kind, where in (("*to = p[2]; free(p);", "uninitialized", "byte 8 of malloc of line \\d+"),
                                  ("p[2] = 1; free(p); *to = p[2];", "out of bounds", "byte 8 of malloc of line \\d+, which was freed")):
            self.write("p.cu", program % body)
            self.assertEqual(run(["o/bin/nvcc", "--no-gpu", "-arch=sm_90", "-o", "p", "p.cu"]).returncode, 0)
            done = run([PTXASW, "check", "--json", "--tool", "memcheck,initcheck", "--", "./p"])
            (finding,) = json.loads(done.stdout)["findings"]
            self.assertEqual(finding["kind"], kind)
            self.assertRegex(finding["memory"], f"^{where}$")

    def test_copies_that_reach_too_far(self):
        for call, said in (("cudaMemcpy(p, h, 104, cudaMemcpyHostToDevice)", "104 bytes are not within memory of the device"),
                           ("cudaMemset(p, 0, 104)", "104 bytes are not within memory of the device"),
                           ("cudaMemcpy(p, h, 100, cudaMemcpyHostToDevice)", "0 findings")):
            self.write("p.cu", "__global__ void k() {}\nint main() {\n  static char h[200];\n  char *p;\n  cudaMalloc(&p, 100);\n"
                               f"  {call};\n  k<<<1, 1>>>();\n  cudaDeviceSynchronize();\n}}\n")
            self.assertEqual(run(["o/bin/nvcc", "--no-gpu", "-arch=sm_90", "-g", "-o", "p", "p.cu"]).returncode, 0)
            done = run([PTXASW, "check", "--", "./p"])
            self.assertIn(said, done.stderr)
            if "104" in call:
                self.assertRegex(done.stderr, r"p\.cu:6.*: error: bad copy: .*, beyond the end of 100 bytes of cudaMalloc")

    def test_a_kernel_that_runs_for_long_is_shown(self):
        self.write("p.cu", "__global__ void k(volatile int *p) { for (;;) *p = 1; }\n"
                           "int main() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaDeviceSynchronize(); }\n")
        self.assertEqual(run(["o/bin/nvcc", "--no-gpu", "-arch=sm_90", "-o", "p", "p.cu"]).returncode, 0)
        self.assertTrue(shown_on_terminal([PTXASW, "check", "--", "./p"], b"k(int volatile*), 1 s"))

    def test_how_it_ended_is_told(self):
        self.write("p.cu", "#include <csignal>\n__global__ void k() {}\n"
                           "int main() { k<<<1, 1>>>(); cudaDeviceSynchronize(); raise(SIGSEGV); }\n")
        self.assertEqual(run(["o/bin/nvcc", "--no-gpu", "-arch=sm_90", "-o", "p", "p.cu"]).returncode, 0)
        done = run([PTXASW, "check", "--", "./p"])
        self.assertEqual(done.returncode, -11)
        self.assertIn("the program was ended by SIGSEGV (Segmentation fault)", done.stderr)

    def test_the_exit_code_is_the_programs(self):
        self.write("q.cu", "int main() { int *p; cudaMalloc(&p, 4); cudaFree(p); return 5; }\n")
        self.assertEqual(run(["o/bin/nvcc", "--no-gpu", "-arch=sm_90", "-o", "q", "q.cu"]).returncode, 0)
        self.assertEqual(run([PTXASW, "check", "--", "./q"]).returncode, 5)


if __name__ == "__main__":
    main()
