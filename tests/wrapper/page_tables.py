"""Where the numbers in the tables of a page come from, and whether they are those.

A comment on the line before a table says it:

    <!-- record: FILE...#NAME -->      the function NAME of docs/tables.py makes its rows of these files
    <!-- command: COMMAND -->          the command prints its rows; `in words, without COLUMN: COMMAND` leaves a column out
    <!-- not measured: REASON -->      there is no measurement in it

Every table with a digit in a cell has one. A number of the page is what the record has, rounded to as many digits as the
page gives it; whatever stands between the numbers must be the same."""

import re
from dataclasses import dataclass, field

MARKER = re.compile(r"<!-- (record|command|not measured): (\S.*?) -->$")
NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?")


@dataclass
class Table:
    line: int
    kind: str = ""
    words: str = ""
    header: list = field(default_factory=list)
    rows: list = field(default_factory=list)


def tables_of(text):
    """The tables of a page with their markers, those in blocks of code left out."""
    lines, found, at, fenced = text.split("\n"), [], 0, False
    while at < len(lines):
        fenced ^= lines[at].startswith("```")
        if fenced or not lines[at].startswith("|"):
            at += 1
            continue
        marker = MARKER.match(lines[at - 1]) if at else None
        table = Table(at + 1, *(marker.groups() if marker else ()))
        end = next((n for n in range(at, len(lines)) if not lines[n].startswith("|")), len(lines))
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])] for line in lines[at:end]]
        table.header, table.rows = rows[0], rows[2:]
        found.append(table)
        at = end
    return found


def has_numbers(table):
    """True if a cell has a digit outside of code and the targets of links."""
    return any(re.search(r"\d", re.sub(r"`[^`]*`|\]\([^)]*\)", "", cell)) for row in table.rows for cell in row)


def agrees(page, record):
    """True if both say the same: the record's numbers, rounded as the page rounds them."""
    page, record = page.replace("**", ""), record.replace("**", "")
    if NUMBER.sub("#", page) != NUMBER.sub("#", record):
        return False
    for told, known in zip(NUMBER.findall(page), NUMBER.findall(record)):
        digits = len(told.partition(".")[2])
        # Half a unit of the last place, and what the record itself was rounded by.
        if abs(float(told.replace(",", "")) - float(known.replace(",", ""))) > 0.501 * 10**-digits:
            return False
    return True


def differences(table, rows, skipped=()):
    """Where a table differs from the rows that its record or command gives; None is text of the page's own."""
    if len(table.rows) != len(rows):
        yield f"line {table.line}: {len(table.rows)} rows, {len(rows)} in the record"
    for n, (told, known) in enumerate(zip(table.rows, rows)):
        if len(told) != len(known):
            yield f"line {table.line + 2 + n}: {len(told)} columns, {len(known)} in the record"
        for column, page, record in zip(table.header, told, known):
            if record is not None and column not in skipped and not agrees(page, record):
                yield f"line {table.line + 2 + n}, {column or told[0]}: {page}; the record has {record}"


def from_record(table, root, makers):
    names, _, maker = table.words.partition("#")
    paths = [root / name for name in names.split()]
    missing = [name for name, path in zip(names.split(), paths) if not path.exists()]
    if missing or maker not in makers:
        return [f"line {table.line}: there is no {missing[0] if missing else maker or 'name behind #'}"]
    try:
        rows = list(makers[maker](*paths))
    except (KeyError, IndexError, ValueError, StopIteration) as error:
        return [f"line {table.line}: {maker} finds no {error} in {names}"]
    return differences(table, rows)


def from_command(table, root, run):
    """`run` takes a command and returns what it prints, or None where it is not to be run."""
    found = re.fullmatch(r"without ([^:]+): (.*)", table.words)
    skipped, command = (found[1].split(", "), found[2]) if found else ((), table.words)
    said = run(command)
    if said is None:
        return []
    printed = [one for one in tables_of(said) if one.header == table.header]
    if not printed:
        return [f"line {table.line}: `{command}` prints no such table"]
    return differences(table, printed[0].rows, skipped)


def problems(page, root, makers, run):
    """What is wrong with the numbers in the tables of a page's text."""
    found = []
    for table in tables_of(page):
        if table.kind == "record":
            found += from_record(table, root, makers)
        elif table.kind == "command":
            found += from_command(table, root, run)
        elif table.kind != "not measured" and has_numbers(table):
            found.append(f"line {table.line}: a table of numbers, and no comment says where they come from")
    return found
