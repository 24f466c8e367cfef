"""libptxasw_emulate.so: the examples of docs/ptx-run.md, and the corners of its interface by ctypes."""

import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
import unittest

from pathlib import Path

from support import PTXASW, Scratch, main

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "docs/examples"
LIBRARY = Path(PTXASW).parent / "libptxasw_emulate.so"
SAXPY = (EXAMPLES / "saxpy.ptx").read_bytes()

HEAD = b".version 8.0\n.target sm_90\n.address_size 64\n"
STRUCT = HEAD + b""".visible .entry k(.param .u64 out, .param .align 8 .b8 s[24]) {
.reg .b64 %d<3>;
ld.param.u64 %d0, [out]; ld.param.u64 %d1, [s+16]; st.global.u64 [%d0], %d1; ret; }"""
# Pointers in memory, shared memory, and a variable that every run starts anew.
CHAIN = HEAD + b""".global .u32 calls = 5;
.visible .entry first(.param .u64 p) { ret; }
.visible .entry chain(.param .u64 p) {
.reg .b64 %d<4>; .reg .b32 %r<4>; .shared .align 4 .b8 s[4];
ld.param.u64 %d0, [p]; ld.global.u64 %d1, [%d0];
ld.global.u32 %r0, [calls]; add.u32 %r0, %r0, 1; st.global.u32 [calls], %r0;
mov.u32 %r1, s; st.shared.u32 [%r1], %r0; mov.u64 %d2, s; cvta.shared.u64 %d2, %d2; ld.u32 %r2, [%d2];
st.u32 [%d1], %r2; ret; }"""


def load():
    if os.environ.get("ASAN_OPTIONS") or not LIBRARY.exists():
        return None
    try:
        library = ctypes.CDLL(str(LIBRARY))
    except OSError:  # built with sanitizers, which want to be loaded first
        return None
    library.ptx_run.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p),
                                *[ctypes.c_int] * 7]
    library.ptxasw_allow.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    library.ptxasw_forget.argtypes = [ctypes.c_void_p]
    library.ptxasw_forget.restype = None
    library.ptxasw_error.restype = ctypes.c_char_p
    return library


class PtxRun(Scratch):
    def setUp(self):
        super().setUp()
        self.library = load()
        if not self.library:
            self.skipTest("no library that can be loaded here")

    def run_ptx(self, ptx, values, block=(32, 1, 1), grid=(1, 1, 1), shared=0):
        code = self.library.ptx_run(ptx, len(values), (ctypes.c_void_p * max(1, len(values)))(*values),
                                    *block, *grid, shared)
        return code, self.library.ptxasw_error().decode()

    def saxpy(self, n, block=(128, 1, 1), grid=(8, 1, 1), x=None):
        """Of arrays of n elements: the code, what was complained about, and y."""
        y = (ctypes.c_float * n)(*[1.0] * n)
        x = x if x is not None else (ctypes.c_float * n)(*range(n))
        bits = int.from_bytes(ctypes.c_float(2.0), "little")
        code, error = self.run_ptx(SAXPY, [ctypes.addressof(y), ctypes.addressof(x), bits, n], block, grid)
        return code, error, list(y)

    def test_block_extents_come_before_grid_extents(self):
        code, error, y = self.saxpy(1000)
        self.assertEqual((code, error), (0, ""))
        self.assertEqual(y, [2.0 * i + 1 for i in range(1000)])
        _, _, y = self.saxpy(1000, block=(8, 1, 1), grid=(2, 1, 1))
        self.assertEqual(y[15:17], [31.0, 1.0])

    def test_arrays_on_the_heap_and_large_ones(self):
        for n in (1, 7, 100, 300_000):
            code, error, y = self.saxpy(n, grid=((n + 127) // 128, 1, 1))
            self.assertEqual((code, error), (0, ""))
            self.assertEqual(y[-1], 2.0 * (n - 1) + 1)

    def test_pointers_in_memory(self):
        cell = ctypes.c_uint32(0)
        pointer = ctypes.c_uint64(ctypes.addressof(cell))
        where = ctypes.c_uint64(ctypes.addressof(pointer))
        params = (ctypes.c_void_p * 1)(ctypes.addressof(where))
        one = (ctypes.c_uint * 3)(1, 1, 1)
        for _ in range(2):
            self.assertEqual(self.library.ptxasw_launch(CHAIN, b"chain", one, one, 0, params), 0)
            self.assertEqual(cell.value, 6)
        self.assertEqual(self.library.ptxasw_launch(CHAIN, b"none", one, one, 0, params), 2)
        self.assertEqual(self.library.ptxasw_launch(CHAIN, None, one, one, 0, params), 0)

    def test_parameters_of_any_size(self):
        out = ctypes.c_uint64(0)
        struct = (ctypes.c_uint64 * 3)(1, 2, 3)
        where = ctypes.c_uint64(ctypes.addressof(out))
        params = (ctypes.c_void_p * 2)(ctypes.addressof(where), ctypes.addressof(struct))
        one = (ctypes.c_uint * 3)(1, 1, 1)
        self.assertEqual(self.library.ptxasw_launch(STRUCT, None, one, one, 0, params), 0)
        self.assertEqual(out.value, 3)
        code, error = self.run_ptx(STRUCT, [ctypes.addressof(out), 0])
        self.assertEqual(code, 2)
        self.assertIn("24 bytes", error)

    def test_what_is_not_mapped_is_a_fault(self):
        code, error = self.run_ptx(SAXPY, [8, 8, 0, 32])
        self.assertEqual(code, 1)
        self.assertIn("out of bounds", error)
        code, error = self.run_ptx(SAXPY, [0xdead0000dead0000, 8, 0, 32])
        self.assertEqual(code, 1)

    def test_ranges(self):
        x = (ctypes.c_float * 100)()
        y = (ctypes.c_float * 100)()
        self.library.ptxasw_allow(ctypes.addressof(x), 400, 0)
        try:
            values = [ctypes.addressof(y), ctypes.addressof(x), 0, 100]
            self.assertEqual(self.run_ptx(SAXPY, values, (100, 1, 1))[0], 1)
            self.library.ptxasw_allow(ctypes.addressof(y), 400, 0)
            code, error = self.run_ptx(SAXPY, values, (100, 1, 1))
            self.assertEqual(code, 1)
            self.assertIn("store", error)
            self.library.ptxasw_allow(ctypes.addressof(y), 400, 1)
            self.assertEqual(self.run_ptx(SAXPY, values, (100, 1, 1))[0], 0)
            self.library.ptxasw_allow(ctypes.addressof(x), 396, 0)
            code, error = self.run_ptx(SAXPY, values, (100, 1, 1))
            self.assertEqual(code, 1)
            self.assertIn("thread 99,0,0", error)
        finally:
            self.library.ptxasw_forget(ctypes.addressof(x))
            self.library.ptxasw_forget(ctypes.addressof(y))
        self.assertEqual(self.run_ptx(SAXPY, values, (100, 1, 1))[0], 0)
        self.assertEqual(self.library.ptxasw_allow(8, 0, 1), 2)
        self.assertEqual(self.library.ptxasw_allow(2**64 - 8, 16, 1), 2)

    def test_parameters(self):
        class Parameter(ctypes.Structure):
            _fields_ = [("type", ctypes.c_char * 8), ("bytes", ctypes.c_size_t)]

        found = (Parameter * 3)(Parameter(b"none", 0), Parameter(b"none", 0), Parameter(b"none", 0))
        count = ctypes.c_size_t(99)
        ask = self.library.ptxasw_parameters
        self.assertEqual(ask(STRUCT, b"k", found, ctypes.c_size_t(3), ctypes.byref(count)), 0)
        self.assertEqual(count.value, 2)
        self.assertEqual([(one.type, one.bytes) for one in found], [(b"u64", 8), (b"b8", 24), (b"none", 0)])
        self.assertEqual(ask(SAXPY, None, found, ctypes.c_size_t(1), ctypes.byref(count)), 0)
        self.assertEqual((count.value, found[0].type, found[1].type), (4, b"u64", b"b8"))
        self.assertEqual(ask(SAXPY, None, None, ctypes.c_size_t(0), ctypes.byref(count)), 0)
        for arguments in ((SAXPY, b"none", found, ctypes.c_size_t(3), ctypes.byref(count)), (None, None, found, ctypes.c_size_t(3), ctypes.byref(count)),
                          (SAXPY, None, None, ctypes.c_size_t(1), ctypes.byref(count)), (SAXPY, None, found, ctypes.c_size_t(3), None)):
            self.assertEqual(ask(*arguments), 2)
            self.assertNotEqual(self.library.ptxasw_error(), b"")

    def test_what_cannot_be_tried(self):
        for ptx, values, block, grid in [
                (None, [], (1, 1, 1), (1, 1, 1)),
                (b"", [], (1, 1, 1), (1, 1, 1)),
                (HEAD, [], (1, 1, 1), (1, 1, 1)),
                (b"no PTX {", [], (1, 1, 1), (1, 1, 1)),
                (SAXPY, [1, 2, 3], (1, 1, 1), (1, 1, 1)),
                (SAXPY, [1, 2, 3, 4, 5], (1, 1, 1), (1, 1, 1)),
                (SAXPY, [1, 2, 3, 0], (0, 1, 1), (1, 1, 1)),
                (SAXPY, [1, 2, 3, 0], (2048, 1, 1), (1, 1, 1)),
                (SAXPY, [1, 2, 3, 0], (-1, 1, 1), (1, 1, 1)),
                (SAXPY, [1, 2, 3, 0], (1, 1, 1), (1, 0, 1)),
                (SAXPY, [1, 2, 3, 0], (1, 1, 1), (1, 70000, 1))]:
            code, error = self.run_ptx(ptx, values, block, grid)
            self.assertEqual(code, 2, error)
            self.assertNotEqual(error, "")
        one = (ctypes.c_uint * 3)(1, 1, 1)
        self.assertEqual(self.library.ptxasw_launch(SAXPY, None, one, one, 0, None), 2)
        self.assertEqual(self.library.ptxasw_launch(SAXPY, None, None, one, 0, None), 2)

    def test_example_in_c(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            self.skipTest("no C compiler")
        program = self.dir / "saxpy"
        subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'wrapper/library'}",
                        str(EXAMPLES / "saxpy.c"), f"-L{LIBRARY.parent}", f"-Wl,-rpath,{LIBRARY.parent}",
                        "-lptxasw_emulate", "-o", str(program)], check=True)
        done = subprocess.run([program, EXAMPLES / "saxpy.ptx"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("y[999] = 1999\n", done.stdout)
        self.assertIn("out of bounds", done.stdout)

    def test_example_in_python(self):
        if not importlib.util.find_spec("numpy"):
            self.skipTest("no NumPy")
        done = subprocess.run([sys.executable, "-B", EXAMPLES / "saxpy.py", LIBRARY, EXAMPLES / "saxpy.ptx"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "y[999] = 1999.0\n"), done.stderr)


if __name__ == "__main__":
    main()
