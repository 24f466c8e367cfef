"""`ptxasw emulate`: what it checks unless told otherwise, how it tells of it, and what it refuses."""

import json
import re
from pathlib import Path

from support import PTXASW, Scratch, main, run

ROOT = Path(__file__).resolve().parents[2]

# Thread i of 64 puts in[i] into a tile of 33 numbers without a barrier, and reads its neighbour's and in[i + 1].
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.file 1 "step.cu"
.visible .entry step(.param .u64 out, .param .u64 in) {
  .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %rd<8>;
  .shared .align 4 .b8 tile[132];
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  .loc 1 4 3
  ld.global.f32 %f1, [%rd4];
  mov.u32 %r2, tile;
  mad.lo.u32 %r2, %r1, 4, %r2;
  st.shared.f32 [%r2], %f1;
  .loc 1 5 3
  ld.shared.f32 %f2, [%r2+4];
  ld.global.f32 %f3, [%rd4+4];
  add.f32 %f2, %f2, %f3;
  add.s64 %rd5, %rd1, %rd3;
  st.global.f32 [%rd5], %f2;
  ret;
}
"""
FINE = "block=64,out=zeros:256,in=random:f32:65"


class Emulate(Scratch):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", KERNEL)
        self.write("step.cu", "\n\n\n  tile[i] = in[i];\n  out[i] = tile[i + 1] + in[i + 1];\n")

    def emulate(self, *words):
        return run([PTXASW, "emulate", "k.ptx", "--launch", *words])

    def test_everything_is_checked_and_counted(self):
        done = self.emulate("block=64,out=zeros:256,in=random:f32:64")
        self.assertEqual(done.returncode, 1)
        self.assertIn("step: 960 thread-instructions", done.stdout)  # the run went on to its end
        findings = re.split(r"(?m)^(?=step\.cu)", done.stderr)[1:]
        kinds = [finding.split(":")[3].strip() for finding in findings]
        self.assertEqual(sorted(set(kinds)), ["out of bounds", "race", "uninitialized"])
        (of_argument,) = [finding for finding in findings if "argument" in finding]
        self.assertEqual(of_argument, "step.cu:5:3: out of bounds: load of 4 bytes at 0x200000200100 of global memory\n"
                                      "    5 |   out[i] = tile[i + 1] + in[i + 1];\n"
                                      "    in step, block 0,0,0 thread 63,0,0, PTX line 20\n"
                                      "    right behind argument 1 `in`, 256 bytes\n")
        of_shared = [finding for finding in findings if "out of bounds: store" in finding]
        self.assertIn("    right behind `tile` in shared memory, 132 bytes\n    and 30 more like it\n", of_shared[0])
        (race,) = [finding for finding in findings if finding.startswith("step.cu:5:3: race: a load")]
        self.assertIn("a load and an earlier store there are not ordered\n", race)
        self.assertIn("    and step.cu:4:3: block 0,0,0 thread 1,0,0, PTX line 17\n", race)

    def test_memory_that_was_freed(self):
        self.write("k.ptx", """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 back) malloc (.param .b64 size);
.extern .func free (.param .b64 p);
.visible .entry step(.param .u64 out)
{
  .reg .b64 %rd<3>; .reg .b32 %r<2>;
  .param .b64 one; .param .b64 back;
  mov.u64 %rd1, 64;
  st.param.b64 [one], %rd1;
  call.uni (back), malloc, (one);
  ld.param.b64 %rd2, [back];
  mov.u32 %r1, 7;
  st.u32 [%rd2], %r1;
  st.param.b64 [one], %rd2;
  call.uni free, (one);
  ld.u32 %r1, [%rd2+8];
  ret;
}
""")
        done = self.emulate("block=1,out=zeros:4")
        self.assertIn("out of bounds: load of 4 bytes", done.stderr)
        self.assertIn("    8 bytes from the beginning of `malloc of line 12`, which was freed\n", done.stderr)

    def test_memory_that_is_freed_after_the_access(self):
        self.write("k.ptx", """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 back) malloc (.param .b64 size);
.extern .func free (.param .b64 p);
.visible .entry step(.param .u64 out)
{
  .reg .b64 %rd<3>; .reg .b32 %r<2>;
  .param .b64 one; .param .b64 back;
  mov.u64 %rd1, 64;
  st.param.b64 [one], %rd1;
  call.uni (back), malloc, (one);
  ld.param.b64 %rd2, [back];
  ld.u32 %r1, [%rd2+8];
  st.param.b64 [one], %rd2;
  call.uni free, (one);
  ret;
}
""")
        done = self.emulate("block=1,out=zeros:4")
        self.assertIn("uninitialized: load of 4 bytes", done.stderr)
        self.assertIn("    8 bytes from the beginning of `malloc of line 12`\n", done.stderr)

    def test_what_is_asked_for(self):
        for check, found in (("bounds", {"out of bounds"}), ("races", {"race", "out of bounds"}), ("none", {"out of bounds"})):
            done = self.emulate("block=64,out=zeros:256,in=random:f32:65", "--check", check)
            self.assertEqual((done.returncode, set(re.findall(r"(?m)^step.*?3: ([a-z ]+):", done.stderr))), (1, found))
            self.assertEqual("step: 960" in done.stdout, check != "none")
        self.assertEqual(self.emulate("block=32,out=zeros:256,in=random:f32:65", "--check", "none").returncode, 0)

    def test_engines_compute_the_same(self):
        for launch, code in (("block=32,out=zeros:256,in=random:f32:65", 0), (FINE, 1)):
            runs = [self.emulate(launch, "--check", "none", "--dump", "out:f32:32", "--engine", engine)
                    for engine in ("auto", "interpreter", "translated")]
            told = {(done.returncode, done.stdout, done.stderr) for done in runs[:2]}
            self.assertEqual(len(told), 1)
            self.assertEqual((runs[2].returncode, runs[2].stdout), (code, runs[0].stdout))
            self.assertEqual("out[31] = " in runs[0].stdout, code == 0)
        self.assertEqual(self.emulate(FINE, "--engine", "fast").returncode, 2)

    def test_json(self):
        found = json.loads(self.emulate(FINE, "--json").stdout)
        self.assertEqual({one["kind"] for one in found["findings"]}, {"race", "out of bounds", "uninitialized"})
        self.assertEqual(found["fault"], None)
        self.assertEqual(found["race"]["line"], 19)
        try:
            import jsonschema
        except ImportError:
            self.skipTest("no jsonschema")
        jsonschema.validate(found, json.loads((ROOT / "docs/emulate.schema.json").read_text()))

    def test_a_missing_value_is_asked_for_by_name(self):
        done = self.emulate("block=32,out=zeros:256")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no value is given for `in`; the kernel needs arguments: step(.u64 out, .u64 in)\n", done.stderr)
        done = self.emulate("block=32,out=zeros:256,on=3")
        self.assertIn("--launch: no kernel has a parameter `on`", done.stderr)

    def test_equal_arguments_have_other_contents(self):
        done = self.emulate("block=32,out=random:f32:64,in=random:f32:64", "--check", "none", "--dump", "out:f32:40", "--dump", "in:f32:40")
        values = dict(re.findall(r"(\w+\[39\]) = (\S+)", done.stdout))
        self.assertNotEqual(values["out[39]"], values["in[39]"])

    def test_words_that_no_access_has(self):
        for word in ("ld.foo.f32", "ld.globl.f32"):
            self.write("bad.ptx", KERNEL.replace("ld.global.f32", word, 1))
            for words in (["emulate", "bad.ptx", "--launch", FINE], ["verify", "bad.ptx", "k.ptx"], ["verify", "k.ptx", "bad.ptx"]):
                done = run([PTXASW, *words])
                self.assertEqual((done.returncode, done.stdout), (2, ""), words)
                self.assertEqual(done.stderr, f"bad.ptx:14:3: error: `{word}` is no instruction that is known\n"
                                              f"    {word} %f1, [%rd4];\n    ^\n")
            for words in (["bad.ptx"], ["k.ptx", "--compare", "bad.ptx"]):
                done = run([PTXASW, "cost", *words, "--only", "bounds"])
                self.assertEqual((done.returncode, "sectors" in done.stdout), (2, False), words)
                self.assertIn(f"error: `{word}` is no instruction that is known\n", done.stderr)
        self.assertEqual(run([PTXASW, "cost", "k.ptx", "--only", "bounds"]).returncode, 0)


if __name__ == "__main__":
    main()
