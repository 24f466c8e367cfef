"""Table 2: what was found in each kernel, beside what was published."""

from . import text
from .table import GROUPS

HEADER = [
    "kernel",
    "covered/loads",
    "published",
    "no alias",
    "delta",
    "published",
    "analysis",
    "published",
    "remark",
]


def fraction(covered, loads):
    return "-" if loads is None else f"{covered}/{loads}"


def covered(facts):
    """Shuffles and copies of a variant's facts."""
    return facts["shuffles"] + facts["copies"]


def differences(kernel, facts):
    """How the facts of `full` miss what the table asks of a kernel, as words.

    `kernel` is an entry of the report's static part. Its `expect` has to be met exactly; what was
    published is a lower bound of the loads covered and an upper bound of the mean distance.
    """
    exact = bool(kernel.get("expect"))
    wanted = kernel.get("expect") or kernel.get("published") or {}
    found = {"loads": facts["loads"], "covered": covered(facts), "delta": facts["mean_delta"]}
    result = []
    for key, value in found.items():
        if wanted.get(key) is None:
            continue
        worse = value is None or abs(value - wanted[key]) > 0.006
        if worse and value is not None and not exact:
            worse = {"covered": value < wanted[key], "delta": value > wanted[key]}.get(key, True)
        if worse:
            shown = text.number(value) if key == "delta" else value
            result.append(f"{key} {shown}, expected {wanted[key]}")
    return result


def rows(kernels, group):
    """The table's rows for a group. `kernels` is the static part of a manifest or of results."""
    for name, kernel in kernels.items():
        if kernel["group"] != group:
            continue
        full = kernel["variants"].get("full")
        published = kernel.get("published") or {}
        after = "after " if published.get("source") else ""
        theirs = [
            after + fraction(published.get("covered"), published.get("loads")),
            text.number(published.get("delta")),
            text.seconds(published.get("analysis")),
        ]
        if not full:
            yield [
                name,
                "-",
                theirs[0],
                "-",
                "-",
                theirs[1],
                "-",
                theirs[2],
                "variant full was not built",
            ]
            continue
        no_alias = kernel["variants"].get("full-no-alias")
        note = "; ".join(differences(kernel, full))
        remarks = [f"({note})"] if note else []
        if source := published.get("on_source"):
            remarks.append(f"of the published source {fraction(source['covered'], source['loads'])}")
        yield [
            name,
            fraction(covered(full), full["loads"]),
            theirs[0],
            fraction(covered(no_alias), no_alias["loads"]) if no_alias else "-",
            text.number(full["mean_delta"]),
            theirs[1],
            text.seconds(full["analysis_ms"] / 1e3),
            theirs[2],
            "; ".join(remarks),
        ]


def notes(kernels):
    """Why a kernel is expected to differ from what was published, one line each."""
    lines = [
        f"{name}: written after the scheme of the published {kernel['published']['source']}, whose numbers stand beside; "
        "what ptxasw covers of the published source itself, which is not here, is in the remark."
        for name, kernel in kernels.items()
        if (kernel.get("published") or {}).get("source")
    ]
    return lines + [
        f"{name}: {kernel['expect']['why']}."
        for name, kernel in kernels.items()
        if (kernel.get("expect") or {}).get("why")
    ]


def tables(kernels, style):
    """All groups, each under its title, in one of text.aligned and text.markdown."""
    parts = []
    for group, title in GROUPS.items():
        lines = list(rows(kernels, group))
        if lines:
            parts.append(
                ("### " if style is text.markdown else "") + title + "\n\n" + style(HEADER, lines)
            )
    return "\n\n".join(parts)


def gcc_table(kernels, style):
    """What ptxasw finds in the PTX of GCC's OpenACC, or an empty text if none was built."""
    header = ["kernel", "nvcc", "GCC OpenACC", "generic loads in GCC's PTX"]
    lines = []
    for name, kernel in kernels.items():
        gcc, full = kernel.get("gcc"), kernel["variants"].get("full")
        if gcc and full:
            found = gcc.get("error") or fraction(covered(gcc), gcc["loads"])
            ours = fraction(covered(full), full["loads"])
            lines.append([name, ours, found, str(gcc.get("generic_loads", "-"))])
    return style(header, lines) if lines else ""
