#!/usr/bin/python3
"""make_site.py PTXASW OUTPUT: static HTML of all pages of the project, and of all commands.

The tree of the project stays as it is, so links between pages are the same with `.html` in the place of
`.md`; whatever else a page links to is copied. Nothing is fetched, and nothing is left to scripts except the
search. Needs Python's markdown (Debian: python3-markdown).
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
PATTERNS = ("*.md", "docs/*.md", "docs/lint-codes/*.md", "docs/internals/*.md", "docs/internals/*/*.md", "docs/results/*.md", "docs/results/*/*.md",
            "docs/results/*/*/*.md", "kernelgen-bench/*.md", "kernelgen-bench/*/*.md", "tests/README.md", "tests/*/README.md")
STYLE = """body { margin: 0 auto; max-width: 66em; font: 16px/1.5 sans-serif; color: #222; background: #fff }
main { padding: 0 1em; min-width: 0; max-width: 50em; overflow-wrap: break-word } nav { padding: 1em } nav ul { list-style: none; margin: 0; padding: 0 }
nav p { margin: .8em 0 0 } nav label { cursor: pointer; text-decoration: underline } nav input[type=checkbox] { display: none }
nav .pages { display: none } nav :checked ~ .pages { display: block } nav form { display: inline-block; margin-right: 1em }
pre { overflow-x: auto; background: #f4f4f4; padding: .6em } code { font-size: .92em } img { max-width: 100% }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1em 0 } td, th { border: 1px solid #ccc; padding: .2em .5em;
text-align: left; vertical-align: top }
@media (min-width: 60em) { body { display: grid; grid-template-columns: 15em 1fr } nav label { display: none } nav .pages { display: block } }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1c1c1c } pre { background: #2a2a2a } a { color: #8ab4f8 } }"""
# Sections that have all the words of the query, those that have more of them in their titles first.
SEARCH = """const query = new URLSearchParams(location.search).get('q') || '', words = query.toLowerCase().split(/\\s+/).filter(x => x);
document.querySelectorAll('[name=q]').forEach(input => input.value = query);
const count = (text, word) => text.toLowerCase().split(word).length - 1;
const found = sections.filter(([, title, text]) => words.length && words.every(w => count(title + ' ' + text, w)))
  .map(s => [words.reduce((sum, w) => sum + 20 * count(s[1], w) + count(s[2], w), 0) - (s[0].includes('docs/') && !s[0].includes('/internals/')
    && !s[0].includes('/results/') ? 0 : 30), s]).sort((a, b) => b[0] - a[0]).slice(0, 40);
const list = document.getElementById('found');
for (const [, [to, title, text]] of found) {
  const item = list.appendChild(document.createElement('li')), link = item.appendChild(document.createElement('a'));
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 60);
  link.href = to; link.textContent = title;
  item.append(': ' + text.slice(at, at + 160));
}
document.getElementById('count').textContent = words.length ? found.length + ' sections' : 'Type a word above.';"""


def navigation():
    """The pages of docs/README.md by its groups, each (name, [page])."""
    groups = [("", ["README.html", "docs/README.html"])]
    for task, page in re.findall(r"^\| (.*?) \| ?(.*?) ?\|$", (ROOT / "docs/README.md").read_text().split("\n## ")[0], flags=re.M):
        link = re.match(r"\[.*?\]\((.*?)\.md\)", page)
        if task.startswith("**"):
            groups.append((task.strip("*"), []))
        elif link:
            groups[-1][1].append(f"docs/{link[1]}.html")
    return [*groups, ("", ["commands.html"])]


NAMES = {"README.html": "ptxasw", "docs/README.html": "what do you want to do?", "commands.html": "every option"}


def slug(text, separator="-"):
    """The name of a heading in links, as the usual viewers of Markdown make it."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)


def document(title, body, depth):
    up = "../" * depth
    pages = "".join((f"<p>{name}</p>" if name else "") + "<ul>" + "".join(
        f'<li><a href="{up}{to}">{NAMES.get(to, Path(to).stem.replace("-", " "))}</a></li>' for to in pages) + "</ul>"
        for name, pages in navigation())
    return (f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">\n<meta name="viewport" '
            f'content="width=device-width, initial-scale=1">\n<title>{html.escape(title)}</title>\n<style>{STYLE}</style>'
            f'</head>\n<body>\n<nav><form action="{up}search.html"><input name="q" type="search" placeholder="Search" '
            f'aria-label="Search"></form><input type="checkbox" id="menu"><label for="menu">pages</label>'
            f'<div class="pages">{pages}</div></nav>\n<main>\n{body}\n</main>\n</body>\n</html>\n')


def sections(path, body):
    """[link, title, text] of each section of a page, for the search."""
    parts = re.split(r'<h[12] id="([^"]*)">(.*?)</h[12]>', body)
    plain = [re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", part))).strip() for part in parts]
    page = plain[2] if len(plain) > 2 else ""
    for at in range(1, len(parts), 3):
        title = plain[at + 1] if at == 1 else f"{page}: {plain[at + 1]}"
        yield [f"{path.with_suffix('.html')}#{parts[at]}", title, plain[at + 2]]


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
    found = []
    for path, text in pages.items():
        body = convert(text)
        found += sections(path, body)
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
    index = json.dumps(found).replace("</", "<\\/")
    (output / "search.html").write_text(document("Search", "<h1>Search</h1><p id=\"count\"></p><ul id=\"found\"></ul>\n"
                                                 f"<script>\nconst sections = {index};\n{SEARCH}\n</script>", 0))
    (output / "index.html").write_text('<!doctype html>\n<meta http-equiv="refresh" content="0; url=README.html">\n'
                                       '<title>ptxasw</title>\n<a href="README.html">ptxasw</a>\n')
    print(f"{len(pages)} pages in {output}")


if __name__ == "__main__":
    main()
