"""`ptxasw lint` on the programs of reviewed/: what a reviewer would say stands at their lines as `// lint: CODE`, and nothing else
is to be said. Five have faults, ten have none."""

import re
from pathlib import Path

from support import PTXASW, Scratch, main, need_cuda, run

need_cuda()
PROGRAMS = sorted((Path(__file__).resolve().parent / "reviewed").glob("*.cu"))


class Reviewed(Scratch):
    def test_what_a_reviewer_says(self):
        for program in PROGRAMS:
            expected = {(number, code.strip()) for number, line in enumerate(program.read_text().splitlines(), 1)
                        for code in line.partition("// lint:")[2].split(",") if code.strip()}
            self.assertEqual(bool(expected), program.name.startswith("wrong_"), program.name)
            told = run([PTXASW, "lint", program, "-q"])
            self.assertEqual((told.returncode, told.stderr), (0, ""), program.name)
            found = re.findall(rf"^\S*{program.name}:(\d+):\d+: warning\[([a-z-]+)\]", told.stdout, flags=re.M)
            self.assertEqual(sorted((int(line), code) for line, code in found), sorted(expected), program.name)
            self.assertEqual(told.stdout.count(": warning["), len(expected), told.stdout)

    def test_there_are_enough(self):
        wrong = [program for program in PROGRAMS if program.name.startswith("wrong_")]
        self.assertEqual((len(wrong), len(PROGRAMS) - len(wrong)), (5, 10))


if __name__ == "__main__":
    main()
