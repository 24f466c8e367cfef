"""`./test.sh` with words that ctest does not know: nothing is built, nothing runs."""

from pathlib import Path

from support import Scratch, main, need, run

need("ctest")
ROOT = Path(__file__).resolve().parent.parent.parent


class TestScript(Scratch):
    def test_unknown_words(self):
        for words in (["--bogus"], ["--yes", "--bogus=1", "-R", "x"], ["-R", "x", "--yes"]):
            done = run([ROOT / "test.sh", *words])
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn("ctest has no --", done.stdout)


if __name__ == "__main__":
    main()
