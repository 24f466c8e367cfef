#!/usr/bin/python3
"""make_site.py PTXASW OUTPUT: static HTML of all pages of the project, and of all commands.

The tree of the project stays as it is, so links between pages are the same with `.html` in the place of
`.md`; whatever else a page links to is copied. Nothing is fetched, and nothing is left to scripts. Needs
Python's markdown (Debian: python3-markdown).
"""

import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import markdown

ROOT = Path(__file__).resolve().parent.parent
PATTERNS = ("*.md", "docs/*.md", "docs/internals/*.md", "docs/results/*/*.md", "docs/results/*/*/*.md", "kernelgen-bench/*.md", "kernelgen-bench/*/*.md", "tests/README.md", "tests/*/README.md")
NAVIGATION = (("README.html", "ptxasw"), ("docs/README.html", "tasks"), ("docs/tour.html", "tour"),
              ("commands.html", "commands"), ("docs/glossary.html", "glossary"))
STYLE = """body { max-width: 50em; margin: 1em auto; padding: 0 1em; font: 16px/1.5 sans-serif; color: #222; background: #fff }
nav a { margin-right: 1.2em } pre { overflow-x: auto; background: #f4f4f4; padding: .6em } code { font-size: .92em }
table { border-collapse: collapse; display: block; overflow-x: auto } td, th { border: 1px solid #ccc; padding: .2em .5em;
text-align: left; vertical-align: top }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1c1c1c } pre { background: #2a2a2a } a { color: #8ab4f8 } }"""


def slug(text, separator="-"):
    """The name of a heading in links, as the usual viewers of Markdown make it."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)


def document(title, body, depth):
    up = "../" * depth
    navigation = "".join(f'<a href="{up}{to}">{name}</a>' for to, name in NAVIGATION)
    return (f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">\n<meta name="viewport" '
            f'content="width=device-width, initial-scale=1">\n<title>{html.escape(title)}</title>\n<style>{STYLE}</style>'
            f"</head>\n<body>\n<nav>{navigation}</nav>\n{body}\n</body>\n</html>\n")


def commands_page(ptxasw):
    """Every command with its options, as the program describes itself."""
    described = json.loads(subprocess.run([ptxasw, "describe", "json"], check=True, capture_output=True).stdout)
    lines = ["# Commands of ptxasw " + described["version"], ""]
    for command in described["commands"]:
        if command["name"]:
            lines += [f"## ptxasw {command['name']}", "", command["summary"][:1].upper() + command["summary"][1:] + ".", ""]
        lines += ["| word | meaning |", "|---|---|"]
        for option in command["options"]:
            word = ", ".join(f"`{name}`" for name in option["names"])
            value = f"`{option['value']}`" if option["value"] else ""
            meaning = option["meaning"].replace("\n", " ")
            if option["limits"]:
                meaning += f" ({option['limits']})"
            if option["default"]:
                meaning += f" (default: {option['default']})"
            lines.append("| " + " ".join(filter(None, (word, value))).replace("|", "\\|") + " | " +
                         meaning.replace("|", "\\|") + " |")
        lines += ["", command["footer"].replace("\n", " "), ""]
    return "\n".join(lines)


def convert(text):
    body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"],
                             extension_configs={"toc": {"slugify": slug}})
    return re.sub(r'(href="(?![a-z]+:)[^"#]*)\.md(#[^"]*)?"', r'\1.html\2"', body)


def main():
    ptxasw, output = sys.argv[1], Path(sys.argv[2]).resolve()
    shutil.rmtree(output, ignore_errors=True)
    pages = {page.relative_to(ROOT): page.read_text() for pattern in PATTERNS for page in sorted(ROOT.glob(pattern))}
    pages[Path("commands.md")] = commands_page(ptxasw)
    for path, text in pages.items():
        body = convert(text)
        title = re.search(r"^# (.*)", text, flags=re.M)
        target = output / path.with_suffix(".html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(document(title[1] if title else path.stem, body, len(path.parts) - 1))
        for link in re.findall(r'(?:href|src)="([^"]+)"', body):
            linked = (ROOT / path).parent / link.split("#")[0]
            if re.match(r"[a-z]+:", link) or not linked.exists() or ROOT not in linked.resolve().parents:
                continue
            copy = output / linked.resolve().relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if linked.is_file():
                shutil.copy(linked, copy)
            else:
                copy.mkdir(exist_ok=True)
                names = sorted(p.name + ("/" if p.is_dir() else "") for p in linked.iterdir())
                (copy / "index.html").write_text(document(str(linked.name), "<ul>" + "".join(
                    f"<li>{html.escape(name)}</li>" for name in names) + "</ul>", len(copy.relative_to(output).parts)))
    (output / "index.html").write_text('<!doctype html>\n<meta http-equiv="refresh" content="0; url=README.html">\n'
                                       '<title>ptxasw</title>\n<a href="README.html">ptxasw</a>\n')
    print(f"{len(pages)} pages in {output}")


if __name__ == "__main__":
    main()
