"""No link of a page is dead, neither in Markdown nor in the site that is made of it."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

from support import PTXASW, Scratch, main

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("kernelgen-bench/*.md"),
                *ROOT.glob("tests/*/README.md")])


def outside_code(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    text = re.sub(r"^    .*$", "", text, flags=re.M)
    return re.sub(r"`[^`\n]*`", "`", text)


def anchors(text):
    """The names of the headings of a page, and those that it gives to other places."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
            for title in re.findall(r"^#+ (.*)", text, flags=re.M)} | set(re.findall(r'<a id="([^"]+)">', text))


class Markdown(unittest.TestCase):
    def test_links_lead_somewhere(self):
        count = 0
        for page in PAGES:
            for link in re.findall(r"\]\(([^)\s]+)\)", outside_code(page.read_text())):
                if re.match(r"[a-z]+:", link):
                    continue
                count += 1
                path, _, anchor = link.partition("#")
                to = (page.parent / path).resolve() if path else page
                with self.subTest(page=str(page.relative_to(ROOT)), link=link):
                    self.assertTrue(to.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(to.read_text()))
        self.assertGreater(count, 50)

    def test_every_page_is_found_from_the_readme(self):
        seen, left = set(), [ROOT / "README.md"]
        while left:
            page = left.pop()
            if page in seen:
                continue
            seen.add(page)
            for link in re.findall(r"\]\(([^)\s#]+)", outside_code(page.read_text())):
                to = (page.parent / link).resolve()
                if to.suffix == ".md" and to.exists():
                    left.append(to)
        lost = [str(page.relative_to(ROOT)) for page in [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/lint-codes/*.md"), *ROOT.glob("docs/internals/*.md")] if page not in seen]
        self.assertEqual(lost, [])


class Links(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src"):
                self.links.append(value)
            if name == "id":
                self.names.add(value)


# Loads each page in a frame as wide as a phone and as a desktop, and lists those whose contents are wider.
WIDTHS = """<ul></ul><script>
function say(text) { const li = document.createElement("li"); li.textContent = text; document.querySelector("ul").append(li) }
async function go(pages) {
  for (const page of pages) {
    const frame = document.createElement("iframe");
    frame.style.cssText = "height: 800px; border: 0";
    frame.src = page;
    document.body.append(frame);
    await new Promise(loaded => frame.onload = loaded);
    for (const width of [390, 1280]) {
      frame.style.width = `${width}px`;
      const wide = frame.contentDocument.documentElement.scrollWidth;
      if (wide > width) say(`${page}: ${wide} in ${width}`);
    }
    frame.remove();
  }
  say(`${pages.length} pages`);
}
go(PAGES);
</script>"""


class Site(Scratch):
    made = None  # the site, made by the first test that asks for it and left as it is by all

    @classmethod
    def tearDownClass(cls):
        if cls.made:
            cls.made.cleanup()

    def site(self):
        python = next((p for p in (sys.executable, "/usr/bin/python3")
                       if subprocess.run([p, "-c", "import markdown"], capture_output=True).returncode == 0), None)
        if not python:
            self.skipTest("no markdown for Python")
        if not Site.made:
            Site.made = tempfile.TemporaryDirectory()
            subprocess.run([python, ROOT / "docs/make_site.py", PTXASW, Path(Site.made.name) / "site"], check=True,
                           stdout=subprocess.DEVNULL)
        return (Path(Site.made.name) / "site").resolve()

    def test_a_search_finds_the_page_for_it(self):
        browser = shutil.which("chromium")
        if not browser:
            self.skipTest("no chromium")
        site = self.site()

        def searched(words):
            return subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.dir}/browser",
                                   "--dump-dom", f"file://{site}/search.html?q={words}"],
                                  check=True, capture_output=True, text=True, timeout=120).stdout

        for words, page in (("bank+conflict", "docs/lint-codes/bank-conflict.html#bank-conflict"), ("ccache", "docs/builds.html#ccache-and-sccache")):
            (found,) = re.findall(r'<ul id="found">(.*?)</ul>', searched(words), flags=re.S)
            self.assertEqual(re.findall('href="([^"]*)"', found)[:1], [page], words)
        self.assertIn(">0 sections<", searched("nothing-has-this"))

    def test_no_page_is_wider_than_a_phone_or_a_desktop(self):
        browser = shutil.which("chromium")
        if not browser:
            self.skipTest("no chromium")
        site = self.site()
        pages = sorted(str(page.relative_to(site)) for page in site.rglob("*.html"))
        self.assertGreater(len(pages), 15)
        widths = self.dir / "widths.html"
        widths.write_text(WIDTHS.replace("PAGES", json.dumps([f"file://{site}/{page}" for page in pages])))
        shown = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.dir}/browser",
                                "--allow-file-access-from-files", "--virtual-time-budget=600000", "--dump-dom",
                                f"file://{widths.resolve()}"], check=True, capture_output=True, text=True, timeout=600).stdout
        self.assertEqual(re.findall("<li>(.*?)</li>", shown), [f"{len(pages)} pages"])

    def test_links_lead_somewhere(self):
        site = self.site()
        parsed = {page: Links(page.read_text()) for page in site.rglob("*.html")}
        self.assertGreater(len(parsed), 15)
        for page, found in parsed.items():
            for link in found.links:
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, anchor = link.partition("#")
                to = (page.parent / path).resolve() if path else page
                with self.subTest(page=str(page.relative_to(site)), link=link):
                    self.assertTrue(to.exists())
                    self.assertTrue(site in to.parents)
                    if anchor:
                        self.assertIn(anchor, parsed[to].names)


if __name__ == "__main__":
    main()
