"""ptxasw from Python: why a GPU kernel is slow, and whether it is right, without a GPU.

    import ptxasw
    for finding in ptxasw.lint(ptx):
        print(finding)
    ptxasw.emulate(ptx, "saxpy", grid=4, block=256, args=[y, x, 2.0, 1000])

`ptx` is always the text of PTX, a path to a file of it (`pathlib.Path`), or what `from_triton`, `from_numba` and `from_cupy`
return. Lines are those of the PTX. What cannot be tried raises `Error`."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Dict, Iterable, List, Mapping, Optional, Union

from . import _results
from ._arguments import Parameter
from ._kernel import Kernel, from_cupy, from_numba, from_triton, numba_array
from ._launch import KernelFault, check, emulate, parameters
from ._program import Error, Ptx, ask, name_of, program, put, repeated, words_of
from ._results import Comparison, Fault, Finding, Proof, Property, Source, Verdict

__all__ = ["Comparison", "Error", "Fault", "Finding", "Kernel", "KernelFault", "Parameter", "Proof", "Property", "Source",
           "Verdict", "check", "emulate", "from_cupy", "from_numba", "from_triton", "lint", "numba_array", "parameters",
           "program", "prove", "verify"]

Words = Union[str, Iterable[str]]


def _launch_words(launch: Optional[Union[str, Mapping[str, object]]]) -> List[str]:
    if launch is None:
        return []
    text = launch if isinstance(launch, str) else ",".join(f"{name}={value}" for name, value in launch.items())
    return ["--launch", text]


def lint(ptx: Ptx, kernel: Optional[str] = None, *, launch: Optional[Union[str, Mapping[str, object]]] = None,
         warn: Words = ()) -> List[Finding]:
    """What makes the kernels slow, as `ptxasw lint` warns of it, in the order of the text.

    `launch` says what is known of launches: `{"block": "32x8", "n": 1024}`, or text as --launch takes it. `warn` is
    "no-bank-conflict", "pedantic" and the like, one or several."""
    name = name_of(ptx, kernel)
    words = ["lint", "--json", *_launch_words(launch), *repeated("-W", words_of(warn)),
             *repeated("--kernel", [name] if name else [])]
    return [_results.finding(found["name"], warning) for found in ask([*words, "-"], ptx)["kernels"]
            for warning in found["warnings"]]


def prove(ptx: Ptx, kernel: Optional[str] = None, *, launch: Optional[Union[str, Mapping[str, object]]] = None,
          assume: Words = (), size: Optional[Mapping[str, int]] = None, only_given: bool = False) -> List[Proof]:
    """What is proved for every launch of each kernel: no races, barriers that all threads come to and, if `size` says how
    many bytes lie behind each pointer parameter, accesses within bounds. `assume` takes the words of --assume, such as "disjoint"
    and "n >= 0". Further ones that would do are looked for, unless `only_given`; each proof names what it rests on."""
    name = name_of(ptx, kernel)
    given: Dict[str, int] = dict(size or {})
    words = ["prove", "--json", *_launch_words(launch), *repeated("--kernel", [name] if name else []),
             *repeated("--assume", words_of(assume)), *(["--only-given"] if only_given else []),
             *repeated("--size", [f"{pointer}={count}" for pointer, count in given.items()])]
    return [_results.proof(data) for data in ask([*words, "-"], ptx)["kernels"]]


def verify(original: Ptx, rewritten: Ptx, kernel: Optional[str] = None, *, runs: Optional[int] = None,
           seed: Optional[int] = None, rtol: Optional[float] = None, atol: Optional[float] = None, ulp: Optional[int] = None,
           reassociate: bool = False, assume: Words = ()) -> Verdict:
    """Runs the kernels of two modules on the CPU, on launches that are drawn, and compares what they compute. The result is
    true if they agree and all that changed was executed. Floating-point results may differ by `rtol`, `atol` or `ulp`."""
    name = name_of(original, kernel)
    numbers = {"--runs": runs, "--seed": seed, "--rtol": rtol, "--atol": atol, "--ulp": ulp}
    words = ["verify", "--json", *repeated("--kernel", [name] if name else []), *repeated("--assume", words_of(assume)),
             *[word for option, value in numbers.items() if value is not None for word in (option, str(value))],
             *(["--reassociate"] if reassociate else [])]
    with TemporaryDirectory() as folder:
        data = ask([*words, put(folder, "original.ptx", original), put(folder, "rewritten.ptx", rewritten)])
    return Verdict(data["verdict"], tuple(_results.comparison(one) for one in data["kernels"]))
