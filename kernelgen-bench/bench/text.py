"""Tables as aligned text for a terminal and as Markdown."""


def aligned(header, rows):
    """Columns as wide as their widest cell; the first left, the others right."""
    widths = [max(len(row[n]) for row in [header, *rows]) for n in range(len(header))]

    def line(row):
        cells = [cell.rjust(width) for cell, width in zip(row, widths)]
        return "  ".join([row[0].ljust(widths[0]), *cells[1:]]).rstrip()

    return "\n".join([line(header), line(["-" * width for width in widths]), *map(line, rows)])


def markdown(header, rows):
    """A Markdown table; the first column left, the others right."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def number(value, digits=2):
    """A number, or a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def seconds(value):
    """A time given in seconds with a unit that suits it, or a dash."""
    if value is None:
        return "-"
    return f"{value * 1e3:.2f} ms" if value < 1 else f"{value:.3f} s"
