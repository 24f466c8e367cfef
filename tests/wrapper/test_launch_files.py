"""Launch files, and what `emulate` and `verify` print of them: text, JSON, counter-examples, debugging."""

import json
import unittest
from pathlib import Path

from support import PTXASW, Scratch, main, run

ROOT = Path(__file__).resolve().parent.parent.parent

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
# out[i] = a * in[i] + bias, and a second spelling with its parameters in another order.
KERNELS = HEAD + """.const .f32 bias;
.visible .entry scale(.param .u64 out, .param .u64 in, .param .f32 a) {
  .reg .b64 %o, %i, %d; .reg .f32 %a, %x, %b; .reg .b32 %t;
  ld.param.u64 %o, [out]; ld.param.u64 %i, [in]; ld.param.f32 %a, [a];
  mov.u32 %t, %tid.x; mul.wide.u32 %d, %t, 4; add.u64 %o, %o, %d; add.u64 %i, %i, %d;
  ld.global.f32 %x, [%i]; ld.const.f32 %b, [bias];
  mul.rn.f32 %x, %x, %a; add.rn.f32 %x, %x, %b;
  st.global.f32 [%o], %x; ret; }
.visible .entry scale_two(.param .f32 a, .param .u64 in, .param .u64 out) {
  .reg .b64 %o, %i, %d; .reg .f32 %a, %x, %b; .reg .b32 %t, %c, %n;
  ld.param.u64 %o, [out]; ld.param.u64 %i, [in]; ld.param.f32 %a, [a];
  mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %c, %n, %t;
  mul.wide.u32 %d, %t, 4; add.u64 %o, %o, %d; add.u64 %i, %i, %d;
  ld.global.f32 %x, [%i]; ld.const.f32 %b, [bias];
  fma.rn.f32 %x, %x, %a, %b;
  st.global.f32 [%o], %x; ret; }
.visible .entry sums(.param .u64 out, .param .align 8 .b8 s[16]) {
  .reg .b64 %o, %d; .reg .b32 %x, %y;
  ld.param.u64 %o, [out]; ld.param.u64 %d, [s]; ld.param.u32 %x, [s+8]; ld.global.u32 %y, [%d];
  add.u32 %x, %x, %y; ld.param.u32 %y, [s+12]; add.u32 %x, %x, %y; st.global.u32 [%o], %x; ret; }
"""
LAUNCH = """kernel = "scale"
block = [8]
[[buffer]]
name = "out"
type = "f32"
count = 8
[[buffer]]
name = "in"
type = "f32"
values = [1.0, 2.0, 3.0, 4.0, 5, 6, 7, 8]
[[variable]]
name = "bias"
type = "f32"
values = [0.5]
[[argument]]
buffer = "out"
[[argument]]
buffer = "in"
[[argument]]
value = 2.0
"""
# A box of a tensor to the block's part of `out`, and the rank of the other block of the cluster, times 100.
TENSOR = """.version 8.0\n.target sm_90\n.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out) {
  .reg .b64 %m, %o; .reg .b32 %t, %c, %x, %y, %r; .reg .pred %p;
  .shared .align 128 .b32 box[8]; .shared .b64 gate; .shared .b32 rank;
  mov.b64 %m, map; cvta.param.u64 %m, %m; ld.param.u64 %o, [out];
  mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; setp.ne.u32 %p, %t, 0; mov.u32 %r, %cluster_ctarank;
  @%p bra wait;
  mbarrier.init.shared.b64 [gate], 1; st.shared.u32 [rank], %r;
  mbarrier.arrive.expect_tx.shared.b64 _, [gate], 32;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [box], [%m, {4, 2}], [gate];
wait:
  bar.sync 0;
again:
  mbarrier.try_wait.parity.shared.b64 %p, [gate], 0; @!%p bra again;
  barrier.cluster.arrive; barrier.cluster.wait;
  setp.ge.u32 %p, %t, 8; @%p bra end;
  xor.b32 %r, %r, 1; mov.u32 %y, rank; mapa.shared::cluster.u32 %y, %y, %r; ld.shared::cluster.u32 %y, [%y];
  xor.b32 %y, %y, 1; mul.lo.u32 %y, %y, 100;
  mov.u32 %x, box; mad.lo.u32 %x, %t, 4, %x; ld.shared.u32 %x, [%x]; add.u32 %x, %x, %y;
  mad.lo.u32 %c, %c, 16, %t; mul.wide.u32 %m, %c, 4; add.u64 %o, %o, %m; st.global.u32 [%o], %x;
end:
  barrier.cluster.arrive; barrier.cluster.wait; ret; }
"""
SECOND = """[second]
kernel = "scale_two"
grid = [2]
block = [4]
argument = [{ value = 2.0 }, { buffer = "in" }, { buffer = "out" }]
"""


def validate(test, document, schema):
    try:
        import jsonschema
    except ImportError:
        return
    jsonschema.validate(document, json.loads((ROOT / "docs" / schema).read_text()))


class LaunchFiles(Scratch):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", KERNELS)
        self.write("l.toml", LAUNCH)

    def emulate(self, *words):
        return run([PTXASW, "emulate", "k.ptx", *words])

    def verify(self, *words):
        return run([PTXASW, "verify", "k.ptx", "k.ptx", *words])

    def test_emulate(self):
        done = self.emulate("--launch", "l.toml", "--dump", "out")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("out[0] = 2.5\n", done.stdout)
        self.assertIn("out[7] = 16.5\n", done.stdout)
        done = self.emulate("--launch", "l.toml", "--json", "--by-instruction", "--dump", "out:f32:2")
        document = json.loads(done.stdout)
        validate(self, document, "emulate.schema.json")
        self.assertEqual(document["buffers"], {"out:f32:2".split(":")[0]: [2.5, 4.5]})
        self.assertEqual((document["kernel"], document["fault"]), ("scale", None))
        self.assertEqual(document["profile"][0]["executions"], 1)

    def test_a_first_launch(self):
        self.write("k.ptx", """.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z4copyPfPKfi(.param .u64 _Z4copyPfPKfi_param_0, .param .u64 _Z4copyPfPKfi_param_1,
                              .param .u32 _Z4copyPfPKfi_param_2)
{
  .reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .pred %p1;
  .loc 1 3 3
  ld.param.u64 %rd1, [_Z4copyPfPKfi_param_0];
  ld.param.u64 %rd2, [_Z4copyPfPKfi_param_1];
  ld.param.u32 %r1, [_Z4copyPfPKfi_param_2];
  mov.u32 %r2, %tid.x;
  setp.ge.s32 %p1, %r2, %r1;
  @%p1 ret;
  mul.wide.s32 %rd3, %r2, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.b32 %r3, [%rd5];
  st.global.b32 [%rd4], %r3;
  ret;
}
.visible .entry none() { ret; }
.file 1 "k.cu"
""")
        self.write("k.cu", "__global__ void copy(float *to, const float *from,\n                     int n) {\n  f();\n}\n")
        told = run([PTXASW, "emulate", "k.ptx", "--kernel", "copy"])
        self.assertEqual((told.returncode, told.stdout), (2, ""))
        self.assertIn("no value is given for `to`; the kernel needs arguments: copy(float* to, float const* from, int n)\n", told.stderr)
        command = told.stderr.splitlines()[-2].strip()
        self.assertEqual(run(["bash", "-c", command.replace("ptxasw", str(PTXASW), 1) + " --check bounds"]).returncode, 0, command)
        made = run([PTXASW, "emulate", "k.ptx", "--kernel", "copy", "--init", "first.toml"])
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertEqual(made.stdout, "first.toml: ptxasw emulate k.ptx --launch first.toml\n")
        self.assertIn("# copy(float* to, float const* from, int n)\n", (self.dir / "first.toml").read_text())
        ran = run([PTXASW, "emulate", "k.ptx", "--launch", "first.toml", "--check", "bounds"])
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(run([PTXASW, "emulate", "k.ptx", "--kernel", "none"]).returncode, 0)
        failed = run([PTXASW, "emulate", "k.ptx", "--kernel", "*o*"])
        self.assertEqual((failed.returncode, failed.stdout), (2, ""))
        self.assertIn("several kernels of `k.ptx` are called `*o*`:\n  copy(float*, float const*, int)\n  none\n", failed.stderr)
        self.assertEqual(run([PTXASW, "verify", "k.ptx", "k.ptx", "--kernel", "copy"]).returncode, 0)

    def test_uninitialized(self):
        self.write("u.toml", LAUNCH.replace('count = 8', 'count = 8\nfill = "uninitialized"')
                   .replace("7, 8]", "7]\ncount = 8\nfill = \"uninitialized\""))
        done = self.emulate("--launch", "u.toml", "--check", "uninit")
        self.assertEqual(done.returncode, 1)
        self.assertIn("thread 7,0,0): uninitialized: load of 4 bytes", done.stderr)
        self.assertEqual(self.emulate("--launch", "u.toml").returncode, 1)
        self.assertEqual(self.emulate("--launch", "u.toml", "--check", "races,none").returncode, 0)
        self.write("w.toml", LAUNCH.replace('count = 8', 'count = 8\nfill = "uninitialized"'))
        self.assertEqual(self.emulate("--launch", "w.toml", "--check", "uninit").returncode, 0)

    def test_structures_and_offsets(self):
        self.write("s.toml", """kernel = "sums"
block = [1]
buffer = [{ name = "out", size = 4 }, { name = "x", type = "u32", values = [7, 30] }]
[[argument]]
buffer = "out"
[[argument]]
bytes = "00000000 00000000 64000000"
fields = [{ at = 0, buffer = "x", offset = 4 }, { at = 12, type = "u32", value = 1000 }]
""")
        done = self.emulate("--launch", "s.toml", "--dump", "out:u32")
        self.assertEqual(done.stdout.split("\n")[0], "out[0] = 0x46a")

    def test_tensor_maps_and_clusters(self):
        launch = """cluster = [2]
grid = [2]
[[buffer]]
name = "out"
type = "s32"
count = 32
[[buffer]]
name = "in"
type = "s32"
values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]
[[argument]]
tensor = { buffer = "in", type = "s32", extents = [8, 3], box = [4, 2] }
[[argument]]
buffer = "out"
"""
        self.write("k.ptx", TENSOR)
        self.write("l.toml", launch)
        # Column 4 on, row 2 on: the second row of the box is outside. The other block's rank goes on top.
        done = self.emulate("--launch", "l.toml", "--dump", "out")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for first, plus in (0, 0), (16, 100):
            for i, number in enumerate([21, 22, 23, 24, 0, 0, 0, 0]):
                self.assertIn(f"out[{first + i}] = {number + plus}\n", done.stdout)
        for wrong, message in ("box = [3, 2]", "rows of 12 bytes in the box, no multiple of 16"), \
                ("box = [4]", "`extents` and a `box`"), ("box = [4, 2], swizzle = 16", "0, 32, 64 or 128"), \
                ("box = [4, 2], fill = 'nan'", "no floating-point numbers"), ("box = [4, 2], pitch = 4", "`pitch`"):
            self.write("l.toml", launch.replace("box = [4, 2]", wrong))
            done = self.emulate("--launch", "l.toml")
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn(message, done.stderr)
            self.assertIn("l.toml:12", done.stderr)

    def test_verify(self):
        self.write("two.toml", LAUNCH + SECOND)
        done = self.verify("--launch", "two.toml")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.write("wrong.toml", LAUNCH + SECOND.replace("2.0", "2.001"))
        done = self.verify("--launch", "wrong.toml", "--json", "--counter-example", "c.toml")
        self.assertEqual(done.returncode, 1)
        document = json.loads(done.stdout)
        validate(self, document, "verify.schema.json")
        self.assertEqual((document["verdict"], document["schedule"]), ("differ", "reconverge"))
        self.assertIn("out[6]: 14.5 and 14.50", document["worst"])
        self.assertEqual(self.emulate("--launch", "c.toml", "--dump", "out").returncode, 0)
        for words, code in ((["--rtol", "1e-2"], 0), (["--rtol", "1e-5"], 1), (["--atol", "0.1"], 0),
                            (["--ulp", "10000"], 0), (["--ulp", "2"], 1)):
            done = self.verify("--launch", "wrong.toml", *words)
            self.assertEqual(done.returncode, code, done.stdout)
            if code == 0:
                self.assertIn("worst difference within the tolerance: out[", done.stdout)

    def test_versions_in_the_second_are_launched_as_their_table_says(self):
        arguments = "".join(f'[[buffer]]\nname = "{name}"\ntype = "f32"\ncount = 8192\nrange = [0, 9]\n[[argument]]\nbuffer = "{name}"\n'
                            for name in ("in", "out"))
        self.write("l.toml", "grid = [3]\nblock = [2]\n" + arguments)
        before = ROOT / "docs/examples/row_sums.ptx"
        self.assertEqual(run([PTXASW, "siblings", before, "--kernel", "before", "--retile=x2,x4", "-o", "good.ptx"]).returncode, 0)
        text = (self.dir / "good.ptx").read_text()
        name = "before__ptxasw_retile_apart_x2"
        at = text.index(f".entry {name}(")
        self.write("bad.ptx", text[:at] + text[at:].replace("add.f32", "sub.f32", 1))
        compare = lambda second, *words: run([PTXASW, "verify", before, second, "--kernel", "before", "--launch", "l.toml", *words])
        done = compare("good.ptx")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{name}: agree under 5 schedules\n", done.stdout)
        done = compare("bad.ptx", "--json", "--counter-example", "c.toml")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        document = json.loads(done.stdout)
        validate(self, document, "verify.schema.json")
        self.assertEqual({one["name"]: one["verdict"] for one in document["versions"]}[name], "differ")
        self.assertIn(f'kernel = "{name}"\ngrid = [2, 1, 1]\n', (self.dir / "c.toml").read_text())
        # Not with the second's kernel named, nor where no version may be launched like this.
        self.write("named.toml", (self.dir / "l.toml").read_text() + '[second]\nkernel = "before"\n')
        self.assertEqual(run([PTXASW, "verify", before, "bad.ptx", "--kernel", "before", "--launch", "named.toml"]).returncode, 0)
        self.write("l.toml", "blocks = [0]\n" + (self.dir / "l.toml").read_text())
        done = compare("bad.ptx")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn(f"{name}: not compared: only some blocks", done.stdout)

    def test_versions_have_as_much_shared_memory_as_the_target(self):
        self.write("a.ptx", (ROOT / "tests/synth/retile/dynamic.ptx").read_text().replace(".target sm_70", ".target sm_90")
                   .replace(".version 7.0", ".version 8.0"))
        self.assertEqual(run([PTXASW, "siblings", "a.ptx", "--kernel", "sums", "--retile=x2", "-o", "b.ptx"]).returncode, 0)
        buffer = '[[buffer]]\nname = "{0}"\ntype = "u32"\ncount = 256\nrange = [0, 9]\n[[argument]]\nbuffer = "{0}"\n'
        for shared, words, code in (
                (40001, "sums__ptxasw_retile_apart_x2: agree", 0),
                (120000, "not compared: it would need 240128 bytes of shared memory, and 232448 are there", 3)):
            self.write("l.toml", f"grid = [4]\nblock = [64]\nshared = {shared}\n" + buffer.format("in") + buffer.format("out") +
                       '[[argument]]\ntype = "u32"\nvalue = 256\n')
            done = run([PTXASW, "verify", "a.ptx", "b.ptx", "--kernel", "sums", "--launch", "l.toml"])
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            self.assertIn(words, done.stdout)

    def test_a_counter_example_that_was_drawn_can_be_run(self):
        self.write("a.ptx", KERNELS)
        self.write("b.ptx", KERNELS.replace("mul.rn.f32 %x, %x, %a;", "mul.rn.f32 %x, %x, %x;"))
        done = run([PTXASW, "verify", "a.ptx", "b.ptx", "--kernel", "scale", "--json",
                    "--counter-example", "c.toml"])
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        document = json.loads(done.stdout)
        validate(self, document, "verify.schema.json")
        self.assertEqual((self.dir / "c.toml").read_text(), document["kernels"][0]["launch"])
        done = run([PTXASW, "emulate", "a.ptx", "--launch", "c.toml"])
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run([PTXASW, "verify", "a.ptx", "b.ptx", "--launch", "c.toml"])
        self.assertEqual(done.returncode, 1, done.stdout)

    def test_what_is_wrong_with_a_file_is_told_with_its_line(self):
        for change, text in ((('kernel = "scale"', 'kernal = "scale"'), "l.toml:1: there is no key `kernal`"),
                             (("count = 8", 'count = "8"'), "l.toml:6: `count` must be a whole number"),
                             (("block = [8]", "block = []"), "l.toml:2: `block` must have one to three"),
                             (("block = [8]", "block = [0]"), "no extent along x"),
                             (("block = [8]", "block = [8"), "l.toml:"),
                             (('"scale"', '"scales"'), "there is no kernel `scales`"),
                             (('buffer = "in"', 'buffer = "im"'), "there is no buffer `im`"),
                             (("value = 2.0", "value = 2.0\ntype = \"f33\""), "no such type"),
                             (("value = 2.0", "value = 256\ntype = \"u8\""), "does not fit into u8"),
                             (("value = 2.0", "value = -129\ntype = \"s8\""), "does not fit into s8"),
                             (("value = 2.0", "value = \"0x10000\"\ntype = \"b16\""), "does not fit into b16"),
                             (('name = "bias"', 'name = "bios"'), "there is no variable `bios`"),
                             (("[[argument]]\nvalue = 2.0\n", ""), "scale has 3 parameters, 2"),
                             (('name = "in"', 'name = "out"'), "`out` is there twice"),
                             (("value = 2.0", "value = 2.0\nbuffer = \"in\""), "needs one of"),
                             (('kernel = "scale"', "kernel = 7"), "l.toml:1: `kernel` must be text"),
                             (("block = [8]", "block = 8"), "l.toml:2: `block`"),
                             (("count = 8", "count = 8\nsize = 32"), "`count` and `size` are two answers to one question"),
                             (("count = 8", "count = 8\nfill = \"ones\""), "`fill` must be zeros, f32, f64, whole32"),
                             (("count = 8", "count = 8\nrange = [1]"), "`range` must be two numbers"),
                             (("count = 8", "count = 8\nrange = [2, 1]"), "buffer `out`: a range that is none"),
                             (("count = 8", "count = 8\ncompare = 1"), "must be true or false"),
                             (("values = [0.5]", 'bytes = "3f0"'), "`bytes` must be hexadecimal digits, two a byte"),
                             (("values = [0.5]", 'bytes = "0000003g"'), "`bytes` must be hexadecimal digits, two a byte"),
                             (("values = [0.5]", 'file = "no such file"'), "no such file"),
                             (("values = [0.5]", 'values = [0.5]\nbytes = "0000003f"'),
                              "only one of `values`, `bytes`, `file` and `range` says what is in it"),
                             (("values = [0.5]", "values = 0.5"), "must be a list"),
                             (('name = "bias"', ""), "it has no `name`"),
                             (("value = 2.0", "value = 2.5\ntype = \"u32\""), "a number of type u32 must be whole"),
                             (("value = 2.0", "function = \"none\""), "there is no function `none`"),
                             (("value = 2.0", "fields = [{ value = 1 }]"), "a field needs `at`, its byte in the parameter"),
                             (("block = [8]", 'block = [8]\nschedule = "random:x"'),
                              "`schedule` must be reconverge, apart or random[:SEED]")):
            self.write("l.toml", LAUNCH.replace(*change))
            done = self.emulate("--launch", "l.toml")
            self.assertEqual(done.returncode, 2, change)
            self.assertIn(text, done.stderr)
        self.assertEqual(self.emulate("--launch", "none.toml").returncode, 2)
        self.write("l.toml", LAUNCH)
        self.assertEqual(self.emulate("--launch", "l.toml", "--launch", "factor=1").returncode, 2)
        self.assertEqual(self.verify("--launch", "l.toml", "--rtol", "x").returncode, 2)

    def test_debugging(self):
        line = next(n for n, text in enumerate(KERNELS.split("\n"), 1) if "mul.rn.f32" in text)
        done = self.emulate("--launch", "l.toml", "--break", str(line), "--print", "%x")
        self.assertIn(f"line {line}: block 0,0,0 warp 0 lanes 0x000000ff: mul.rn.f32 %x, %x, %a;\n"
                      "  lane  0: %x = 1\n", done.stdout)
        done = self.emulate("--launch", "l.toml", "--trace-lane", "3")
        self.assertIn("mul.rn.f32 %x, %x, %a;\n    %x = 8\n", done.stdout)
        for words in (["--break", "1"], ["--break", "x"], ["--break", str(line), "--print", "%none"],
                      ["--trace-lane", "2000"], ["--trace-lane", "1:a"]):
            self.assertEqual(self.emulate("--launch", "l.toml", *words).returncode, 2, words)


if __name__ == "__main__":
    main()
