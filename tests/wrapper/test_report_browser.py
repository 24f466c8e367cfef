"""The page of `ptxasw report` in a real browser, headless: no script errors, light and dark, and at 400
pixels nothing wider than the window. Screenshots stay in SCREENSHOTS, if that is set."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from support import JACOBI, PTXASW, Scratch, main, run

BROWSER = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
# What the page measures of itself, for the DOM that the browser prints.
MEASURE = """<script>addEventListener('load', () => {
const root = document.documentElement, style = getComputedStyle(document.body);
parent.postMessage(['seen', innerWidth, root.scrollWidth, style.backgroundColor, style.color,
  document.querySelectorAll('svg').length].join(';'), '*'); });</script>"""
# A window of this browser is at least 500 pixels wide, a frame is as wide as it is told.
FRAME = """<!DOCTYPE html><body style="margin: 0"><script>addEventListener('message', event => {
document.body.append(event.data); });</script><iframe src="PAGE" width="WIDTH" height="2000" style="border: 0"></iframe>"""
# Many accesses, shared memory and warnings.
CONFLICTS = JACOBI.parent.parent / "bound" / "racuda" / "reduce.ptx"


def luminance(color):
    return sum(map(int, re.findall(r"\d+", color)[:3]))


class Page(Scratch):
    def browse(self, ptx, width, scheme):
        result = run([PTXASW, "report", str(ptx), "-o", str(self.dir), "--launch", "block=256"])
        self.assertEqual(result.returncode, 0, result.stderr)
        page = pathlib.Path(result.stdout.strip())
        text = page.read_text()
        # Whatever is folded away counts, too.
        page.write_text(text.replace("<details", "<details open").replace("</body>", MEASURE + "</body>"))
        self.assertIn(MEASURE, page.read_text())
        frame = self.dir / "frame.html"
        frame.write_text(FRAME.replace("PAGE", page.name).replace("WIDTH", str(width)))
        shots = pathlib.Path(os.environ.get("SCREENSHOTS") or self.dir)
        shot = shots / f"{page.stem}-{width}-{scheme}.png"
        options = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
                   f"--user-data-dir={self.dir}/profile", f"--window-size={width},2000", "--enable-logging=stderr",
                   f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}"]
        seen = subprocess.run([*options, "--dump-dom", frame.as_uri()], capture_output=True, text=True, timeout=120)
        self.assertNotIn("CONSOLE", seen.stderr)  # errors of scripts, and whatever it could not load
        subprocess.run([*options, f"--screenshot={shot}", frame.as_uri()], capture_output=True, timeout=120)
        self.assertEqual(shot.read_bytes()[:4], b"\x89PNG")
        told = re.search(r"seen;(\d+);(\d+);([^;]*);([^;]*);(\d+)", seen.stdout)
        self.assertTrue(told, seen.stderr[-500:])
        inner, wide, paper, ink, pictures = told.groups()
        self.assertEqual(int(inner), width)
        return int(wide), luminance(paper), luminance(ink), int(pictures)

    def test_narrow_and_wide_light_and_dark(self):
        for ptx, width, scheme in ((JACOBI, 400, "light"), (CONFLICTS, 400, "dark"), (CONFLICTS, 1200, "light")):
            with self.subTest(page=ptx.name, width=width, scheme=scheme):
                wide, paper, ink, pictures = self.browse(ptx, width, scheme)
                self.assertLessEqual(wide, width)
                self.assertGreater(pictures, 0)
                # Ink and paper are far apart, the right way round.
                self.assertGreater(paper - ink if scheme == "light" else ink - paper, 400)


if __name__ == "__main__":
    if not BROWSER:
        print("skipped: no chromium")
        sys.exit(77)
    main()
