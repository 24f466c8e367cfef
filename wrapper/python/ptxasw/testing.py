"""Assertions for pytest or any other runner of tests."""

from __future__ import annotations

import os
from typing import Any, Iterable, Optional, Union

from ._launch import Extents, check
from ._program import Ptx, name_of, repeated, run, words_of
from . import lint, prove

__all__ = ["assert_no_new_findings", "assert_race_free"]


def assert_no_new_findings(ptx: Ptx, baseline: Optional[Union[str, "os.PathLike[str]"]] = None, kernel: Optional[str] = None,
                           *, warn: Union[str, Iterable[str]] = ()) -> None:
    """Fails if `ptxasw lint` finds what is not in the baseline; without a baseline, if it finds anything.

    A baseline is a file of `ptxasw lint --baseline`, which also holds spills and stack and so needs NVIDIA's ptxas. With
    UPDATE_LINT_BASELINE=1 in the environment it is written instead; commit it."""
    if baseline is None:
        found = lint(ptx, kernel, warn=warn)
        assert not found, "\n" + "\n".join(map(str, found))
        return
    name = name_of(ptx, kernel)
    words = ["lint", "--baseline", os.fspath(baseline), *repeated("-W", words_of(warn)),
             *repeated("--kernel", [name] if name else [])]
    if os.environ.get("UPDATE_LINT_BASELINE", "0") != "0":
        words.append("--update-baseline")
    code, out, complaint = run([*words, "-"], ptx)
    assert code == 0, "\n" + out + complaint


def assert_race_free(ptx: Ptx, kernel: Optional[str] = None, grid: Extents = 1, block: Optional[Extents] = None,
                     args: Optional[Iterable[Any]] = None, *, assume: Union[str, Iterable[str]] = (),
                     shared: Optional[int] = None) -> None:
    """Without `args`: fails unless `ptxasw prove` shows that no launch races, under what is in `assume` alone. With `args`: fails
    if this launch races, or an access in it is out of bounds; other launches may still."""
    if args is not None:
        found = check(ptx, kernel, grid, block, list(args), shared=shared)
        assert not found, "\n" + "\n".join(map(str, found))
        return
    proofs = prove(ptx, kernel, assume=assume, only_given=True)
    assert proofs, "there is no such kernel"
    bad = [f"{proof.kernel}: {proof.race_free.verdict}: {proof.race_free.reason}"
           for proof in proofs if proof.race_free.verdict != "proved"]
    assert not bad, "\n" + "\n".join(bad)
