"""Half a minute of libFuzzer, with the address and undefined-behaviour sanitizers, on the reading
of command lines. FUZZ_SECONDS in the environment makes it longer."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from support import need, skip

HERE = Path(__file__).resolve().parent
SOURCES = ("command_line", "files", "options_file", "ptxas_options", "settings", "suggest")

compiler = need("clang++")
with tempfile.TemporaryDirectory(prefix="ptxasw-fuzz-") as name:
    program = Path(name) / "fuzz"
    (Path(name) / "probe.cpp").write_text(
        'extern "C" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }')
    if subprocess.run([compiler, "-fsanitize=fuzzer,address,undefined", Path(name) / "probe.cpp",
                       "-o", program], capture_output=True).returncode:
        skip("this clang has no fuzzer or sanitizer libraries")
    shutil.copytree(HERE / "fuzz-seeds", Path(name) / "seeds")
    subprocess.run([compiler, "-std=c++20", "-g", "-O1", "-fsanitize=fuzzer,address,undefined",
                    "-fno-sanitize-recover=all", "-DFMT_HEADER_ONLY", f"-I{HERE.parent.parent}",
                    HERE / "fuzz_command_line.cpp",
                    *(HERE.parent.parent / f"wrapper/{source}.cpp" for source in SOURCES),
                    "-o", program], check=True)
    seconds = os.environ.get("FUZZ_SECONDS", "30")
    sys.exit(subprocess.run([program, f"-max_total_time={seconds}", "-max_len=4096",
                             "-print_final_stats=1", Path(name) / "seeds"], cwd=name).returncode)
