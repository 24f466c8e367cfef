"""What ptxasw finds, as dataclasses: each is one object of what the command of that name prints with --json."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple


@dataclass(frozen=True)
class Source:
    """A place in the source, by the .loc lines of the PTX."""

    file: str
    line: int
    column: Optional[int]


@dataclass(frozen=True)
class Finding:
    """A warning of `ptxasw lint`. `ptxasw lint --explain CODE` says what a code means."""

    code: str
    kernel: str
    line: int
    """In the PTX."""
    message: str
    note: str
    source: Optional[Source]

    def __str__(self) -> str:
        place = f"{self.source.file}:{self.source.line}" if self.source else f"{self.kernel}, line {self.line} of the PTX"
        return f"{place}: {self.message} [{self.code}]"


@dataclass(frozen=True)
class Fault:
    """What `ptxasw emulate` found in a run: an access out of bounds, a race, a barrier that not all threads come to."""

    kind: str
    message: str
    kernel: str
    line: int
    """In the PTX; 0: none."""
    block: Tuple[int, int, int]
    thread: Tuple[int, int, int]
    address: int
    count: int
    """By how many accesses at these lines."""
    others: Tuple[Fault, ...]
    """The other access of a race."""

    def __str__(self) -> str:
        against = f"; against line {self.others[0].line}" if self.others else ""
        return (f"{self.kernel}, line {self.line} of the PTX, block {self.block}, thread {self.thread}: {self.kind}: "
                f"{self.message}{against}")


@dataclass(frozen=True)
class Property:
    """What is known of a property for every launch."""

    verdict: str
    """"proved", "refuted", "unknown" or "not asked"."""
    line: Optional[int]
    """Of the access or branch that is in the way, in the PTX."""
    other_line: Optional[int]
    reason: Optional[str]


@dataclass(frozen=True)
class Proof:
    """What `ptxasw prove` says of a kernel."""

    kernel: str
    race_free: Property
    barriers: Property
    """All threads of a block come to the same barriers."""
    in_bounds: Property
    assumptions: Tuple[str, ...]
    """What the proofs rest on."""
    would_do: Tuple[str, ...]
    """What would make everything provable if it were assumed, too."""


@dataclass(frozen=True)
class Comparison:
    """What `ptxasw verify` says of a kernel."""

    kernel: str
    verdict: str
    """"agree", "differ", "not-comparable" or "not-exercised"."""
    launches: int
    worst: Optional[str]
    """The worst difference within the tolerance."""
    counter_example: Optional[str]
    launch: Optional[str]
    """A launch on which the two differ, as a launch file for `ptxasw emulate`."""


@dataclass(frozen=True)
class Verdict:
    """What `ptxasw verify` says of two modules. True if they agree and all that changed was executed."""

    verdict: str
    kernels: Tuple[Comparison, ...]

    def __bool__(self) -> bool:
        return self.verdict == "agree"


def finding(kernel: str, data: Dict[str, Any]) -> Finding:
    at = data["source"]
    return Finding(data["code"], kernel, data["line"], data["message"], data["note"],
                   Source(at["file"], at["line"], at["column"]) if at else None)


def fault(data: Dict[str, Any]) -> Fault:
    x, y, z = data["block"]
    i, j, k = data["thread"]
    return Fault(data["kind"], data["message"], data["kernel"], data["line"], (x, y, z), (i, j, k), data["address"],
                 data.get("count", 1), tuple(fault(other) for other in data["others"]))


def proof(data: Dict[str, Any]) -> Proof:
    def known(name: str) -> Property:
        return Property(*(data[name][key] for key in ("verdict", "line", "other_line", "reason")))

    return Proof(data["name"], known("race_free"), known("barriers"), known("in_bounds"), tuple(data["assumptions"]),
                 tuple(data["would_do"]))


def comparison(data: Dict[str, Any]) -> Comparison:
    return Comparison(*(data[key] for key in ("name", "verdict", "launches", "worst", "counter_example", "launch")))
