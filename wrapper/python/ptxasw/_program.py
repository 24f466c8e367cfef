"""Where the program `ptxasw` and libptxasw_emulate.so are, and how the program is asked: PTX on its standard input or in a
file, JSON back. Nothing is worked out here that a command does not print."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Union

from ._kernel import Kernel

Ptx = Union[str, bytes, "os.PathLike[str]", Kernel]


class Error(RuntimeError):
    """Something could not be tried: PTX that is not understood, an impossible launch, a word that is unknown."""


@functools.lru_cache(maxsize=None)
def program() -> Path:
    """The program: what the environment's PTXASW names, what was installed with this package, or the one in PATH."""
    named = os.environ.get("PTXASW")
    if named:
        return Path(named)
    try:
        files = importlib.metadata.files("ptxasw") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    places = [Path(str(file.locate())) for file in files if file.name == "ptxasw"]
    places.append(Path(__file__).resolve().parents[1] / "bin/ptxasw")  # after pip install --target
    for path in places:
        if path.parent.name == "bin" and path.is_file():
            return path.resolve()
    found = shutil.which("ptxasw")
    if not found:
        raise Error("there is no program ptxasw: install the wheel, or set PTXASW to its path")
    return Path(found)


def text_of(ptx: Ptx) -> str:
    """PTX as text. A path is read; text is PTX itself, never a file's name."""
    if isinstance(ptx, Kernel):
        return ptx.ptx
    if isinstance(ptx, os.PathLike):
        return Path(ptx).read_text()
    return ptx.rstrip(b"\0").decode() if isinstance(ptx, bytes) else ptx


def name_of(ptx: Ptx, kernel: Optional[str]) -> Optional[str]:
    """The kernel that is asked for: as named, or the one that PTX from a compiler's object is about."""
    return ptx.name if kernel is None and isinstance(ptx, Kernel) else kernel


def run(words: Sequence[Union[str, Path]], ptx: Optional[Ptx] = None) -> Tuple[int, str, str]:
    """The exit code of the program with these words, and what it printed. `ptx` goes to its standard input."""
    done = subprocess.run([str(program()), *map(str, words)], input=None if ptx is None else text_of(ptx),
                          stdin=subprocess.DEVNULL if ptx is None else None, text=True, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def ask(words: Sequence[Union[str, Path]], ptx: Optional[Ptx] = None) -> Any:
    """What the program prints as JSON. Raises Error where it printed none."""
    code, out, complaint = run(words, ptx)
    if not out:
        raise Error(complaint.strip() or f"ptxasw {words[0]} ended with code {code} and said nothing")
    return json.loads(out)


def repeated(option: str, values: Iterable[str]) -> List[str]:
    """An option once for each value."""
    return [word for value in values for word in (option, value)]


def words_of(value: Union[str, Iterable[str]]) -> List[str]:
    """One word or several."""
    return [value] if isinstance(value, str) else list(value)


def put(folder: str, name: str, ptx: Ptx) -> Path:
    """A file for what the program reads only from files."""
    path = Path(folder, name)
    path.write_text(text_of(ptx))
    return path
