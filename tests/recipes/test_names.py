"""What the recipes of CONTRIBUTING.md name is there: files and folders, functions, words of the code, tests."""

import pathlib
import re
import subprocess
import sys

source = pathlib.Path(sys.argv[1])
text = (source / "CONTRIBUTING.md").read_text()
# Blocks of code, and what stands for something of the contributor's own.
text = re.sub(r"^    .*$", "", re.sub(r"```.*?```", "", text, flags=re.S), flags=re.M)
names = set(re.findall(r"`([^`\n]+)`", text))
OWN = re.compile(r"UpperCamel|snake_case|NAME|TOPIC|CODE|\+x|\*|\bTEST\b|FOLDER|FILE\b")
code = "\n".join(path.read_text(errors="replace") for folder in ("grammar", "emulator", "analysis", "synth", "wrapper", "tests", "docs")
                 for path in (source / folder).rglob("*") if path.suffix in (".h", ".cpp", ".def", ".py", ".txt", ".cmake", ".md")
                 and "__pycache__" not in path.parts) + (source / "CMakeLists.txt").read_text()
words_of_code = set(re.findall(r"\w+", code))
listed = subprocess.run(["ctest", "--test-dir", sys.argv[2], "-N"], capture_output=True, text=True).stdout if len(sys.argv) > 2 else ""
missing, tried = [], 0
for name in sorted(names):
    if OWN.search(name):
        continue
    tried += 1
    if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", name) and "/" in name:  # a path
        if not (source / name).exists():
            missing.append(name)
        continue
    words = re.findall(r"[A-Za-z_]\w{2,}", name.removeprefix("-D"))
    known = (source / name).exists() or f": {name}\n" in listed or words_of_code.issuperset(words)
    if not known:
        missing.append(name)
assert tried > 40, tried
assert not missing, f"CONTRIBUTING.md names what is not there: {missing}"
print(f"{tried} names are there")
