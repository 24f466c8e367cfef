"""`ptxasw report`: the page is well formed, needs no network and no script, and shows what it should."""

import html.parser
import re

from support import JACOBI, PTXASW, Scratch, main, run
from test_lint import HEAD, module

VOID = {"meta", "br", "rect", "line"}


class Checker(html.parser.HTMLParser):
    """Elements that are closed in order, and what could load something."""

    def __init__(self):
        super().__init__()
        self.open, self.names, self.wrong = [], [], []

    def handle_starttag(self, name, attributes):
        self.names.append(name)
        self.wrong += [a for a in attributes if a[0] in ("src", "href", "onclick", "onload")]
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.names.append(name)

    def handle_endtag(self, name):
        if not self.open or self.open.pop() != name:
            self.wrong.append(name)


class Report(Scratch):
    def page(self, *words):
        result = run([PTXASW, "report", *words, "-o", "pages"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        text = (self.dir / result.stdout.strip()).read_text()
        checker = Checker()
        checker.feed(text)
        self.assertEqual((checker.open, checker.wrong), ([], []))
        self.assertNotIn("script", checker.names)
        self.assertIsNone(re.search(r"https?://|@import|url\(", text))
        return text, checker.names

    def test_page(self):
        text, names = self.page(str(JACOBI), "--launch", "block=128,base-align=256")
        self.assertGreaterEqual(names.count("svg"), 9)
        self.assertGreaterEqual(names.count("details"), 10)
        for part in ("prefers-color-scheme: dark", "width=device-width", "sector", "reuse: lane",
                     'lang="en"'):
            self.assertIn(part, text)

    def test_escapes_and_shows_source(self):
        self.write("a<b>.cu", "\n" * 6 + "float x = p[i] < 3 && \"<i>\";\n")
        self.write("a.ptx", module(64).replace('"a.cu"', '"a<b>.cu"'))
        text, names = self.page("a.ptx")
        self.assertIn("float x = p[i] &lt; 3 &amp;&amp; &quot;&lt;i&gt;&quot;;", text)
        self.assertNotIn("b", names)
        self.assertIn("excessive sectors", text)

    def test_escapes_names(self):
        self.write("a.ptx", module(64).replace(" k(", " _Z1kIiEvv("))
        text, names = self.page("a.ptx")
        self.assertIn("<h2>k&lt;int&gt;()</h2>", text)
        self.assertNotIn("int", names)

    def test_little(self):
        self.write("empty.ptx", HEAD)
        none = run([PTXASW, "report", "empty.ptx"])
        self.assertEqual((none.returncode, none.stdout), (2, "./empty.html\n"))
        self.assertIn("there is no kernel in `empty.ptx`", none.stderr)
        self.assertIn("<h1>empty.ptx</h1>", (self.dir / "empty.html").read_text())
        for words in (["none.ptx"], ["empty.ptx", "--kernel", "k"], ["empty.ptx", "-o", "/dev/null/x"]):
            self.assertEqual(run([PTXASW, "report", *words]).returncode, 2, words)
        self.assertEqual(run([PTXASW, "report", "empty.ptx", "--launch", "x"]).returncode, 2)

    def test_several(self):
        (self.dir / "in/x").mkdir(parents=True)
        self.write("in/b.ptx", module(4))
        self.write("in/x/b.ptx", module(64))
        self.write("in/x/c.ptx", module(64))
        done = run([PTXASW, "report", "in", "--exclude", "c.ptx", "-o", "pages"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "pages/b.html\npages/b-2.html\npages/index.html\n")
        index = (self.dir / "pages/index.html").read_text()
        rows = re.findall('<a href="(.*?)">(.*?)</a></td><td>(.*?)</td><td>(.*?)</td>', index)
        self.assertEqual(rows, [("b-2.html", "in/x/b.ptx", "1", "1"), ("b.html", "in/b.ptx", "1", "0")])
        self.assertEqual(run([PTXASW, "report", "in/b.ptx", "none.ptx"]).returncode, 2)
        self.assertTrue((self.dir / "b.html").exists())

    def test_a_page_has_an_end(self):
        kernel = module(64).split("\n", 3)[3]
        many = "".join(kernel.split(".file")[0].replace("k(", f"k{i}(") for i in range(1500))
        self.write("many.ptx", HEAD + many + ".file" + kernel.split(".file", 1)[1])
        text, _ = self.page("many.ptx")
        self.assertLess(len(text), 2_000_000)
        self.assertGreater(len(text), 1_000_000)
        self.assertRegex(text, r"<p>\d+ more kernels, warnings and accesses are left out: a page has at most 2 MB")
        self.assertIn("more kernels", text)
        self.assertNotIn("more kernels", self.page("many.ptx", "--kernel", "k1499")[0])


if __name__ == "__main__":
    main()
