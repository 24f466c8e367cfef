"""Every function of cuda_runtime_api.h and of cuda.h is in the page's tables as what it is in the library:
done or refused, with the reason. What is refused says so when it is called, and what is done is found by its name."""

import ctypes
import functools
import re
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "wrapper"))
from support import PTXASW, cuda_home, main, need, need_cuda, skip  # noqa: E402

need_cuda()
need("g++")
LIBRARY = PTXASW.parent / "no-gpu/libcudart.so.13"
PAGE = ROOT / "docs/internals/runtime-functions.md"


HEADERS = {"cuda_runtime_api.h": (r"cuda[A-Z]\w*", "refused.def"), "cuda.h": (r"cu[A-Z]\w*", "driver_refused.def")}


@functools.cache
def declared(header):
    """Names of the functions that the toolkit's header declares for the host."""
    include = cuda_home() / "include"
    text = subprocess.run(["g++", "-E", "-P", "-I", include, include / header], check=True, capture_output=True, text=True).stdout
    return set(re.findall(rf"\b({HEADERS[header][0]})\s*\([^;{{}}]*\)\s*;", re.sub(r"typedef[^;]*;", "", text)))


def refused(header):
    text = (ROOT / "wrapper/runtime" / HEADERS[header][1]).read_text()
    return dict(re.findall(r'PTXASW_REFUSED\((\w+),\s*"([^"]*)"\)', text))


@functools.cache
def exported():
    out = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
    return {re.sub(r"@.*", "", line.split()[-1]) for line in out.splitlines()}


def table(header):
    """The page's rows of a header: reason (empty: done) by name."""
    rows = re.findall(r"^\| (.*?) \| ((?:`\w+`(?:, )?)+) \|$", PAGE.read_text(), re.M)
    names = {name: "" if why == "done" else why for why, names in rows for name in re.findall(r"`(\w+)`", names)}
    return {name: why for name, why in names.items() if re.fullmatch(HEADERS[header][0], name)}


# Calls each function of the list twice, without parameters, which nobody reads, and says what it gives and what the
# runtime keeps of it.
CALLS = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.cuInit(0)
for name in sys.argv[2:]:
    print(name, getattr(library, name)(), getattr(library, name)(), library.cudaGetLastError())
"""
NOT_SUPPORTED = 801  # cudaErrorNotSupported and CUDA_ERROR_NOT_SUPPORTED


class Table(unittest.TestCase):
    def test_the_library_has_what_the_headers_declare(self):
        for header in HEADERS:
            self.assertEqual(declared(header) - exported(), set())

    def test_the_page_says_what_is_refused(self):
        for header in HEADERS:
            self.assertEqual(table(header), {name: refused(header).get(name, "") for name in declared(header)})

    def test_what_is_refused_says_so_once(self):
        for header in HEADERS:
            why = refused(header)
            done = subprocess.run([sys.executable, "-c", CALLS, LIBRARY, *why], check=True, capture_output=True, text=True)
            # An error of the runtime is kept until it is asked for; the driver keeps none.
            kept = NOT_SUPPORTED if header == "cuda_runtime_api.h" else 0
            self.assertEqual(done.stdout.splitlines(), [f"{name} {NOT_SUPPORTED} {NOT_SUPPORTED} {kept}" for name in why])
            self.assertEqual(done.stderr.splitlines(),
                             [f"ptxasw: {name} is not supported: {reason}" for name, reason in why.items()])

    def test_the_driver_finds_what_is_done_by_its_name(self):
        library = ctypes.CDLL(LIBRARY)
        wrong = []
        for symbol in sorted(declared("cuda.h") - refused("cuda.h").keys()):
            name, found, status = re.sub(r"_v\d+$", "", symbol), ctypes.c_void_p(), ctypes.c_int(-1)
            result = library.cuGetProcAddress_v2(name.encode(), ctypes.byref(found), 13000, ctypes.c_uint64(0),
                                                 ctypes.byref(status))
            if (result, status.value, found.value) != (0, 0, ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value):
                wrong.append((name, result, status.value))
        self.assertEqual(wrong, [])

    def test_programs_see_nothing_else_of_the_archive(self):
        archive = LIBRARY.with_name("libptxasw_cudart.a")
        out = subprocess.run(["nm", "-g", "--defined-only", archive], check=True, capture_output=True, text=True).stdout
        names = re.findall(r"^[0-9a-f]+ \w (\S+)$", out, re.M)
        self.assertIn("cudaMalloc", names)
        self.assertEqual([name for name in names if not re.match(r"cuda|__cuda|cu[A-Z]", name)], [])

    def test_names_for_a_default_stream_per_thread(self):
        for name, suffix in re.findall(r"PTXASW_PER_THREAD\((\w+), (\w+)\)",
                                       (ROOT / "wrapper/runtime/per_thread.def").read_text()):
            self.assertIn(f"{name}_{suffix}", exported())


if __name__ == "__main__":
    if not LIBRARY.exists():
        skip("no runtime")
    if "--write" in sys.argv:  # prints the rows
        for header in HEADERS:
            print(f"\n{header}:")
            by = {}
            for one in sorted(declared(header)):
                by.setdefault(refused(header).get(one, "done"), []).append(f"`{one}`")
            for reason in sorted(by, key=lambda r: (r != "done", r)):
                print(f"| {reason} | {', '.join(by[reason])} |")
        sys.exit()
    main()
