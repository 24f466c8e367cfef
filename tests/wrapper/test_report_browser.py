"""The pages of `ptxasw report` in a real browser, headless: links and folded parts by mouse and by keyboard, light
and dark, and at 400 pixels nothing wider than the window; no label of a picture over another one. Screenshots stay
in SCREENSHOTS, if that is set."""

import os
import re
import sys
import unittest
from pathlib import Path

from browser import PROGRAM, Browser
from support import JACOBI, PTXASW, Scratch, main, run
from test_lint import module

ROOT = Path(__file__).resolve().parents[2]
# Many accesses, shared memory and warnings; accesses that are far apart.
CONFLICTS = ROOT / "tests/bound/racuda/reduce.ptx"
ROWS = ROOT / "docs/examples/row_sums.ptx"
# Pairs of texts of one picture that lie over each other, and texts outside of their picture.
OVERLAPS = """[...document.querySelectorAll('svg')].map(svg => {
  const boxes = [...svg.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()]);
  const frame = svg.getBoundingClientRect(), wrong = [];
  boxes.forEach(([name, a], i) => {
    if (a.left < frame.left || a.right > frame.right || a.top < frame.top || a.bottom > frame.bottom) wrong.push([name]);
    boxes.slice(0, i).forEach(([other, b]) => {
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) wrong.push([name, other]); });
  });
  return [boxes.length, wrong];
})"""
FOCUSED = "(() => { const one = document.activeElement; return one.tagName + ' ' + (one.getAttribute('href') || one.textContent).slice(0, 40); })()"
# What can be reached by the keyboard, in the order of the page.
REACHABLE = """[...document.querySelectorAll('a[href], summary, [tabindex="0"]')].filter(one => one.checkVisibility())
  .map(one => one.tagName + ' ' + (one.getAttribute('href') || one.textContent).slice(0, 40))"""


def luminance(color):
    return sum(map(int, re.findall(r"\d+", color)[:3]))


class Pages(Scratch):
    def setUp(self):
        super().setUp()
        self.browser = Browser(self.dir)
        self.addCleanup(self.browser.close)

    def report(self, *inputs, block="256"):
        result = run([PTXASW, "report", *inputs, "-o", self.dir / "pages", "--launch", f"block={block}"], cwd=ROOT)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, f"{self.dir}/pages/index.html\n")
        return self.dir / "pages"

    def open(self, page):
        self.browser.open(page.as_uri())
        self.assertEqual(self.browser.complaints(), [])

    def keep(self, name):
        folder = os.environ.get("SCREENSHOTS")
        path = Path(folder or self.dir) / f"{name}.png"
        self.browser.picture(path)
        self.assertEqual(path.read_bytes()[:4], b"\x89PNG")

    def test_narrow_and_wide_light_and_dark(self):
        self.report(JACOBI, CONFLICTS, ROWS)
        for page in sorted((self.dir / "pages").glob("*.html")):
            for width, scheme in ((400, "light"), (400, "dark"), (1200, "light"), (1200, "dark")):
                with self.subTest(page=page.name, width=width, scheme=scheme):
                    self.browser.size(width, 2000)
                    self.browser.prefer(scheme)
                    self.open(page)
                    # Whatever is folded away counts, too.
                    self.browser.value("document.querySelectorAll('details').forEach(one => one.open = true)")
                    self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), width)
                    paper, ink, faint = self.browser.value(
                        "(() => { const style = getComputedStyle(document.body), faint = document.querySelector('.faint');"
                        "return [style.backgroundColor, style.color, getComputedStyle(faint).color]; })()")
                    # Ink and paper are far apart, the right way round.
                    way = 1 if scheme == "light" else -1
                    self.assertGreater(way * (luminance(paper) - luminance(ink)), 400)
                    self.assertGreater(way * (luminance(paper) - luminance(faint)), 250)
                    self.keep(f"{page.stem}-{width}-{scheme}")

    def test_labels_of_pictures(self):
        self.write("far.ptx", FAR)
        pages = self.report(JACOBI, CONFLICTS, ROWS, self.dir / "far.ptx")
        labels = 0
        self.browser.size(1200, 2000)
        for page in sorted(pages.glob("*.html")):
            self.open(page)
            self.browser.value("document.querySelectorAll('details').forEach(one => one.open = true)")
            for count, wrong in self.browser.value(OVERLAPS):
                self.assertEqual(wrong, [], page.name)
                labels += count
        self.assertGreater(labels, 500)
        # The largest numbers are there.
        self.open(pages / "far.html")
        texts = self.browser.value("[...document.querySelectorAll('svg text')].map(one => one.textContent)")
        self.assertIn(str(30 * (1 << 20) // 32), texts)

    def test_by_mouse(self):
        pages = self.report(ROWS)
        self.open(pages / "index.html")
        self.assertEqual(self.browser.value("[...document.querySelectorAll('a')].map(one => one.textContent)"), ["before", "after"])
        self.browser.events.clear()
        self.browser.click("td a")
        self.browser.wait("Page.loadEventFired")
        self.assertEqual(self.browser.value("[document.title, document.querySelector('h1').textContent]"), ["before"] * 2)
        # What is warned of is open, and the rest opens.
        opened = "[...document.querySelectorAll('details:not(.source details)')].map(one => one.open)"
        self.assertEqual(self.browser.value(opened), [True, False])
        self.assertTrue(self.browser.value("document.querySelector('svg').checkVisibility()"))
        self.browser.click("details:not(.source details):not([open]) summary")
        self.assertEqual(self.browser.value(opened), [True, True])
        self.browser.click("details:not(.source details) summary")
        self.assertEqual(self.browser.value(opened), [False, True])
        self.browser.events.clear()
        self.browser.click("a")
        self.browser.wait("Page.loadEventFired")
        self.assertTrue(self.browser.value("location.href").endswith("/index.html"))

    def test_a_line_opens_to_its_ptx(self):
        self.write("a.cu", "\n" * 6 + "  p[i] = p[i] * 2;\n")
        self.write("a.ptx", module(64))
        self.open(self.report(self.dir / "a.ptx", block="128") / "k.html")
        self.assertIn("p[i] = p[i] * 2;", self.browser.value("document.querySelector('.source').innerText"))
        self.assertNotIn("ld.global", self.browser.value("document.querySelector('.source').innerText"))
        self.browser.click(".source summary")
        self.assertIn("ld.global.f32 %f1, [%rd3];", self.browser.value("document.querySelector('.source').innerText"))

    def test_by_keyboard(self):
        pages = self.report(ROWS)
        for page in ("index.html", "before.html"):
            self.open(pages / page)
            order = self.browser.value(REACHABLE)
            self.assertGreater(len(order), 2)
            reached = []
            for _ in order:
                self.browser.press("Tab")
                reached.append(self.browser.value(FOCUSED))
                # One sees where one is.
                self.assertNotEqual(self.browser.value("getComputedStyle(document.activeElement).outlineStyle"), "none", reached)
            self.assertEqual(reached, order)
        # Summaries open by the space bar, links by Enter.
        self.open(pages / "before.html")
        summary = next(i for i, name in enumerate(order) if name.startswith("SUMMARY"))
        for _ in range(summary + 1):
            self.browser.press("Tab")
        before = self.browser.value("document.activeElement.parentElement.open")
        self.browser.press(" ")
        self.assertEqual(self.browser.value("document.activeElement.parentElement.open"), not before)
        self.open(pages / "index.html")
        while not self.browser.value(FOCUSED).startswith("A "):
            self.browser.press("Tab")
        self.browser.events.clear()
        self.browser.press("Enter")
        self.browser.wait("Page.loadEventFired")
        self.assertTrue(self.browser.value("location.href").endswith("/before.html"))


# Lanes that are a megabyte apart.
FAR = """.version 8.0
.target sm_90
.address_size 64
.visible .entry far(.param .u64 p)
{
  .reg .b32 %r<3>; .reg .b64 %rd<4>; .reg .f32 %f<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  mul.wide.u32 %rd2, %r2, 1048576;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  st.global.f32 [%rd3], %f1;
  ret;
}
"""

if __name__ == "__main__":
    if not PROGRAM:
        print("skipped: no chromium")
        sys.exit(77)
    main()
