"""`ptxasw report`: pages are well formed, need no network and no script, and show what they should."""

import html.parser
import json
import re

from support import JACOBI, PTXASW, Scratch, main, run
from test_lint import HEAD, module

VOID = {"meta", "br", "rect", "line"}


def is_page(link):
    return re.fullmatch(r"[\w-]+\.html", link)


class Checker(html.parser.HTMLParser):
    """Elements that are closed in order, and what could load something."""

    def __init__(self):
        super().__init__()
        self.open, self.names, self.wrong = [], [], []

    def handle_starttag(self, name, attributes):
        self.names.append(name)
        self.wrong += [a for a in attributes if a[0] in ("src", "onclick", "onload") or a[0] == "href" and not is_page(a[1])]
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.names.append(name)

    def handle_endtag(self, name):
        if not self.open or self.open.pop() != name:
            self.wrong.append(name)


class Report(Scratch):
    def page(self, *words):
        """Of the one kernel that there is."""
        result = run([PTXASW, "report", *words, "-o", "pages"])
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "pages/index.html\n", ""))
        index, _ = self.checked("index.html")
        (page,) = re.findall('<td><a href="(.*?)">', index)
        return self.checked(page)

    def checked(self, page):
        text = (self.dir / "pages" / page).read_text()
        self.assertLessEqual(len(text), 2_000_000)
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
        self.assertIn("<h1>k&lt;int&gt;()</h1>", text)
        self.assertNotIn("int", names)

    def test_parameters_are_called_as_people_do(self):
        self.write("a.ptx", HEAD + """.visible .entry _Z1kPfi(.param .u64 _Z1kPfi_param_0, .param .u32 _Z1kPfi_param_1) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<2>;
  ld.param.u64 %rd1, [_Z1kPfi_param_0];
  ld.param.u32 %r2, [_Z1kPfi_param_1];
  mov.u32 %r1, %tid.x;
  mul.lo.u32 %r3, %r1, %r2;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  ret;
}
""")
        text, _ = self.page("a.ptx")
        self.assertIn("lanes are 4 * param 1 (int) bytes apart", text)
        self.assertIn("<td>4 * param 1 (int)</td>", text)
        self.assertRegex(text, r"address <code>.*param 0 \(float\*\)")
        self.assertNotIn("_param_", text)

    def test_copies_of_an_access_are_one_row(self):
        """A loop that was unrolled: one place, several addresses."""
        self.write("a.ptx", module(64).replace("ld.global.f32 %f1, [%rd3];", "ld.global.f32 %f1, [%rd3];\n" * 3 + "ld.global.f32 %f1, [%rd3+8];"))
        text, names = self.page("a.ptx")
        rows = [row for row in re.findall("<tr><td><code>.*?</tr>", text) if "global load" in row]
        self.assertEqual(len(rows), 1, rows)
        self.assertIn("<td>global load, 4 bytes (4 times)</td>", rows[0])
        self.assertEqual(text.count("global load, 4 bytes</summary>"), 4)

    def test_little(self):
        self.write("empty.ptx", HEAD)
        none = run([PTXASW, "report", "empty.ptx"])
        self.assertEqual((none.returncode, none.stdout), (2, "./index.html\n"))
        self.assertIn("there is no kernel in `empty.ptx`", none.stderr)
        self.assertNotIn("<td>", (self.dir / "index.html").read_text())
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
        self.assertEqual(done.stdout, "pages/index.html\n")
        index, _ = self.checked("index.html")
        rows = re.findall('<a href="(.*?)">(.*?)</a></td><td class="number">(.*?)</td><td class="number">(.*?)</td>'
                          '<td>(.*?)</td><td>(.*?)</td>', index)
        self.assertEqual(rows, [("k-2.html", "k", "1", "56", "uncoalesced", "in/x/b.ptx"), ("k.html", "k", "0", "0", "", "in/b.ptx")])
        told = json.loads(run([PTXASW, "report", "in", "--exclude", "c.ptx", "-o", "pages", "--json"]).stdout)
        self.assertEqual((told["index"], told["pages"][1]), ("index.html", {"file": "in/x/b.ptx", "kernel": "k", "page": "k-2.html", "warnings": 1}))
        self.assertEqual(run([PTXASW, "report", "in/b.ptx", "none.ptx"]).returncode, 2)
        self.assertTrue((self.dir / "k.html").exists())

    def test_names_of_pages(self):
        # Of kernels that a file system might take for one, and of those with other letters.
        self.write("a.ptx", module(4, "k", "K", "index", "_ZN1aIiE3fooEv"))
        self.page("a.ptx", "--kernel", "k")
        run([PTXASW, "report", "a.ptx", "-o", "pages"])
        self.assertEqual(re.findall('<a href="(.*?)">', (self.dir / "pages/index.html").read_text()),
                         ["k.html", "K-2.html", "index-2.html", "foo.html"])

    def test_lines_of_the_source(self):
        self.write("a.cu", "".join(f"// line {i}\n" for i in range(1, 7)) + "  p[i] = p[i] * 2;\n// line 8\n")
        self.write("b.cu", "// nothing\n" * 20)
        self.write("a.ptx", module(64))
        text, _ = self.page("a.ptx")
        rows = re.findall(r'<tr><td class="number">(.*?)</td><td>(.*?)</td><td class="number faint">(\d+)</td>', text)
        self.assertEqual([row for row in rows if row[0]], [("100 %", '<span class="bad">32 of 4 sectors</span> (2 times)', "7")])
        self.assertIn("<summary><code>  p[i] = p[i] * 2;</code></summary><pre>ld.global.f32 %f1, [%rd3];\n", text)
        self.assertIn("// line 6", text)  # one line around
        self.assertNotIn("// line 5", text)

    def test_a_page_has_an_end(self):
        body = "".join(f"  ld.global.f32 %f1, [%rd3+{4 * i}];\n" for i in range(3000))
        self.write("many.ptx", module(64).replace("  st.global", body + "  st.global"))
        text, _ = self.page("many.ptx")
        self.assertGreater(len(text), 1_000_000)
        self.assertRegex(text, r"<p>\d+ more warnings, lines and accesses are left out: a page has at most 2 MB")


if __name__ == "__main__":
    main()
