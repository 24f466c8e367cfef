"""Every function of cuda_runtime_api.h and of cuda.h is in the page's tables as what it is in the library:
done or refused, with the reason."""

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


class Table(unittest.TestCase):
    def test_the_library_has_what_the_headers_declare(self):
        for header in HEADERS:
            self.assertEqual(declared(header) - exported(), set())

    def test_the_page_says_what_is_refused(self):
        for header in HEADERS:
            self.assertEqual(table(header), {name: refused(header).get(name, "") for name in declared(header)})

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
