"""`ptxasw siblings` and the drop-in's settings for it: output, table, errors; what ptxas says."""

import json
import os
import re
import shutil
import struct
import subprocess
import unittest
from pathlib import Path

from support import EVERYTHING, JACOBI, PTXASW, Scratch, main, run

try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests/synth/retile"
TILED = ROOT / "tests/synth/retile/tiled.ptx"
COPPER = ROOT / "tests/synth/optimize/copper.ptx"
WINDOW = ROOT / "tests/synth/versions/carry/window.ptx"
BARRIER = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
  bar.arrive 0, 64;
  ret;
}
"""


def tables(text):
    """The tables in a module's text, by kernel."""
    found = {}
    for part in text.split(".global .align 8 .b8 ")[1:]:
        name = part.split("[")[0]
        if name.endswith("__ptxasw_siblings"):
            data = bytes(int(n) for n in part[part.index("{") + 1:part.index("}")].split(","))
            magic, version, length = struct.unpack_from("<8sII", data)
            assert (magic, version, len(data)) == (b"PTXASWS\0", 2, 16 + length)
            found[name.removesuffix("__ptxasw_siblings")] = json.loads(data[16:])
    return found


def entries_of(cubin):
    """The kernels in a cubin: each has a section of its own for its code."""
    return {name.decode() for name in re.findall(rb"\0\.text\.(\w+)(?=\0)", Path(cubin).read_bytes())}


class Siblings(Scratch):
    def test_text(self):
        result = run([PTXASW, "siblings", JACOBI, "--retile=x4,y2"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("  retile x4: grid.x / 4\n", result.stdout)
        self.assertIn("  retile y2: grid.y / 2\n", result.stdout)
        self.assertNotIn("registers", result.stdout)
        result = run([PTXASW, "siblings", JACOBI, "--retile=y4-neighbours-r64", "--maxnreg=40"])
        self.assertIn("  retile y4-neighbours-r64: block.y / 4\n", result.stdout)
        self.assertIn("  registers 40: the same launch\n", result.stdout)

    def test_no_race_is_proved_or_assumed(self):
        done = run([PTXASW, "siblings", JACOBI, "--prove"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\n  if: no race \((proved|assumed)\)\n")
        (kernel,) = json.loads(run([PTXASW, "siblings", JACOBI, "--prove", "--json"]).stdout)["kernels"]
        self.assertEqual(kernel["no_race"]["proved"], "no race (proved)" in done.stdout)
        self.assertNotIn("no race", run([PTXASW, "siblings", JACOBI]).stdout)

    def test_other_blocks(self):
        result = run([PTXASW, "siblings", JACOBI, "-o", "out.ptx", "--retile=z8", "--resize=b64,b1024"])
        self.assertIn("  resize b64: block.x = 64, threads.x % 64 = 0\n", result.stdout)
        found = {one["name"]: one for one in tables(Path("out.ptx").read_text())["jacobi"]["siblings"]}
        self.assertEqual(found["jacobi__ptxasw_resize_b1024"]["extent"], [1024, 0, 0])
        self.assertEqual(found["jacobi__ptxasw_resize_b64"]["append"], ["grid.x", "block.x"])
        verified = run([PTXASW, "verify", JACOBI, "out.ptx", "--runs", "4"])
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        self.assertIn("jacobi__ptxasw_resize_b64", verified.stdout)
        self.assertIn("siblings by resize: b32 b64 b128 b256 b512 b1024\n", run([PTXASW, "explain", JACOBI]).stdout)
        said = json.loads(run([PTXASW, "siblings", JACOBI, "--resize=b64", "--retile=x2", "--json"]).stdout)
        self.assertIn([64, 0, 0], [one.get("extent") for one in said["kernels"][0]["siblings"]])
        self.assertNotIn("resize", run([PTXASW, "siblings", JACOBI]).stdout)

    def test_what_depends_on_the_order_of_blocks(self):
        numbers = str(JACOBI.parents[1] / "synth/versions/retile/numbers.ptx")
        run([PTXASW, "siblings", numbers, "-o", "out.ptx", "--retile=x4"])
        self.assertIs(tables(Path("out.ptx").read_text())["k"]["any_order"], True)
        verified = run([PTXASW, "verify", numbers, "out.ptx", "-v"])
        self.assertEqual(verified.returncode, 0, verified.stdout)
        self.assertIn("not used: what it computes depends on the order of threads", verified.stdout)
        # What fails is wrong in any order.
        text = Path("out.ptx").read_text()
        at = text.index("st.global.u32 [", text.index("__ptxasw_retile_apart_x4("))
        Path("out.ptx").write_text(text[:at] + text[at:].replace("], %c0_r5", "+1099511627776], %c0_r5", 1))
        self.assertEqual(run([PTXASW, "verify", numbers, "out.ptx"]).returncode, 1)

    def test_read_only_loads(self):
        words = ["siblings", JACOBI, "--retile=x2", "--cache=nc,nc-apart"]
        result = run([PTXASW, *words, "-o", "out.ptx"])
        self.assertIn("  cache nc-apart: the same launch\n    as promised: arrays that different parameters", result.stdout)
        self.assertNotIn("cache nc:", result.stdout)
        text = Path("out.ptx").read_text()
        self.assertIn("ld.global.nc.", text)
        made = json.loads(run([PTXASW, *words, "--json"]).stdout)["kernels"][0]["siblings"]
        self.assertEqual({one["variant"]: "promise" in one for one in made},
                         {"x2": False, "nc-apart": True})
        self.assertNotIn("cache", run([PTXASW, "siblings", JACOBI]).stdout)

    def test_shuffles_beside_the_kernel(self):
        words = ["siblings", JACOBI, "--retile=x2", "--shuffle-siblings=all,copies"]
        result = run([PTXASW, *words, "-o", "out.ptx"])
        self.assertIn("  shuffle all: the same launch\n", result.stdout)
        self.assertNotIn("copies", result.stdout)  # there are none to make
        self.assertIn("shfl.sync", Path("out.ptx").read_text())
        verdict = run([PTXASW, "verify", JACOBI, "out.ptx", "--search", "60"]).stdout
        self.assertRegex(verdict, r"__ptxasw_shuffle_all: agree on \d+ launches, \d+ changed instructions, all of them executed")

    def test_loads_ahead(self):
        loops = str(JACOBI.parents[1] / "synth/versions/ahead/sum.ptx")
        result = run([PTXASW, "siblings", loops, "--retile=x2", "--ahead=k2,k8", "-o", "out.ptx"])
        self.assertIn("  ahead k8: the same launch\n  ahead k2: the same launch\n", result.stdout)
        self.assertNotIn("ahead", run([PTXASW, "siblings", loops]).stdout)
        self.assertIn("refused: control-flow", run([PTXASW, "siblings", JACOBI, "--retile=x2", "--ahead=k4"]).stdout)

    def test_staging(self):
        loops = str(JACOBI.parents[1] / "synth/versions/stage/filter.ptx")
        result = run([PTXASW, "siblings", loops, "--retile=x2", "--stage=4k,16k", "-o", "out.ptx"])
        self.assertIn("  stage 4k: the same launch\n  stage 16k: the same launch\n", result.stdout)
        self.assertIn("barrier.red.and.pred", Path("out.ptx").read_text())
        self.assertNotIn("stage", run([PTXASW, "siblings", loops]).stdout)
        self.assertIn("refused: nested-loop", run([PTXASW, "siblings", JACOBI, "--retile=x2", "--stage=4k"]).stdout)
        self.assertRegex(run([PTXASW, "explain", JACOBI]).stdout, "stage")

    def test_what_is_gone_says_so(self):
        gone = "is gone: it did not pay (docs/internals/tried.md)"
        for words in (["siblings", JACOBI, "--halo=b64"], ["siblings", JACOBI, "--halo"],
                      ["rewrite", JACOBI, "-o", "-", "--halo=b64"], ["rewrite", JACOBI, "-o", "-", "--shared=never"],
                      ["explain", JACOBI, "--shared"], ["explain", "--shared", JACOBI]):
            result = run([PTXASW, *words])
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            name = next(word for word in words if str(word).startswith("--")).split("=")[0]
            self.assertIn(f"`{name}` {gone}", result.stderr)
        for value in ("hints", "nc,evict-last", "no-allocate", "l2-128"):
            for words in (["siblings", JACOBI], ["rewrite", JACOBI, "-o", "-"]):
                result = run([PTXASW, *words, f"--cache={value}"])
                self.assertEqual((result.returncode, result.stdout), (2, ""), value)
                self.assertRegex(result.stderr, rf"`?--cache`?: `{value.split(',')[-1]}` " + re.escape(gone))
        for name, value in (("PTXASW_HALO", "b64"), ("PTXASW_SHARED", "auto")):
            result = run([PTXASW, "rewrite", JACOBI, "-o", "-"], env={**os.environ, name: value})
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(f"`{name}` {gone}", result.stderr)
            for command in ("siblings", "explain", "prove", "lint", "report"):
                result = run([PTXASW, command, JACOBI], env={**os.environ, name: value})
                self.assertEqual((result.returncode, result.stdout), (2, ""), command)
                self.assertIn(f"`{name}` {gone}", result.stderr)
        Path("ptxasw.toml").write_text("\nshared = 'always'\n")
        result = run([PTXASW, "rewrite", JACOBI, "-o", "-"])
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn(f"ptxasw.toml:2: `shared` {gone}", result.stderr)

    def test_output(self):
        result = run([PTXASW, "siblings", JACOBI, "-o", "out.ptx", "--retile", "x4"])
        self.assertEqual(result.returncode, 0, result.stderr)
        text, original = Path("out.ptx").read_text(), Path(JACOBI).read_text()
        self.assertTrue(text.startswith(original))
        ((kernel, table),) = tables(text).items()
        self.assertEqual(table["kernel"], kernel)
        (sibling,) = table["siblings"]
        self.assertEqual((sibling["grid"], sibling["append"]), ([4, 1, 1], ["grid.x"]))
        self.assertIn(f".entry {sibling['name']}(", text)
        again = run([PTXASW, "siblings", JACOBI, "-o", "-", "--retile", "x4"])
        self.assertEqual(again.stdout, text)
        self.assertEqual(again.stderr, result.stdout)

    @unittest.skipUnless(jsonschema, "needs python3-jsonschema")
    def test_schema(self):
        schema = json.loads((ROOT / "docs/siblings.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        for path in [JACOBI, *GOLDEN.glob("*.ptx")]:
            run([PTXASW, "siblings", path, "-o", "out.ptx"])
            for table in tables(Path("out.ptx").read_text()).values():
                jsonschema.validate(table, schema, jsonschema.Draft202012Validator)

    def test_json(self):
        self.write("barrier.ptx", BARRIER)
        result = run([PTXASW, "siblings", "barrier.ptx", "--json", "-o", "out.ptx"])
        (kernel,) = json.loads(result.stdout)["kernels"]
        self.assertEqual((kernel["siblings"], kernel["unproved"]), ([], []))
        (refusal,) = kernel["refusals"]
        self.assertEqual((refusal["reason"], refusal["line"]), ("barrier", 6))
        self.assertEqual(Path("out.ptx").read_text(), BARRIER)

    def test_of_a_kernel_with_versions_only_what_helps_is_said(self):
        told = run([PTXASW, "siblings", TILED]).stdout
        self.assertIn("retile x2", told)
        self.assertNotIn("refused", told)
        self.assertIn("refused: shared-memory", run([PTXASW, "siblings", TILED, "-v"]).stdout)
        self.assertIn("refused: shared-memory", run([PTXASW, "siblings", TILED, "--retile=x2,wide-x4"]).stdout)
        self.assertNotIn("refused", run([PTXASW, "siblings", TILED, "--retile=x2"]).stdout)
        found = json.loads(run([PTXASW, "siblings", TILED, "--json"]).stdout)["kernels"]
        self.assertTrue(all(one["siblings"] and one["refusals"] for one in found))
        told = run([PTXASW, "explain", TILED]).stdout
        self.assertRegex(told, r"no siblings by vectorise, .* \(-v says why\)")
        self.assertNotIn("no siblings by vectorise: ", told)
        self.assertIn("no siblings by vectorise: shared-memory", run([PTXASW, "explain", TILED, "-v"]).stdout)

    def test_no_kernel(self):
        self.write("empty.ptx", ".version 8.0\n.target sm_75\n.address_size 64")
        result = run([PTXASW, "siblings", "empty.ptx", "-o", "out.ptx"])
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual(Path("out.ptx").read_bytes(), Path("empty.ptx").read_bytes())

    def test_in_kernel(self):
        words = ["rewrite", JACOBI, "-o", "out.ptx", "--in-kernel=wide,y2", "--report", "report.json"]
        run([PTXASW, *words])
        self.assertEqual(Path("out.ptx").read_bytes(), Path(JACOBI).read_bytes())  # the block is not known
        (kernel,) = json.loads(Path("report.json").read_text())["kernels"]
        self.assertEqual((kernel["in_kernel"]["variant"], kernel["in_kernel"]["block"]), ("", []))
        self.assertTrue(kernel["in_kernel"]["why"][0].startswith("block-unknown"))
        result = run([PTXASW, *words, "--launch=block=64x2", "--verbose"])
        self.assertIn("    in the kernel: y2 for blocks of 64x2x1\n", result.stderr)
        (kernel,) = json.loads(Path("report.json").read_text())["kernels"]
        self.assertEqual((kernel["in_kernel"]["variant"], kernel["in_kernel"]["block"]), ("y2", [64, 2, 1]))
        self.assertEqual(kernel["assumptions"], ["block-shape"])
        self.assertIn("$ptxasw_original:", Path("out.ptx").read_text())
        self.assertEqual(run([PTXASW, "rewrite", JACOBI, "-o", "out.ptx", "--in-kernel=x3"]).returncode, 2)
        # What is sure to pay is nothing here.
        run([PTXASW, "rewrite", JACOBI, "-o", "out.ptx", "--in-kernel=auto", "--launch=block=64x2"])
        self.assertEqual(Path("out.ptx").read_bytes(), Path(JACOBI).read_bytes())
        text = run([PTXASW, "explain", JACOBI, "--launch=block=512"]).stdout
        self.assertRegex(text, r"\n  in the kernel, for blocks of 512x1x1:.* y4-rows ")
        self.assertNotIn("in the kernel", run([PTXASW, "explain", JACOBI]).stdout)

    @unittest.skipUnless(shutil.which("ptxas"), "needs ptxas")
    def test_in_kernel_in_a_build(self):
        os.symlink(PTXASW, "ptxas")
        environment = {**os.environ, "PTXASW_REAL": shutil.which("ptxas")}
        for words, changed in (([], False), (["--ptxasw-in-kernel=y2"], False),
                               (["--ptxasw-in-kernel=y2", "--ptxasw-assume-block=512"], True)):
            done = subprocess.run(["./ptxas", "-v", "-arch=sm_90", *words, "-o", "out.cubin", str(JACOBI)],
                                  capture_output=True, text=True, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("1 kernel with a sibling inside" in done.stderr, changed)

    def test_errors(self):
        for words, code, text in ((["none.ptx"], 2, "cannot read"), ([JACOBI, "--kernel", "none"], 2, "none"),
                                  ([JACOBI, "--retile", "x3"], 2, "x3"), ([JACOBI, "--siblings", "-1"], 2, "siblings"),
                                  ([JACOBI, "-o", "none/out.ptx"], 2, "none/out.ptx")):
            result = run([PTXASW, "siblings", *words])
            self.assertEqual((result.returncode, result.stdout), (code, ""), words)
            self.assertIn(text, result.stderr)

    @unittest.skipUnless(shutil.which("ptxas"), "needs ptxas")
    def test_assembles(self):
        for path in GOLDEN.glob("*.ptx"):
            run([PTXASW, "siblings", path, "-o", "out.ptx", "--retile=x4,y2,z8,y4-rows-r64,y4-neighbours-r64", "--maxnreg=40"])
            least = int(re.search(r"^\.target sm_(\d+)", path.read_text(), re.MULTILINE)[1])
            for arch in (75, 80, 90, 100, 120) if EVERYTHING else (90,):
                if arch < least:
                    continue
                done = run(["ptxas", f"-arch=sm_{arch}", "out.ptx", "-o", "out.cubin"])
                self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(shutil.which("ptxas"), "needs ptxas")
    def test_drop_in(self):
        os.symlink(PTXASW, "ptxas")
        environment = {**os.environ, "PTXASW_REAL": shutil.which("ptxas")}

        def entries(*words):
            done = subprocess.run(["./ptxas", "-arch=sm_90", *words, str(JACOBI), "-o", "out.cubin"],
                                  capture_output=True, text=True, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            return len(entries_of("out.cubin")), b"__ptxasw_siblings" in Path("out.cubin").read_bytes()

        self.assertEqual(entries(), (1, False))
        self.assertEqual(entries("--ptxasw-siblings=2"), (3, True))
        self.assertEqual(entries("--ptxasw-siblings=9", "--ptxasw-retile=y4"), (2, True))
        self.assertEqual(entries("--ptxasw-siblings=9", "--ptxasw-retile=y4", "--ptxasw-maxnreg=32,64"), (4, True))
        self.assertEqual(entries("--ptxasw-siblings=0"), (1, False))
        # Versions that are named are added without a number of them, and no others.
        self.assertEqual(entries("--ptxasw-cache=nc-apart"), (2, True))
        self.assertEqual(entries("--ptxasw-resize=b64,b128"), (3, True))
        done = subprocess.run(["./ptxas", "-arch=sm_90", "--ptxasw-stage=4k,16k",
                               str(JACOBI.parents[1] / "synth/versions/stage/filter.ptx"), "-o", "filter.cubin"],
                              capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(entries_of("filter.cubin")),
                         ["filter", "filter__ptxasw_stage_16k", "filter__ptxasw_stage_4k"])
        self.assertEqual(entries("--ptxasw-maxnreg=32,64", "--ptxasw-cache=nc-apart"), (4, True))
        self.assertEqual(entries("--ptxasw-retile=y4,y2"), (3, True))
        self.assertEqual(entries("--ptxasw-resize=b64", "--ptxasw-siblings=0"), (1, False))
        self.assertEqual(entries("--ptxasw-meld=all"), (1, False)) # it has no branch to meld
        self.assertEqual(entries("--ptxasw-siblings=9", "--ptxasw-retile=y4", "--ptxasw-meld=all,costly"), (2, True))
        done = subprocess.run(["./ptxas", "-arch=sm_90", "--ptxasw-siblings=9", "--ptxasw-retile=z8", "--ptxasw-meld=all,costly",
                               "--ptxasw-promote=all", str(COPPER), "-o", "copper.cubin"],
                              capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        added = [name for name in entries_of("copper.cubin") if "__ptxasw_" in name]
        self.assertEqual(sorted(added), ["addSub0__ptxasw_meld_all", "addSub0__ptxasw_meld_costly",
                                         *(f"{kernel}__ptxasw_promote_all"
                                           for kernel in ("addSub2", "conv1D", "dvmm", "elementWise", "rank"))])
        self.assertEqual(entries("--ptxasw-siblings=9", "--ptxasw-retile=y4", "--ptxasw-cache=nc-apart"), (3, True))
        self.assertEqual(entries("--ptxasw-siblings=9", "--ptxasw-retile=y4", "--ptxasw-shuffle-siblings=all"), (3, True))
        self.assertEqual(entries("--ptxasw-siblings=9", "--ptxasw-retile=y4", "--ptxasw-stage=4k"), (2, True))
        # Kernels are called as everywhere.
        for kernel, count in (("jac*", 2), ("jacobi", 2), ("heat", 1)):
            self.assertEqual(entries("--ptxasw-siblings=9", "--ptxasw-retile=y4", f"--ptxasw-kernel={kernel}")[0], count, kernel)
        done = subprocess.run(["./ptxas", "-arch=sm_90", "--ptxasw-siblings=9", "--ptxasw-retile=z8", "--ptxasw-carry=all",
                               str(WINDOW), "-o", "window.cubin"],
                              capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("k__ptxasw_carry_all", entries_of("window.cubin"))
        done = subprocess.run(["./ptxas", "--ptxasw-retile=w4", str(JACOBI)], capture_output=True, text=True,
                              env=environment)
        self.assertEqual(done.returncode, 255)
        self.assertIn("w4", done.stderr)

    def test_budget(self):
        """What siblings cost a build is bounded, by text and no clock; the first of every kernel comes before the second of any."""
        def added(path, *words):
            done = run([PTXASW, "rewrite", path, "-o", "-", *words])
            self.assertEqual(done.returncode, 0, done.stderr)
            return [name for name in re.findall(r"\.entry (\w+)", done.stdout) if "__ptxasw_" in name]

        hypterm = ROOT / "kernelgen-bench/ptx/hypterm.ptx"
        every = added(hypterm, "--siblings=8", "--siblings-budget=none")
        self.assertEqual(len(every), 8)
        self.assertEqual(added(hypterm, "--siblings=8", "--siblings-budget=0"), every)
        self.assertEqual(added(hypterm, "--siblings=8", "--siblings-budget=1000"), every)
        some = added(hypterm, "--siblings=8")
        self.assertEqual(some[0], every[0])
        self.assertLess(len(some), 8)
        self.assertLessEqual(set(some), set(every))
        # What is named is not bounded, and what is left out is said.
        self.assertEqual(len(added(hypterm, "--retile=x8,x4")), 2)
        stub = Path("stub")
        stub.write_text("#!/bin/sh\nexit 0\n")
        stub.chmod(0o755)
        os.symlink(PTXASW, "ptxas")
        done = subprocess.run(["./ptxas", "-v", "-arch=sm_90", "--ptxasw-siblings=8", str(hypterm), "-o", "out.cubin"],
                              env={**os.environ, "PTXASW_REAL": str(stub.resolve())}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(added(hypterm, "--siblings=8", "--siblings-budget=1"), [])
        left_out = re.search(r"(\d+) siblings? added, with which ptxas takes about [\d.]+ times as long; beyond --ptxasw-siblings-budget: ([\w, ]+)\n", done.stderr)
        self.assertEqual(int(left_out[1]), len(some))
        self.assertEqual(sorted(left_out[2].split(", ")), sorted(set(every) - set(some)))
        many = Path("many.ptx")
        text = JACOBI.read_text()
        head, body = text[:text.index(".visible")], text[text.index(".visible"):]
        many.write_text(head + "\n".join(body.replace("jacobi", f"jacobi{i}") for i in range(4)))
        kernels = [name.split("__")[0] for name in added(many, "--siblings=8")]
        self.assertEqual(sorted(set(kernels)), [f"jacobi{i}" for i in range(4)])
        self.assertLess(len(kernels), 32)

    def profile(self, hash, chosen):
        lines = ["version = 1"]
        for threads, name in enumerate(chosen):
            among = sorted({*chosen} - {"original"})
            lines += ["[[choice]]", 'kernel = "jacobi"', f'hash = "{hash}"', 'gpu = "Some GPU"', "block = [512, 1, 1]",
                      f"threads = {20 + threads}", f"among = {json.dumps(among)}", f'chosen = "{name}"',
                      "original_us = 2.0", "chosen_us = 1.0"]
        Path("profile.toml").write_text("\n".join(lines) + "\n")

    def hash(self):
        run([PTXASW, "siblings", JACOBI, "-o", "out.ptx", "--siblings=1"])
        return tables(Path("out.ptx").read_text())["jacobi"]["hash"]

    def test_only_what_won(self):
        names = [f"jacobi__ptxasw_{one}" for one in ("retile_apart_x4", "registers_40")]
        self.profile(self.hash(), [names[0], "original", names[1]])
        done = run([PTXASW, "siblings", JACOBI, "-o", "out.ptx", "--profile=profile.toml"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = tables(Path("out.ptx").read_text())["jacobi"]["siblings"]
        self.assertEqual([one["name"] for one in found], names)

    def test_a_profile_of_other_code(self):
        self.profile("0123456789abcdef", ["jacobi__ptxasw_retile_apart_x4"])
        done = run([PTXASW, "siblings", JACOBI, "-o", "out.ptx", "--profile=profile.toml"])
        self.assertEqual(done.returncode, 0)
        self.assertIn("profile.toml is of other code of jacobi", done.stderr)
        self.assertEqual(Path("out.ptx").read_text(), JACOBI.read_text())

    @unittest.skipUnless(shutil.which("ptxas"), "needs ptxas")
    def test_a_profile_in_a_build(self):
        os.symlink(PTXASW, "ptxas")
        environment = {**os.environ, "PTXASW_REAL": shutil.which("ptxas")}

        def build(*words):
            return subprocess.run(["./ptxas", "-arch=sm_90", *words, str(JACOBI), "-o", "out.cubin"],
                                  capture_output=True, text=True, env=environment)

        def version():
            return subprocess.run(["./ptxas", "--version"], capture_output=True, text=True,
                                  env={**environment, "PTXASW_PROFILE": "profile.toml"}).stdout

        self.profile(self.hash(), ["jacobi__ptxasw_retile_apart_x2", "original"])
        done = build("--ptxasw-profile=profile.toml")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(entries_of("out.cubin"), {"jacobi", "jacobi__ptxasw_retile_apart_x2"})
        before = version()
        self.profile("0123456789abcdef", ["jacobi__ptxasw_retile_apart_x2"])
        self.assertNotEqual(version(), before) # what caches take as part of their keys
        done = build("--ptxasw-profile=profile.toml")
        self.assertEqual(done.returncode, 0)
        self.assertIn("other code of jacobi", done.stderr)
        self.assertEqual(entries_of("out.cubin"), {"jacobi"})
        for path, text in (("none.toml", None), ("bad.toml", "version = 1\n[[choice]]\n")):
            if text:
                Path(path).write_text(text)
            done = build(f"--ptxasw-profile={path}")
            self.assertEqual(done.returncode, 255)
            self.assertIn(path, done.stderr)


if __name__ == "__main__":
    main()
