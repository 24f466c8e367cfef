#!/usr/bin/env python3
"""expand.py FOLDER TO

Writes each trap of FOLDER as a module that the tools can read: TO/FAMILY/NAME.ptx. What is in TO and belongs to no
trap is removed, and what would not change is left alone.

A file, FAMILY/ANY.trap, has a head, lines that begin with `// `, and a body. If the head begins with `// base: NAME`,
the body says what is different from bases/NAME.ptx, from its beginning to its end:

    //after LINE              the lines that follow come after it
    //before LINE             they come before it
    //instead of LINE         they take its place; there may be none
    //from LINE //to LINE     they take the place of these two and all between them

A LINE is written without its indentation. The first such line behind the last change is meant. Keys that the head
does not give are those in the head of the base.

Behind that come the traps, each with a title,

    === NAME: what is treacherous (twin: why the twin is harmless)

and with a head and a body of its own, which say what is different from what stands before the first title in the
same way. Lines before the first change of a trap continue the last change made there. A file without a title is one
trap, and has its name."""

import pathlib
import re
import sys
from typing import NamedTuple, Optional

CHANGE = re.compile(r"//(after|before|instead of|from) (.*?)(?: //to (.*))?")
TITLE = re.compile(r"=== ([\w-]+): (.*?)(?: \(twin: (.*)\))?")


class BadTrap(Exception):
    """What is wrong with a trap."""


class Module(NamedTuple):
    head: list
    body: list
    place: Optional[int] = None  # the line of the body before which the last change ended


def key_of(line):
    """`launch` of `// launch: grid=1`."""
    return line[3:].split(":")[0]


def changed(body, changes, place=None):
    """The lines of a body with the changes made, and the place where the last one ended."""
    result = []
    done = 0  # lines of the body that are in the result or left out

    def find(wanted):
        for at in range(done, len(body)):
            if body[at].strip() == wanted:
                return at
        raise BadTrap(f"the base has no such line behind the last change: {wanted}")

    for number, line in enumerate(changes):
        change = CHANGE.fullmatch(line)
        if change:
            how, first, last = change.groups()
            if (how == "from") != (last is not None):
                raise BadTrap(f"`//from` and `//to` belong together: {line}")
            at = find(first)
            keep = at + (how == "after")
            result += body[done:keep]
            done = at  # a `//to` may name the same line
            done = find(last) + 1 if last is not None else keep + (how == "instead of")
        elif number == 0:
            if place is None:
                raise BadTrap(f"a line that belongs to no change: {line}")
            result, done = body[:place] + [line], place
        else:
            result.append(line)
    return result + body[done:], len(result) if changes else place


def derived(under, lines):
    """The module that lines, a head and changes, make of another."""
    behind = next((i for i, line in enumerate(lines) if not line.startswith("// ")), len(lines))
    head = lines[:behind]
    own = {key_of(line) for line in head}
    return Module([line for line in under.head if key_of(line) not in own] + head,
                  *changed(under.body, lines[behind:], under.place))


def module(lines, bases):
    """The module that lines make of the base that they name; without one, of nothing."""
    nothing = Module([], [], 0)
    if not lines or not lines[0].startswith("// base: "):
        return derived(nothing, lines)
    path = bases / (lines[0].partition(": ")[2] + ".ptx")
    if not path.exists():
        raise BadTrap(f"no such base: {path.name}")
    return derived(derived(nothing, path.read_text().splitlines())._replace(place=None), lines[1:])


def traps(stem, text, bases):
    """Names and modules of the traps in a file of this name."""
    lines = text.splitlines()
    titles = [i for i, line in enumerate(lines) if line.startswith("===")]
    common = module(lines[:titles[0]] if titles else lines, bases)
    if not titles:
        yield stem, common
    for at, end in zip(titles, titles[1:] + [len(lines)]):
        title = TITLE.fullmatch(lines[at])
        if not title:
            raise BadTrap(f"no title: {lines[at]}")
        name, hazard, twin = title.groups()
        sentences = [f"// hazard: {hazard}"] + ([f"// twin: {twin}"] if twin else [])
        try:
            yield name, derived(common, sentences + lines[at + 1:end])
        except BadTrap as error:
            raise BadTrap(f"{name}: {error}") from None


def write(path, text):
    """Writes a file if it is not yet so."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, to = map(pathlib.Path, sys.argv[1:])
    written, wrong = set(), 0
    for path in sorted(folder.glob("*/*.trap")):
        try:
            for name, trap in traps(path.stem, path.read_text(), folder / "bases"):
                target = to / path.parent.name / (name + ".ptx")
                if target in written:
                    raise BadTrap(f"a second trap of this name: {name}")
                written.add(target)
                write(target, "\n".join(trap.head + trap.body) + "\n")
        except BadTrap as error:
            print(f"{path}: {error}", file=sys.stderr)
            wrong += 1
    for path in set(to.glob("*/*.ptx")) - written:
        path.unlink()
    return 1 if wrong or not written else 0


if __name__ == "__main__":
    sys.exit(main())
