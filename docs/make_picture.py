#!/usr/bin/env python3
"""make_picture.py PTXASW: the pictures of the pages, in docs/pictures.

report.svg: what `ptxasw report` draws of the load of docs/examples/row_sums.ptx, before and after.
terminal.svg: a terminal in which the commands below were run. What it shows is what they print; long lines
are cut, and of `explain` only one load is kept.
"""

import html
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS, LINE, WIDTH = 96, 17, 8.05
COMMANDS = (
    ("ptxasw explain jacobi.ptx", lambda out: out.split("\n")[:1] + re.findall(
        r"^  line 87:.*(?:\n    .*)*", out, flags=re.M)[0].split("\n")),
    ("ptxasw independent jacobi.ptx", lambda out: out.split("\n")[:3] + out.strip().split("\n")[-1:]),
    ("ptxasw rewrite jacobi.ptx -o new.ptx --shuffle=always", lambda out: []),
    ("diff jacobi.ptx new.ptx | grep shfl | head -2", lambda out: out.expandtabs(2).strip().split("\n")),
    ("ptxasw verify jacobi.ptx new.ptx --runs 3 --search 20", lambda out: out.strip().split("\n")),
)
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>ptxasw in a terminal: one kernel explained, rewritten and verified</title>
<style>
rect {{ fill: #fff; stroke: #d0d7de; }} text {{ font: 13px ui-monospace, monospace; fill: #1b1f24; white-space: pre; }}
.command {{ fill: #0969da; font-weight: bold; }}
@media (prefers-color-scheme: dark) {{ rect {{ fill: #0d1117; stroke: #30363d; }} text {{ fill: #e6edf3; }}
.command {{ fill: #58a6ff; }} }}
</style>
<rect x="0.5" y="0.5" width="{inner}" height="{low}" rx="6"/>
"""

REPORT = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 {height}" role="img">
<title>What a warp's load touches, before and after, as ptxasw report draws it</title>
<style>
svg {{ --ink: #1b1f24; --faint: #8c959f; --lane: #0969da; --bad: #cf222e; --back: #fff; }}
@media (prefers-color-scheme: dark) {{ svg {{ --ink: #e6edf3; --faint: #6e7681; --lane: #58a6ff; --bad: #ff7b72;
--back: #0d1117; }} }}
text {{ font: 9px sans-serif; text-anchor: middle; fill: var(--ink); }} .said {{ font-size: 12px; text-anchor: start; }}
.code {{ font-family: ui-monospace, monospace; }} .bad {{ fill: var(--bad); font-weight: bold; }}
rect {{ fill: none; stroke: var(--faint); }} .lane rect {{ stroke: var(--lane); }}
.wire {{ stroke: var(--lane); stroke-opacity: .45; }} .back {{ fill: var(--back); }}
</style>
<rect class="back" x="0.5" y="0.5" width="659" height="{low}" rx="6"/>
"""


def draw_report(ptxasw):
    """The load of each kernel of row_sums: its statement, its cost and its picture, from its page."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ptxasw, "report", "--launch", "block=256", ROOT / "docs/examples/row_sums.ptx", "-o", folder],
                       check=True, stdout=subprocess.DEVNULL)
        page = "".join(Path(folder, f"{kernel}.html").read_text() for kernel in ("before", "after"))
    statements = re.findall(r"sum \+= (.*);", (ROOT / "docs/examples/row_sums.cu").read_text())
    costs = re.findall(r"global load, 4 bytes</td><td>sectors <span( class=\"bad\")?>(.*?)</span>", page)
    pictures = re.findall(r"global load, 4 bytes</summary>.*?<svg[^>]*>(.*?)</svg>", page, flags=re.S)
    assert len(statements) == len(costs) == len(pictures) == 2
    out, height = "", 10
    for statement, (bad, cost), picture in zip(statements, costs, pictures):
        touched, enough = cost.split(" of ")
        out += (f'<text class="said" x="10" y="{height + 14}"><tspan class="code">{html.escape(statement)}</tspan>: '
                f'a warp loads <tspan{bad}>{touched}</tspan> sectors of 32 bytes; {enough} would do</text>\n'
                f'<g transform="translate(10 {height + 24})">{picture}</g>\n')
        height += 24 + 120
    (ROOT / "docs/pictures/report.svg").write_text(
        REPORT.format(height=height, low=height - 1) + out + "</svg>\n")


def main():
    ptxasw = Path(sys.argv[1]).resolve()
    draw_report(ptxasw)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "jacobi.ptx").write_bytes((ROOT / "tests/data/jacobi.ptx").read_bytes())
        for command, choose in COMMANDS:
            done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=True,
                                  env={**os.environ, "PATH": f"{ptxasw.parent}:{os.environ['PATH']}"})
            lines.append(("command", "$ " + command))
            lines += [("", line) for line in choose(done.stdout)]
    width, height = int(COLUMNS * WIDTH) + 20, len(lines) * LINE + 20
    out = HEAD.format(width=width, height=height, inner=width - 1, low=height - 1)
    for row, (kind, line) in enumerate(lines):
        text = line if len(line) <= COLUMNS else line[:COLUMNS - 3] + "..."
        out += f'<text x="10" y="{22 + row * LINE}" class="{kind}" xml:space="preserve">{html.escape(text)}</text>\n'
    target = ROOT / "docs/pictures/terminal.svg"
    target.parent.mkdir(exist_ok=True)
    target.write_text(out + "</svg>\n")


if __name__ == "__main__":
    main()
