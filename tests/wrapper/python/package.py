"""The Python package, by the interpreter that runs this: PYTHONPATH has it, and PTXASW names the program. With NumPy where
there is one."""

import array
import ctypes
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import ptxasw
from ptxasw import _launch
from ptxasw.testing import assert_no_new_findings, assert_race_free

try:
    import numpy
except ImportError:
    numpy = None
try:
    ptxasw.parameters(".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { ret; }")
    loads = True
except OSError:  # built with sanitizers, which want to be loaded first
    loads = False

ROOT = Path(__file__).resolve().parents[3]
SAXPY = ROOT / "docs/examples/saxpy.ptx"
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
# Lane i reads element 1024 i.
COLUMN = HEAD + """.visible .entry column(.param .u64 in, .param .u64 out) {
.reg .b32 %r<3>; .reg .b64 %d<6>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r1, %tid.x;
mul.wide.u32 %d3, %r1, 4096; mul.wide.u32 %d4, %r1, 4; add.s64 %d5, %d1, %d3;
ld.global.b32 %r2, [%d5];
add.s64 %d5, %d2, %d4; st.global.b32 [%d5], %r2; ret; }"""
# All threads of a block store to one word; the second stores each its own.
SAME = HEAD + """.visible .entry same(.param .u64 out) {
.reg .b32 %r<2>; .reg .b64 %d<3>;
ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; st.global.u32 [%d1], %r1; ret; }
.visible .entry own(.param .u64 out) {
.reg .b32 %r<5>; .reg .b64 %d<3>;
ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;
mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r1; ret; }"""
# Copies its parameters to memory as they came.
KEEP = HEAD + """.visible .entry keep(.param .u64 out, .param .u8 a, .param .s16 b, .param .f32 c, .param .f64 d, .param .b32 e,
.param .align 4 .b8 f[12]) {
.reg .b16 %h<3>; .reg .b32 %r<5>; .reg .b64 %d<3>;
ld.param.u64 %d1, [out]; ld.param.u8 %h1, [a]; st.global.u8 [%d1], %h1; ld.param.u16 %h2, [b]; st.global.u16 [%d1+2], %h2;
ld.param.b32 %r1, [c]; st.global.b32 [%d1+4], %r1; ld.param.b64 %d2, [d]; st.global.b64 [%d1+8], %d2;
ld.param.b32 %r2, [e]; st.global.b32 [%d1+16], %r2; ld.param.b32 %r3, [f+8]; st.global.b32 [%d1+20], %r3; ret; }"""
# Follows a pointer in memory.
CHAIN = HEAD + """.visible .entry chain(.param .u64 p) {
.reg .b64 %d<3>; ld.param.u64 %d1, [p]; ld.global.u64 %d2, [%d1]; st.global.u32 [%d2], 7; ret; }"""
# With the parameters that Triton adds, shared memory from the launch, and its way to write accesses.
TRITON = HEAD + """.extern .shared .align 16 .b8 global_smem[];
.visible .entry half(.param .u64 .ptr .global .align 1 p0, .param .u32 p1, .param .u64 .ptr .global .align 1 p2,
.param .u64 .ptr .global .align 1 p3)
.reqntid 64
{
.reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %d<3>;
ld.param.b64 %d1, [p0]; ld.param.b32 %r1, [p1]; mov.u32 %r2, %tid.x; setp.lt.s32 %p1, %r2, %r1; mad.wide.s32 %d2, %r2, 4, %d1;
mov.b32 %r3, 0;
@%p1 ld.global.b32 { %r3 }, [ %d2 + 0 ];
mov.b32 %r4, global_smem; shl.b32 %r5, %r2, 2; add.s32 %r6, %r4, %r5; xor.b32 %r5, %r5, 128; add.s32 %r7, %r4, %r5;
st.shared.b32 [ %r6 + 0 ], %r3; bar.sync 0; ld.shared.b32 %r8, [%r7];
@%p1 st.global.b32 [ %d2 + 0 ], { %r8 };
ret;
}"""


class Answers(unittest.TestCase):
    def test_lint(self):
        (found,) = ptxasw.lint(COLUMN)
        self.assertEqual((found.code, found.kernel, found.source), ("uncoalesced", "column", None))
        self.assertIn("32 sectors", str(found))
        self.assertIn("swap the loops", found.note)
        self.assertEqual(ptxasw.lint(COLUMN, warn="no-uncoalesced"), [])
        two = COLUMN + COLUMN[len(HEAD):].replace("column", "other")
        self.assertEqual([[found.kernel for found in ptxasw.lint(two, kernel)] for kernel in (None, "other")], [["column", "other"], ["other"]])
        self.assertEqual(ptxasw.lint(SAXPY, launch={"block": 256, "p_n": 1024}), [])
        with self.assertRaisesRegex(ptxasw.Error, r"(?s)an instruction outside of a function.*\^"):
            ptxasw.lint(HEAD + "rubbish {")
        with self.assertRaisesRegex(ptxasw.Error, "neither PTX"):
            ptxasw.lint("rubbish {")
        with self.assertRaisesRegex(ptxasw.Error, "nonsense"):
            ptxasw.lint(COLUMN, warn=["nonsense"])

    def test_prove(self):
        same, own = ptxasw.prove(SAME, assume=["1d", "no-wrap"], only_given=True)
        self.assertEqual((same.kernel, same.race_free.verdict), ("same", "refuted"))
        self.assertIn("race", same.race_free.reason)
        self.assertEqual((own.race_free.verdict, "no-wrap" in own.assumptions), ("proved", True))
        self.assertEqual(own.in_bounds.verdict, "not asked")
        (own,) = ptxasw.prove(SAME, "own", assume="1d", size={"out": 256}, launch={"block": 64, "grid": 1})
        self.assertEqual(own.in_bounds.verdict, "proved")
        (own,) = ptxasw.prove(SAME, "own", assume="1d", size={"out": 255}, launch={"block": 64, "grid": 1})
        self.assertNotEqual(own.in_bounds.verdict, "proved")
        with self.assertRaises(ptxasw.Error):
            ptxasw.prove(SAME, "no such")

    def test_verify(self):
        said = ptxasw.verify(COLUMN, COLUMN.encode(), runs=2, seed=3)
        self.assertTrue(said)
        self.assertEqual((said.verdict, said.kernels[0].launches), ("agree", 2))
        said = ptxasw.verify(COLUMN, COLUMN.replace("%r1, 4;", "%r1, 8;"))
        self.assertFalse(said)
        self.assertEqual((said.verdict, said.kernels[0].kernel), ("differ", "column"))
        self.assertIn("[[argument]]", said.kernels[0].launch)
        self.assertEqual(ptxasw.verify(COLUMN, COLUMN.replace(".param .u64 out", ".param .u64 out, .param .u64 more")).verdict, "not-comparable")
        double = COLUMN.replace("st.global", "add.f32 %r2, %r2, 0f00000001; st.global")
        self.assertEqual(ptxasw.verify(COLUMN, double, ulp=1).verdict, "differ")

    def test_words_that_are_missing(self):
        with mock.patch.dict(os.environ, {"PTXASW": "/no/such/program"}):
            ptxasw.program.cache_clear()
            with self.assertRaises(FileNotFoundError):
                ptxasw.lint(COLUMN)
        ptxasw.program.cache_clear()


@unittest.skipUnless(loads, "no library that can be loaded here")
class Launches(unittest.TestCase):
    def saxpy(self, n, length=1000, **words):
        y, x = array.array("f", [1.0] * length), array.array("f", range(length))
        ptxasw.emulate(SAXPY, "saxpy", grid=4, block=256, args=[y, x, 2.0, n], **words)
        return y

    def test_buffers(self):
        self.assertEqual(list(self.saxpy(1000)), [2.0 * i + 1 for i in range(1000)])
        with self.assertRaisesRegex(ptxasw.KernelFault, "line 2[568]: .*thread 232,0,0.*out of bounds"):
            self.saxpy(1001)
        self.assertEqual(self.saxpy(1000)[999], 1999.0)

    def test_bounds_end_with_the_launch(self):
        cell = (ctypes.c_uint32 * 1)()
        pointer = (ctypes.c_uint64 * 1)(ctypes.addressof(cell))
        with self.assertRaises(ptxasw.KernelFault):
            ptxasw.emulate(CHAIN, block=1, args=[pointer])
        ptxasw.emulate(CHAIN, block=1, args=[pointer], memory=[cell])
        self.assertEqual(cell[0], 7)
        with self.assertRaises(ptxasw.KernelFault):  # an address alone gives no right to it
            ptxasw.emulate(CHAIN, block=1, args=[ctypes.addressof(pointer)])
        # A range within another takes nothing away from it.
        whole = (ctypes.c_uint32 * 100)()
        pointer[0] = ctypes.addressof(whole) + 4 * 90
        ptxasw.emulate(CHAIN, block=1, args=[pointer], memory=[whole, memoryview(whole).cast("B")[40:80]])
        self.assertEqual(whole[90], 7)
        with self.assertRaisesRegex(TypeError, "takes arrays"):
            ptxasw.emulate(CHAIN, block=1, args=[pointer], memory=[3])

    def test_values(self):
        class Three(ctypes.Structure):
            _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_int), ("c", ctypes.c_int)]

        out = bytearray(24)
        for third in (Three(1, 2, 3), bytes([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0])):
            ptxasw.emulate(KEEP, block=1, args=[out, 255, -2, 1, 0.5, ctypes.c_float(2.0), third])
            self.assertEqual(out.hex(" ", 4), "ff00feff 0000803f 00000000 0000e03f 00000040 03000000")
        for position, wrong, error, text in [(1, 256, ValueError, "256 does not fit"), (2, 1.5, TypeError, "a real number"),
                                             (4, "x", TypeError, "str is neither"), (5, 1.5, TypeError, r"numpy.float32\(x\)"),
                                             (3, 1e300, OverflowError, ""), (6, b"123", ValueError, "3 bytes are given"),
                                             (1, bytearray(4), TypeError, "an array"), (0, b"x", ValueError, "1 bytes"),
                                             (0, memoryview(b"x"), TypeError, "read-only")]:
            args = [out, 1, 1, 1, 1, 1, bytes(12)]
            args[position] = wrong
            with self.subTest(wrong=wrong), self.assertRaisesRegex(error, rf"parameter {position} of keep \(\.\w+\): .*{text}"):
                ptxasw.emulate(KEEP, "keep", block=1, args=args)

    def test_impossible_launches(self):
        self.assertEqual([(p.type, p.size) for p in ptxasw.parameters(KEEP)][3:], [("f32", 4), ("f64", 8), ("b32", 4), ("b8", 12)])
        out = bytearray(4)
        for words, error, text in [(dict(block=1, args=[]), TypeError, r"1 parameters \(u64\), 0 are given"),
                                   (dict(args=[out]), TypeError, "how many threads"),
                                   (dict(block=0, args=[out]), ValueError, "extents from 1"),
                                   (dict(block=(1, 1, 1, 1), args=[out]), ValueError, "one to three"),
                                   (dict(block=2048, args=[out]), ptxasw.Error, "2048"),
                                   (dict(kernel="none", block=1, args=[out]), ptxasw.Error, "no kernel `none`")]:
            with self.subTest(words=words), self.assertRaisesRegex(error, text):
                ptxasw.emulate(SAME, **words)
        with self.assertRaises(ptxasw.Error):
            ptxasw.emulate("rubbish {", block=1)

    def test_check(self):
        out = array.array("I", [5] * 64)
        self.assertEqual(ptxasw.check(SAME, "own", 2, 32, [out]), [])
        self.assertEqual(list(out), [5] * 64)
        found = ptxasw.check(SAME, "same", 1, 64, [out])
        self.assertEqual({fault.kind for fault in found}, {"race"})
        self.assertRegex(str(found[0]), "same, line .*: race: .*against line")
        self.assertEqual([fault.kind for fault in ptxasw.check(SAME, "own", 3, 32, [out])], ["out of bounds"])
        # Views of one array stay views of it.
        y = array.array("f", range(100))
        view = memoryview(y)[1:]
        self.assertEqual({fault.kind for fault in ptxasw.check(SAXPY, "saxpy", 1, 99, [y, view, 2.0, 99])}, {"race"})

        trap = SAME.replace("st.global.u32 [%d1], %r1; ret; }\n", "trap; ret; }\n")
        self.assertEqual([fault.kind for fault in ptxasw.check(trap, "same", 1, 1, [out])], ["trap"])
        with self.assertRaisesRegex(ptxasw.Error, "frobnicate"):
            ptxasw.check(trap.replace("trap;", "frobnicate.u32 %r1;"), "same", 1, 1, [out])
        with self.assertRaisesRegex(ptxasw.Error, "2048, more than 1024"):
            ptxasw.check(SAME, "same", 1, 2048, [out])

    def test_one_launch_at_a_time(self):
        held = []
        library = SimpleNamespace(ptxasw_allow=lambda *_: held.append(_launch._one_launch.locked()) or 0, ptxasw_forget=lambda _: None,
                                  ptxasw_launch=lambda *_: held.append(_launch._one_launch.locked()) or 0)
        given = [ptxasw.Parameter("u64", 8)]
        with mock.patch.object(_launch, "_library", lambda: library), mock.patch.object(_launch, "parameters", lambda *_: given):
            ptxasw.emulate(SAME, block=1, args=[bytearray(4)])
        self.assertEqual(held, [True, True])

    def test_launches_from_threads(self):
        results = {}
        threads = [threading.Thread(target=lambda i=i: results.update({i: self.saxpy(100 * i)[100 * i - 1]})) for i in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, {i: 2.0 * (100 * i - 1) + 1 for i in range(1, 9)})

    def triton(self, scratch=0):
        return SimpleNamespace(asm={"ptx": TRITON}, metadata=SimpleNamespace(
            name="half", num_warps=2, shared=256, global_scratch_size=scratch, profile_scratch_size=0))

    def test_triton(self):
        kernel = ptxasw.from_triton(self.triton())
        self.assertEqual((kernel.name, kernel.block, kernel.shared), ("half", (64, 1, 1), 256))
        data = array.array("I", range(64))
        ptxasw.emulate(kernel, args=[data, 64])
        self.assertEqual(list(data), [i ^ 32 for i in range(64)])
        self.assertEqual(ptxasw.check(kernel, args=[data, 64]), [])
        self.assertEqual(ptxasw.lint(kernel), [])
        with self.assertRaisesRegex(TypeError, "4 parameters"):
            ptxasw.emulate(ptxasw.from_triton(self.triton(scratch=8)), args=[data, 64])
        with self.assertRaisesRegex(TypeError, "holds no PTX"):
            ptxasw.from_triton(SimpleNamespace(asm={"amdgcn": ""}))

    @unittest.skipUnless(numpy, "no NumPy")
    @unittest.skipUnless((ROOT / "docs/examples/triton_softmax.ptx").exists(), "no PTX of Triton's in the tree")
    def test_triton_softmax(self):
        """What Triton makes of docs/examples/triton_softmax.py."""
        kernel = ptxasw.Kernel((ROOT / "docs/examples/triton_softmax.ptx").read_text(), "softmax", (128, 1, 1), 16, 2)
        x = numpy.random.default_rng(1).standard_normal((4, 1000), numpy.float32)
        y = numpy.empty_like(x)
        ptxasw.emulate(kernel, grid=4, args=[y, x, 1000])
        powers = numpy.exp(x - x.max(axis=1, keepdims=True))
        numpy.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)
        self.assertEqual(ptxasw.check(kernel, grid=2, args=[y, x, 1000]), [])

    @unittest.skipUnless(numpy, "no NumPy")
    def test_numpy(self):
        y, x = numpy.ones(1000, numpy.float32), numpy.arange(1000, dtype=numpy.float32)
        args = [y, x, numpy.float32(2), numpy.int64(1000)]
        ptxasw.emulate(SAXPY, "saxpy", (4,), (256, 1), args)
        self.assertTrue(numpy.array_equal(y, 2 * x + 1))
        x.flags.writeable = False
        ptxasw.emulate(SAXPY, "saxpy", 4, 256, args)
        y.flags.writeable = False
        with self.assertRaisesRegex(ptxasw.KernelFault, "store"):
            ptxasw.emulate(SAXPY, "saxpy", 4, 256, args)
        both = numpy.arange(8, dtype=numpy.float32)  # one array of which both are views
        ptxasw.emulate(SAXPY, "saxpy", 1, 4, [both[:4], both[4:], 1.0, 4])
        self.assertEqual(both.tolist(), [4, 6, 8, 10, 4, 5, 6, 7])
        back = numpy.arange(8, dtype=numpy.float32)[::-1]
        ptxasw.emulate(SAXPY, "saxpy", 1, 1, [back, back, 1.0, 1])
        self.assertEqual(back[0], 14)
        with self.assertRaises(ptxasw.KernelFault):
            ptxasw.emulate(SAXPY, "saxpy", 1, 2, [back, back, 1.0, 2])
        whole = numpy.zeros(10, numpy.uint32)
        part = whole[2:8]
        part.flags.writeable = False
        ptxasw.emulate(CHAIN, block=1, args=[numpy.array([whole[4:].ctypes.data], numpy.uint64)], memory=[part, whole])
        self.assertEqual(whole[4], 7)
        out = numpy.zeros(24, numpy.uint8)
        ptxasw.emulate(KEEP, block=1, args=[out, numpy.bool_(True), numpy.int8(-2), numpy.float64(1), numpy.float32(0.5), numpy.float32(2), bytes(12)])
        self.assertEqual(out.tobytes().hex(" ", 4), "0100feff 0000803f 00000000 0000e03f 00000040 00000000")
        self.assertEqual(len(ptxasw.numba_array(numpy.zeros((3, 4)))), 9)


class Compilers(unittest.TestCase):
    def test_numba(self):
        one = SimpleNamespace(inspect_asm=lambda signature=None: {"(int32,)": SAME})
        self.assertEqual(ptxasw.from_numba(one).ptx, SAME)
        self.assertEqual(ptxasw.from_numba((SAME, None)).ptx, SAME)
        chosen = SimpleNamespace(inspect_asm=lambda signature=None: {1: SAME, 2: KEEP}[signature] if signature else {1: SAME, 2: KEEP})
        self.assertEqual(ptxasw.from_numba(chosen, 2).ptx, KEEP)
        for wrong, error, text in [(chosen, ValueError, "2 signatures"), (SimpleNamespace(inspect_asm=dict), ValueError, "nothing is"),
                                   (3, TypeError, "int holds no PTX")]:
            with self.assertRaisesRegex(error, text):
                ptxasw.from_numba(wrong)

    def test_cupy(self):
        """A stand-in for NVRTC: its program is the source, and its options."""
        calls = []
        nvrtc = SimpleNamespace(NVRTCError=KeyError, createProgram=lambda source, name, headers, names: [source],
                                compileProgram=lambda made, options: calls.append((made[0], options)),
                                getPTX=lambda made: SAME.encode(), destroyProgram=lambda made: made.clear())
        cuda = SimpleNamespace(nvrtc=nvrtc, Device=lambda: SimpleNamespace(compute_capability="90"))
        kernel = SimpleNamespace(code="source", options=("-DX=1", "-arch=sm_70"), backend="nvrtc", name="same")
        with mock.patch.dict(sys.modules, {"cupy": SimpleNamespace(cuda=cuda), "cupy.cuda": cuda}):
            taken = ptxasw.from_cupy(kernel)
            self.assertEqual((taken.ptx, taken.name), (SAME, "same"))
            self.assertEqual(calls, [("source", ("-DX=1", "--gpu-architecture=compute_90"))])
        with self.assertRaisesRegex(TypeError, "holds no source"):
            ptxasw.from_cupy(SimpleNamespace(code=None))
        with self.assertRaisesRegex(ValueError, "nvcc -ptx"):
            ptxasw.from_cupy(SimpleNamespace(code="", backend="nvcc"))


class Assertions(unittest.TestCase):
    def test_races(self):
        assert_race_free(SAME, "own", assume=["1d", "no-wrap"])
        with self.assertRaisesRegex(AssertionError, "same: refuted: .*race"):
            assert_race_free(SAME, assume=["1d", "no-wrap"])
        with self.assertRaisesRegex(AssertionError, "saxpy: unknown: "):
            assert_race_free(SAXPY, assume=["disjoint", "1d"])
        with self.assertRaisesRegex(AssertionError, "own: (refuted|unknown)"):  # nothing is assumed that was not said
            assert_race_free(SAME, "own")
        if loads:
            out = array.array("I", [0] * 64)
            assert_race_free(SAME, "own", 1, 64, [out])
            with self.assertRaisesRegex(AssertionError, "race"):
                assert_race_free(SAME, "same", 1, 64, [out])

    def test_findings(self):
        assert_no_new_findings(SAXPY)
        with self.assertRaisesRegex(AssertionError, r"32 sectors .*\[uncoalesced\]"):
            assert_no_new_findings(COLUMN)
        assert_no_new_findings(COLUMN, warn="no-uncoalesced")

    def test_baselines(self):
        with tempfile.TemporaryDirectory() as folder:
            baseline = Path(folder, "column.baseline")
            with mock.patch.dict(os.environ, {"UPDATE_LINT_BASELINE": "1"}):
                try:
                    assert_no_new_findings(COLUMN, baseline)
                except AssertionError as error:
                    if "real ptxas" in str(error):
                        self.skipTest("no ptxas")
                    raise
            assert_no_new_findings(COLUMN, baseline)
            with self.assertRaisesRegex(AssertionError, "uncoalesced"):
                assert_no_new_findings(COLUMN.replace("%r1, 4;", "%r1, 4096;"), baseline)
            with self.assertRaises(AssertionError):
                assert_no_new_findings(COLUMN, baseline.with_name("none"))


if __name__ == "__main__":
    unittest.main()
