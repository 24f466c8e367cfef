#!/usr/bin/env python3
"""expand.py FOLDER TO

Writes each trap of FOLDER, FAMILY/NAME.trap, as a module that the tools can read: TO/FAMILY/NAME.ptx. What is
in TO and belongs to no trap is removed, and what would not change is left alone.

A trap is a head, lines that begin with `// `, and a body. If the head begins with `// base: NAME`, the body says
what is different from bases/NAME.ptx, from its beginning to its end:

    //after LINE          the lines that follow come after it
    //before LINE         they come before it
    //instead of LINE     they take its place; there may be none
    //from LINE           with `//to LINE` next: they take the place of these two and all between them

A LINE is written without its indentation. The first such line behind the last change is meant. Keys that the head
does not give are those in the head of the base."""

import pathlib
import re
import sys

CHANGE = re.compile(r"//(after|before|instead of|from|to) (.*)")


class BadTrap(Exception):
    """What is wrong with a trap."""


def head_and_body(text):
    """The lines that begin with `// `, and the others behind them."""
    lines = text.splitlines()
    behind = next((i for i, line in enumerate(lines) if not line.startswith("// ")), len(lines))
    return lines[:behind], lines[behind:]


def key_of(line):
    """`launch` of `// launch: grid=1`."""
    return line[3:].split(":")[0]


def changed(base, changes):
    """The base's lines with the changes made."""
    result = []
    done = 0  # lines of the base that are in the result or left out

    def find(wanted):
        for at in range(done, len(base)):
            if base[at].strip() == wanted:
                return at
        raise BadTrap(f"the base has no such line behind the last change: {wanted}")

    last = None
    for line in changes:
        change = CHANGE.fullmatch(line)
        if (last == "from") != (change is not None and change[1] == "to"):
            raise BadTrap(f"`//from` and `//to` belong together: {line}")
        if change:
            last = change[1]
            at = find(change[2])
            keep = at + (last == "after") if last != "to" else done
            result += base[done:keep]
            done = {"after": keep, "before": keep, "from": keep}.get(last, at + 1)
        elif last:
            result.append(line)
        else:
            raise BadTrap(f"a line that belongs to no change: {line}")
    if last == "from":
        raise BadTrap("`//from` without `//to`")
    return result + base[done:]


def expanded(trap, bases):
    """The text of a module, with its head, for the text of a trap."""
    head, body = head_and_body(trap)
    if not head or key_of(head[0]) != "base":
        return trap
    path = bases / (head[0].partition(": ")[2] + ".ptx")
    if not path.exists():
        raise BadTrap(f"no such base: {path.name}")
    base_head, base_body = head_and_body(path.read_text())
    own = {key_of(line) for line in head}
    head = [line for line in base_head if key_of(line) not in own] + head[1:]
    return "\n".join(head + changed(base_body, body)) + "\n"


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
        target = to / path.parent.name / (path.stem + ".ptx")
        written.add(target)
        try:
            write(target, expanded(path.read_text(), folder / "bases"))
        except BadTrap as error:
            print(f"{path}: {error}", file=sys.stderr)
            wrong += 1
    for path in set(to.glob("*/*.ptx")) - written:
        path.unlink()
    return 1 if wrong or not written else 0


if __name__ == "__main__":
    sys.exit(main())
