"""The Python package under every Python from 3.9 on that is here."""

import unittest

from pythons import package, pythons
from support import main


class Package(unittest.TestCase):
    def test_each_python(self):
        for minor, path in pythons().items():
            if not path:
                print(f"Python 3.{minor} is not here, and so not tried")
                continue
            with self.subTest(python=path):
                done = package(path)
                self.assertEqual(done.returncode, 0, done.stderr)
                print(f"{path}: {done.stderr.strip().splitlines()[-1]}")


if __name__ == "__main__":
    main()
