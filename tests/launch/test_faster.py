"""`ptxasw faster` with unprepared programs under a fake driver: from the PTX in what they load to versions
that are launched, and everything that may go wrong on the way.

test_faster.py PTXASW HOST FAKE KILLING STRIDE: ptxasw, the program, the driver, what kills (killing.cpp), and at which steps:
one in so many. The assembler is a script that copies, as the fake driver loads PTX; the versions, and their proofs, are real."""

import fcntl
import itertools
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PTXASW, HOST, FAKE, KILLING = [Path(word).resolve() for word in sys.argv[1:5]]
STRIDE = int(sys.argv[5])
RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")
NOBODY = 65534
for name in [n for n in os.environ if n.startswith("PTXASW_") or n in ("LD_PRELOAD", "SLURM_NTASKS", *RANKS)]:
    del os.environ[name]


def long_hash(data):
    """As in wrapper/launch/answer.cpp."""
    a, b = 0xcbf29ce484222325, 0x84222325cbf29ce4
    for byte in data:
        a = (a ^ byte) * 0x100000001b3 % 2**64
        b = (b ^ byte) * 0x10000000233 % 2**64
    return f"{a:016x}{b:016x}"


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)
        self.cache = self.dir / "cache"
        self.kept = self.cache / "ptxasw" / "faster"
        (self.dir / "tmp").mkdir()
        self.ptxas = self.dir / "ptxas"
        self.assembler("cp \"$in\" \"$out\"")

    def assembler(self, commands):
        self.ptxas.write_text(f"""#!/bin/sh
echo "$@" >> {self.dir}/calls
while [ $# -gt 0 ]; do
    case "$1" in
        -o) out=$2; shift ;;
        -*) ;;
        *) in=$1 ;;
    esac
    shift
done
{commands}
""")
        self.ptxas.chmod(0o755)

    def calls(self):
        path = self.dir / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def environment(self, **extra):
        return {**os.environ, "XDG_CACHE_HOME": str(self.cache), "LD_LIBRARY_PATH": str(FAKE.parent),
                "PTXASW_REAL": str(self.ptxas), "TMPDIR": str(self.dir / "tmp"), **extra}

    def faster(self, scenario, *options, command=None, user=None, **extra):
        command = ["--", str(HOST), scenario] if command is None else command
        if scenario in ("faster-kept-code", "faster-remembered", "faster-own-ready"):  # versions from the first launch on, however busy we are
            extra.setdefault("PTXASW_LAUNCH_WAIT", "60000")
        return subprocess.run([str(PTXASW), "faster", *options, *command], env=self.environment(**extra), text=True,
                              timeout=900, stdin=subprocess.DEVNULL, capture_output=True, user=user, group=user,
                              extra_groups=None if user is None else [])

    def good(self, scenario, *options, **extra):
        done = self.faster(scenario, *options, **extra)
        self.assertEqual(done.returncode, 0, f"{scenario}: {done.stdout}{done.stderr}")
        self.assertEqual(done.stdout, "")
        return done.stderr

    def wait_for(self, what):
        for _ in range(600):
            if what():
                return
            time.sleep(0.05)
        self.fail("it does not come")


class Running(Case):
    def test_every_way_in_which_ptx_comes(self):
        for scenario in ("faster-module", "faster-fat-binary", "faster-text", "faster-nvrtc", "faster-library"):
            with self.subTest(scenario=scenario):
                said = self.good(scenario, FASTER_KNOWN="1")
                self.assertRegex(said, r"ptxasw: 1 of 1 kernels run faster versions: saved [\d.]+ ms of [\d.]+ "
                                       r"\(\d+ %\)\. Next time from the first launch on\.\n"
                                       r"  add  1\.6\dx  \w.*0\.10\d -> 0\.060\d? ms, [\d,]+ launches\n")

    def test_machine_code_that_nvjitlink_or_a_module_made(self):
        for scenario, by in (("faster-linked", ""), ("faster-linked-file", ""), ("faster-linked-in-module", "12"),
                             ("faster-linked-in-module", "13"), ("faster-nvrtc-in-module", "")):
            with self.subTest(scenario=scenario, by=by):  # nothing is known of the code from another scenario
                self.good(scenario, FASTER_LINKED=by, XDG_CACHE_HOME=str(self.dir / (scenario + by)))

    def test_nvjitlink_is_asked_once_for_what_it_made(self):
        self.good("faster-linked-lto", FASTER_LINKED="2")
        self.good("faster-linked-lto", FASTER_LINKED="1", FASTER_KNOWN="1")

    def test_variables_graphs_modules_and_threads(self):
        for scenario in ("faster-variable", "faster-constant", "faster-graph", "faster-reload", "faster-unload", "faster-ended-context", "faster-threads", "faster-crowd",
                         "faster-fork", "faster-contexts", "faster-released", "faster-stream", "faster-stuck"):
            with self.subTest(scenario=scenario):
                self.good(scenario, FASTER_KNOWN="1")

    def test_the_kernels_own_code_in_other_blocks(self):
        fast = {"FAKE_BLOCK_US": "128x1x1 40"}
        said = self.good("faster-block", **fast)
        self.assertRegex(said, r"  attributed  2\.[45]\dx  block 128 .*0\.10\d -> 0\.040\d? ms")
        (known,) = self.kept.glob("*.toml")
        self.assertIn('chosen = "attributed__ptxasw_block_128"', known.read_text())
        self.good("faster-block", "--profile", str(self.dir / "blocks.toml"), **fast)
        self.assertNotEqual(self.faster("faster-block", FAKE_BLOCK_US="128x1x1 100",
                                        XDG_CACHE_HOME=str(self.dir / "other")).returncode, 0)

    def test_the_second_run_starts_with_what_the_first_found(self):
        self.good("faster-module")
        calls = self.calls()
        self.assertEqual(len(calls), 1)
        self.assertIn("-arch=sm_90", calls[0])
        (known,) = self.kept.glob("*.toml")
        self.assertIn('chosen = "add__ptxasw_', known.read_text())
        said = self.good("faster-module", FASTER_KNOWN="1")
        self.assertEqual(self.calls(), calls)
        self.assertIn("1 of 1 kernels run faster versions", said)

    def test_a_remembered_version_runs_from_the_first_launch_on(self):
        self.good("faster-library")
        self.good("faster-remembered")
        self.assertNotEqual(self.faster("faster-remembered", XDG_CACHE_HOME=str(self.dir / "other")).returncode, 0)

    def test_versions_are_made_before_the_first_launch(self):
        fat, app = self.dir / "fat", self.dir / "app"
        subprocess.run([str(HOST), "faster-fat-file"], env=self.environment(FASTER_FAT_FILE=str(fat)), check=True)
        subprocess.run(["objcopy", "--add-section", f".nv_fatbin={fat}", str(HOST), str(app)], check=True)
        command = ["--", str(app), "faster-early"]
        self.good("faster-early", command=command)
        self.assertEqual((self.kept / "gpu").read_text(), "90\n")
        # Another program, of which nothing is known but the GPU.
        for file in self.kept.glob("*.*"):
            file.unlink()
        said = self.good("faster-early", command=command, FASTER_KNOWN="1")
        self.assertNotIn("still being assembled", said)
        self.assertEqual(list((self.dir / "tmp").glob("ptxasw-faster-*")), [])

    def notes_kernels(self, commands):
        """The assembler writes the names of kernels down, in the order in which versions are made, in a directory with a file for
        each."""
        place = self.dir / "made"
        place.mkdir(exist_ok=True)
        self.assembler(f"""name=$(sed -n 's/.*\\.entry \\([a-z]*\\)__ptxasw.*/\\1/p' "$in" | head -n 1)
echo "$name" >> {place}/order
touch "{place}/$name"
wait_for() {{ while [ ! -e "{place}/$1" ]; do sleep 0.02; done; }}
{commands}
cp "$in" "$out\"""")
        return place

    def test_versions_of_what_takes_most_time_are_made_first(self):
        place = self.notes_kernels('case "$name" in add) wait_for go ;; scaled) wait_for biased ;; esac')
        self.good("faster-dear", FASTER_PLACE=str(place), FAKE_BLOCK_US="64x1x1 10")
        order = (place / "order").read_text().split()
        self.assertEqual([name for name in order if name != "scaled"], ["add", "indexed", "biased"])

    def test_what_took_time_in_an_earlier_run_is_made_first(self):
        """By another assembler, before it is launched; its file has others before it."""
        fat, app = self.dir / "fat", self.dir / "app"
        subprocess.run([str(HOST), "faster-fat-file"], env=self.environment(FASTER_FAT_FILE=str(fat)), check=True)
        subprocess.run(["objcopy", "--add-section", f".nv_fatbin={fat}", str(HOST), str(app)], check=True)
        self.good("faster-module", FASTER_KERNEL="biased")
        place = self.notes_kernels("")
        self.assembler(self.ptxas.read_text() + f"[ $(wc -l < {place}/order) -lt 3 ] || touch {place}/go")
        self.good("", command=["--", str(app), "faster-lives"], FASTER_LIVES=str(place / "go"))
        order = (place / "order").read_text().split()
        self.assertIn("biased", order[:2])  # two may be made at once
        self.assertGreater(len(order), 2)

    def test_what_computes_more_is_not_tried_in_a_short_program(self):
        for computes in ("", "1"):
            with self.subTest(computes=computes):
                how = {"PTXASW_LAUNCH_ONLY": "=add__ptxasw_wide_x4", "XDG_CACHE_HOME": str(self.dir / ("cache" + computes)),
                       **({"FASTER_COMPUTES": computes} if computes else {})}
                self.good("faster-feared", **how)
                self.wait_for(lambda: list((self.dir / ("cache" + computes)).glob("ptxasw/faster/*.versions")))
                for _ in range(2):  # 400 launches would pay for it
                    self.good("faster-feared", FASTER_TRIED="0" if computes else "1", PTXASW_LAUNCH_WAIT="60000", **how)

    def test_versions_are_made_in_nobodys_way(self):
        """In processes of the lowest priority, with a minute of the processor and a session of their own."""
        self.assembler(f"""{{ nice; ulimit -t; ulimit -c; cut -d' ' -f6 /proc/$$/stat; }} > {self.dir}/how
cp "$in" "$out\"""")
        self.good("faster-module")
        nice, seconds, core, session = (self.dir / "how").read_text().split()
        self.assertEqual((nice, seconds, core), ("19", "60", "0"))
        self.assertNotEqual(int(session), os.getsid(0))

    def test_a_queue_that_is_always_full_is_let_run_empty_once(self):
        self.good("faster-full-queue", FAKE_QUEUE_US="1000")

    def test_what_nobody_asked_for_ends_with_the_program(self):
        fat, app, lives = self.dir / "fat", self.dir / "app", self.dir / "lives"
        subprocess.run([str(HOST), "faster-fat-file"], env=self.environment(FASTER_FAT_FILE=str(fat)), check=True)
        subprocess.run(["objcopy", "--add-section", f".nv_fatbin={fat}", str(HOST), str(app)], check=True)
        self.assembler(f"touch {lives}\nsleep 600\ncp $in $out")
        self.kept.mkdir(parents=True, mode=0o700)
        (self.kept / "gpu").write_text("90\n")
        for path in (self.cache / "ptxasw", self.kept):
            path.chmod(0o700)
        done = self.faster("", command=["--", str(app), "faster-lives"], FASTER_LIVES=str(lives))
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertNotIn("still being assembled", done.stderr)
        self.wait_for(lambda: not list((self.dir / "tmp").glob("ptxasw-make-*")))

    def test_what_loading_takes_is_bounded(self):
        self.good("faster-bounded", FASTER_LEARNS="1")
        for _ in range(5):  # where even the first one was not there in time, on a busy machine
            done = self.faster("faster-bounded", FAKE_LOAD_MS="300", PTXASW_LAUNCH_WAIT="1000")
            if done.returncode == 0:
                break
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_versions_save_pays_for_loading(self):
        self.good("faster-bounded", FASTER_LEARNS="1")
        self.good("faster-paid", FAKE_LOAD_MS="60", PTXASW_LAUNCH_WAIT="200")

    def test_the_original_is_loaded_with_its_versions(self):
        for scenario, how in (("faster-module", {}), ("faster-library", {"FASTER_LIBRARY": "1"})):
            how["PTXASW_LAUNCH_ONLY"] = "retile"  # none that is the original in other blocks
            self.good(scenario, FASTER_KNOWN="1", **how)
            for extra in ({}, {"FAKE_LOCAL": "64"}):
                with self.subTest(scenario=scenario, **extra):
                    self.good("faster-own-ready", FAKE_LAZY="1", **how, **extra)

    def test_tuning_waits_for_versions_and_tries_them_at_once(self):
        said = self.good("faster-tuned", "--tune", "--why")
        self.assertIn("1 of 1 kernels run faster versions", said)

    def test_tuning_tries_what_was_too_short_for_trials(self):
        short = {"FAKE_BLOCK_US": "256x1x1 5", "FAKE_VERSION_US": "3"}
        self.good("faster-short", **short)
        self.wait_for(lambda: list(self.kept.glob("*.versions")))
        for _ in range(40):  # a busy machine gives the versions less of each run
            self.good("faster-short", **short)
            known = "".join(path.read_text() for path in self.kept.glob("*.toml"))
            if 'chosen = "original"' in known and "samples_us" not in known:
                break
        self.assertIn('chosen = "original"', known)
        self.assertNotIn("samples_us", known)
        self.good("faster-tuned", "--tune", FASTER_LAUNCHES="20000", **short)
        self.assertIn('chosen = "add__ptxasw_', "".join(path.read_text() for path in self.kept.glob("*.toml")))

    def test_tuning_does_not_wait_for_the_end_of_a_capture(self):
        self.good("faster-captured", "--tune")

    def test_a_reason_that_comes_too_late_is_said(self):
        said = self.good("faster-late-reason", "--why")
        self.assertRegex(said, "waits: .*barrier")

    def test_nothing_is_loaded_while_a_kernel_waits_for_the_program(self):
        for scenario in ("faster-spin", "faster-spin-ended", "faster-spin-forgotten", "faster-spin-contexts",
                         "faster-unseen-stream"):
            with self.subTest(scenario=scenario):
                self.good(scenario, XDG_CACHE_HOME=str(self.dir / scenario))

    def test_a_race_goes_on_in_the_next_run(self):
        for _ in range(40):  # a busy machine gives the versions less of each run
            said = self.faster("faster-short", "--why").stderr
            if "1 of 1 kernels run faster versions" in said:
                break
            self.assertTrue("the next run goes on" in said or "did not come" in said, said)
        self.assertIn("1 of 1 kernels run faster versions", said)

    def test_versions_that_are_slower(self):
        said = self.good("faster-brief", FAKE_VERSION_US="300")
        said = self.faster("faster-module", "--why", FAKE_VERSION_US="300", FASTER_BESIDE="1")
        self.assertNotEqual(said.returncode, 0)  # the scenario waits for a version to win
        self.assertIn("no faster version of 2 kernels so far", said.stderr)  # and not that there is no PTX

    def test_what_was_chosen_for_each_shape_is_said(self):
        how = {"PTXASW_LAUNCH_ONLY": "retile", "FAKE_BLOCK_US": "64x1x1 50"}  # faster than its versions
        said = self.without_times(self.good("faster-shapes", "--why", **how)).splitlines()
        kind = said[1].split("  ")[3]
        self.assertRegex(kind, r"^retile apart x\d+( in \d+)?$")
        self.assertEqual(said[2:6], ["  add, by the launch", "    |- block 64x1x1: original (T ms)",
                                     "    |- block 128x1x1: not measured to the end",
                                     f"    `- block 256x1x1: {kind}, 1.6x (T -> T ms)"])
        self.assertNotIn("by the launch", self.good("faster-shapes", **how))

    def test_what_was_chosen_is_a_tree(self):
        said = self.good("faster-tree", "--why", PTXASW_LAUNCH_ONLY="=add__ptxasw_retile_apart_x4")
        self.assertEqual(self.without_times(said).split("\n", 2)[2], """\
  add, by the launch
    |- block 64x1x1: original (T ms)
    |- block 128x1x1: not measured to the end
    `- block 256x1x1
       |- before argument 3 was seen to matter: retile apart x4, 1.6x (T -> T ms)
       |- argument 3 from 64 to 127: retile apart x4, 1.6x (T -> T ms)
       `- argument 3 from 16,384 to 32,767: original (T ms)
""")

    def test_kernels_of_one_name_are_told_apart(self):
        said = self.good("faster-same-name", "--why", PTXASW_LAUNCH_ONLY="=add__ptxasw_retile_apart_x4")
        tree = self.without_times(said).split("\n", 2)[2]
        leaves = sorted(re.findall(r"(?m)^    [|`]- of the kernel with code [0-9a-f]{16}: (.*)$", tree))
        self.assertEqual(leaves, ["original (T ms)", "retile apart x4, 1.6x (T -> T ms)"], tree)

    def without_times(self, said):
        return re.sub(r"\d\.\d+ (->|ms)", r"T \1", re.sub(r"(\d\.\d)\dx", r"\1x", said))

    def test_a_second_size_begins_with_what_won_in_the_first(self):
        for winner in ("retile_apart_x2", "retile_apart_x8"):
            self.good("faster-sizes", PTXASW_LAUNCH_ONLY="=" + ",".join(f"add__ptxasw_retile_apart_x{n}" for n in (2, 4, 8)), FASTER_WINNER="add__ptxasw_" + winner,
                      XDG_CACHE_HOME=str(self.dir / winner))

    def test_a_check_goes_on_in_the_next_run(self):
        """What was chosen is held against the original in few launches of each run; and what was slower is tried again later."""
        self.good("faster-module")
        (known,) = self.kept.glob("*.toml")
        runs = 0
        while 'chosen = "original"' not in known.read_text():
            runs += 1
            self.assertLess(runs, 20)
            self.good("faster-launches", FASTER_LAUNCHES="1000", FAKE_VERSION_US="104", PTXASW_LAUNCH_WAIT="60000")
            if runs < 3:
                self.assertIn("pairs_us = ", known.read_text())
        self.assertGreater(runs, 2)
        for reverted in range(1, 10):
            self.assertIn(f"reverted_runs = {reverted}\n", known.read_text())
            self.good("faster-launches", FASTER_LAUNCHES="20", PTXASW_LAUNCH_WAIT="60000")
        self.assertIn('chosen = "original"', known.read_text())
        self.good("faster-module", FASTER_KNOWN="1")
        self.assertIn('chosen = "add__ptxasw_', known.read_text())
        self.assertNotIn("reverted_runs", known.read_text())

    def test_ranks_unlearn(self):
        """What one of several processes found slower is slower, whatever the others were told and whoever ends last."""
        one, many = (f"FASTER_LAUNCHES={n} FAKE_VERSION_US=112 {HOST} faster-launches" for n in (20, 15000))
        for script in (f"{one}; {many}", f"{many}; {one}"):
            with self.subTest(script=script):
                cache = {"XDG_CACHE_HOME": str(self.dir / str(len(script.split(";")[0])))}
                self.good("faster-module", **cache)
                (known,) = Path(cache["XDG_CACHE_HOME"]).glob("ptxasw/faster/*.toml")
                self.assertIn('chosen = "add__ptxasw_', known.read_text())
                self.good("", command=["sh", "-c", script], PTXASW_LAUNCH_WAIT="60000", **cache)
                self.assertIn('chosen = "original"', known.read_text())

    def test_a_profile_of_ones_own(self):
        profile = self.dir / "heat.toml"
        self.good("faster-module", "--profile", str(profile))
        self.assertIn('chosen = "add__ptxasw_', profile.read_text())
        shutil.rmtree(self.cache)
        self.good("faster-module", "--profile", str(profile), FASTER_KNOWN="1")
        profile.write_text("version = 7\n")
        done = self.faster("faster-module", "--profile", str(profile))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("heat.toml", done.stderr)

    def test_verify(self):
        said = self.good("faster-verify", "--verify")
        self.assertRegex(said, r"ptxasw: \d+ launches of versions were compared with the originals; none differs\n")
        self.assertEqual(list(self.kept.glob("*.toml")), [])
        # One that computes something else ends the program, and says where.
        self.assembler("cp \"$in\" \"$out\"; printf '\\n// wrong\\n' >> \"$out\"")
        done = self.faster("faster-verify", "--verify")
        self.assertEqual(done.returncode, -signal.SIGABRT)
        self.assertRegex(done.stderr, r"add__ptxasw_\w+ computes something else: byte 0 of the 65536 at")

    def test_without_a_toolkit_the_driver_compiles(self):
        self.ptxas.unlink()
        self.good("faster-module")
        self.assertEqual(self.calls(), [])


class Staying(Case):
    """What stays as it is, and what is said."""

    def test_kernels_that_are_left_alone(self):
        for kernel, code, why in (*((name, "0", "a `__constant__` variable's address is used in another way than to read it")
                                    for name in ("stores", "mixed", "summed", "generic", "anywhere")),
                                  ("attributed", "0", "`tagged` has an attribute"), ("waits", "0", "barrier"),
                                  ("looks_up", "0", "`picture` is no plain variable"),
                                  ("manages", "0", "`everywhere` is managed memory"),
                                  ("links", "0", "`elsewhere` is defined in another module"),
                                  ("prints", "0", "it calls `vprintf`, which is outside its module"),
                                  ("starts", "0", "it names the kernel `add`"),
                                  ("points", "0", "it takes the address of `helper`, which is another one"),
                                  ("add", "90", "machine code for sm_90 runs, and there is no PTX for it")):
            with self.subTest(kernel=kernel):
                said = self.good("faster-kept", "--why", FASTER_KERNEL=kernel, FASTER_CODE=code)
                self.assertIn("ptxasw: no faster version of 1 kernel so far\n", said)
                self.assertRegex(said, f"  {kernel}: .*{why}")

    def test_what_is_linked_from_several_modules(self):
        """By the wrapper that the device linker's output has, and by what an image was compiled with."""
        for how in ({"FASTER_DEVICE_LINKED": "1", "FASTER_UNANSWERED": "1"}, {"FASTER_OPTIONS": "--compile-only"}):
            with self.subTest(**how):
                said = self.good("faster-kept", "--why", FASTER_KERNEL="add", **how)
                self.assertIn("  add: relocatable: it is linked from several modules (-rdc)\n", said)
        self.assertEqual(self.calls(), [])

    def test_doubt_about_what_runs(self):
        for scenario, kernel, why in (("faster-guessed", "add", "there are several images for sm_90"),
                                      ("faster-options", "scaled", "the program told the driver how to compile it"),
                                      ("faster-resized", "scaled", "the driver does not say where its variables are")):
            with self.subTest(scenario=scenario):
                self.assertRegex(self.good(scenario, "--why", FASTER_KNOWN="1"), f"  {kernel}: .*{why}")

    def test_what_nvjitlink_made_of_more_than_ptx(self):
        several, options = "nvJitLink linked it from several inputs", "the program told nvJitLink how to compile it"
        for what, why in (("several", several), ("other", "of something else than PTX"), ("options", options), ("lto-ptx", options),
                          ("lto-several", several), ("lto-unfused", options)):
            with self.subTest(what=what):
                self.assertRegex(self.good("faster-linked-unknown", "--why", FASTER_LINKED=what), f"  add: .*{why}")
        self.assertEqual(list(self.kept.glob("*.compiled")), [])

    def test_the_real_nvjitlink(self):
        """By Python's ctypes, as Python's callers do it, and by a program that is linked with it; no GPU is needed to link."""
        home = next((Path(home) for home in (os.environ.get("CUDA_HOME"), "/usr/local/cuda")
                     if home and list(Path(home).glob("lib*/libnvJitLink.so")) and (Path(home) / "include/nvJitLink.h").exists()), None)
        if not home:
            self.skipTest("no nvJitLink")
        library = next(home.glob("lib*/libnvJitLink.so"))
        script = self.dir / "link.py"
        script.write_text(f"""
import ctypes
library = ctypes.CDLL("{library}")
ptx = b".version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry by_name() {{ ret; }}\\n\\0"
options = (ctypes.c_char_p * 1)(b"-arch=sm_90")
link, size = ctypes.c_void_p(), ctypes.c_size_t()
assert library.nvJitLinkCreate(ctypes.byref(link), 1, options) == 0
assert library.nvJitLinkAddData(link, 2, ptx, ctypes.c_size_t(len(ptx)), b"k") == 0
assert library.nvJitLinkComplete(link) == 0
assert library.nvJitLinkGetLinkedCubinSize(link, ctypes.byref(size)) == 0
code = ctypes.create_string_buffer(size.value)
assert library.nvJitLinkGetLinkedCubin(link, code) == 0
assert library.nvJitLinkDestroy(ctypes.byref(link)) == 0 and not link.value
assert library.nvJitLinkCreate(ctypes.byref(link), 1, options) == 0  # it still works as it did
assert library.nvJitLinkAddData(link, 2, b"rubbish", ctypes.c_size_t(7), b"k") != 0
""")
        self.good("", command=["--", sys.executable, str(script)])
        (known,) = self.kept.glob("*.compiled")
        self.assertIn(b".visible .entry by_name()", known.read_bytes())
        known.unlink()
        script = self.dir / "lto.py"  # as Numba does it, whose compiler gives LTO-IR
        script.write_text(f"""
import ctypes
compiler, library = ctypes.CDLL("{library.parent}/libnvrtc.so"), ctypes.CDLL("{library}")
source = b'extern "C" __device__ int twice(int x) {{ return 2 * x; }} extern "C" __global__ void by_lto(int *p) {{ *p = twice(*p); }}'
program, link, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
assert compiler.nvrtcCreateProgram(ctypes.byref(program), source, b"a.cu", 0, None, None) == 0
assert compiler.nvrtcCompileProgram(program, 3, (ctypes.c_char_p * 3)(b"-arch=sm_90", b"-dlto", b"-rdc=true")) == 0
assert compiler.nvrtcGetLTOIRSize(program, ctypes.byref(size)) == 0
part = ctypes.create_string_buffer(size.value)
assert compiler.nvrtcGetLTOIR(program, part) == 0
assert library.nvJitLinkCreate(ctypes.byref(link), 2, (ctypes.c_char_p * 2)(b"-arch=sm_90", b"-lto")) == 0
assert library.nvJitLinkAddData(link, 3, part, size, b"k") == 0
assert library.nvJitLinkComplete(link) == 0
assert library.nvJitLinkGetLinkedCubinSize(link, ctypes.byref(size)) == 0
code = ctypes.create_string_buffer(size.value)
assert library.nvJitLinkGetLinkedCubin(link, code) == 0
assert library.nvJitLinkDestroy(ctypes.byref(link)) == 0
""")
        self.good("", command=["--", sys.executable, str(script)])
        (known,) = self.kept.glob("*.compiled")
        self.assertRegex(known.read_bytes(), rb"\.visible \.entry by_lto\(")
        known.unlink()
        self.compile("""#include <cstring>
#include <nvJitLink.h>
int main() {
  const char *ptx = ".version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry linked() { ret; }\\n";
  const char *options[] = {"-arch=sm_90"};
  char code[100000];
  nvJitLinkHandle link;
  return nvJitLinkCreate(&link, 1, options) || nvJitLinkAddData(link, NVJITLINK_INPUT_PTX, ptx, std::strlen(ptx) + 1, "") ||
         nvJitLinkComplete(link) || nvJitLinkGetLinkedCubin(link, code) || nvJitLinkDestroy(&link);
}""", "-I", str(home / "include"), "-L", str(library.parent), "-lnvJitLink", f"-Wl,-rpath,{library.parent}", "-o", str(self.dir / "linked"))
        self.good("", command=["--", str(self.dir / "linked")])
        (known,) = self.kept.glob("*.compiled")
        self.assertIn(b".visible .entry linked()", known.read_bytes())

    def test_machine_code_for_another_gpu_does_not_count(self):
        self.good("faster-kept", "--why", FASTER_CODE="70")

    def test_seldom_and_brief(self):
        self.assertIn("launched 5 times: too seldom", self.good("faster-seldom", "--why"))
        self.assertEqual(self.calls(), [])
        said = self.good("faster-brief")
        self.assertIn("versions of 1 kernel are still being assembled, for the next run", said)
        self.wait_for(lambda: list(self.kept.glob("*.versions")))
        self.assertEqual(len(self.calls()), 1)

    def test_an_assembler_that_refuses_dies_or_is_not_there(self):
        for commands, why in (("echo 'ptxas fatal: no' >&2; exit 1", "ptxas fatal: no"), ("kill -9 $$", "without a result"),
                              ("exit 0", "without a result"), ("echo rubbish > $out", "the driver did not take")):
            with self.subTest(commands=commands):
                self.assembler(commands)
                said = self.good("faster-kept", "--why", FASTER_KERNEL="add")
                self.assertIn(why, said)

    def test_no_ptx_no_driver_no_kernel(self):
        self.assertIn("the program has no PTX to make versions of; `nvcc -arch=sm_90` puts it in", self.good("faster-no-ptx"))
        self.assertEqual(self.good("", command=["true"], LD_LIBRARY_PATH=""),
                         "ptxasw: there is no CUDA driver here (libcuda.so.1), so there was nothing to make faster\n"
                         if not shutil.which("nvidia-smi") else
                         "ptxasw: no kernel was launched, or not where it can be seen (docs/faster.md)\n")
        self.assertIn("no kernel was launched", self.good("", command=["--", "true"]))

    def test_a_static_program(self):
        program = self.dir / "static"
        self.compile('#include <cstdio>\nint main() { std::puts("its own"); return 5; }', "-static", "-o", str(program))
        done = self.faster("", "--why", command=[str(program)])
        self.assertEqual((done.returncode, done.stdout), (5, "its own\n"))
        self.assertEqual(done.stderr, "ptxasw: the program is linked statically, so nothing can be put between it and the driver\n")

    def test_a_script_that_starts_the_program(self):
        script = self.dir / "train.sh"
        script.write_text(f"#!/bin/sh\necho before >&2\n{HOST} faster-module\n{HOST} faster-module\n")
        script.chmod(0o755)
        said = self.good("", command=[str(script)], FASTER_KNOWN="1")
        self.assertIn("1 of 1 kernels run faster versions", said)
        self.assertEqual(len(self.calls()), 1)

    def test_off_and_wrong_words(self):
        self.assertEqual(self.good("faster-seldom", PTXASW_FASTER="off"), "")
        done = self.faster("", command=["--", "/no/such/program"])
        self.assertEqual(done.returncode, 127)
        self.assertIn("cannot run /no/such/program", done.stderr)
        self.assertEqual(self.faster("", command=["--", str(self.dir)]).returncode, 126)
        self.assertEqual(self.faster("", command=[]).returncode, 2)
        self.assertEqual(self.faster("", "--expalin", command=["true"]).returncode, 2)

    def test_the_program_is_its_own(self):
        """Words, exit codes, input, signals."""
        words = self.faster("", command=["printf", "%s|", "--why", "-h", "--"])
        self.assertEqual(words.stdout, "--why|-h|--|")
        self.assertEqual(self.faster("", command=["sh", "-c", "exit 7"]).returncode, 7)
        for ends in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGRTMAX):  # by which ptxasw ends, too
            self.assertEqual(self.faster("", command=["sh", "-c", f"kill -{ends:d} $$"]).returncode, -ends)
            self.assertEqual(list((self.dir / "tmp").iterdir()), [])
        cat = subprocess.run([str(PTXASW), "faster", "cat"], env=self.environment(), input="in", text=True,
                             capture_output=True, timeout=100)
        self.assertEqual(cat.stdout, "in")
        program = subprocess.Popen([str(PTXASW), "faster", "sh", "-c", "trap 'exit 9' TERM; echo up; while :; do sleep 0.1; done"],
                                   env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        program.stdout.readline()
        program.send_signal(signal.SIGTERM)
        self.assertEqual(program.wait(100), 9)
        program.stdout.close()

    def test_a_loop_of_a_shell_ends(self):
        """Which it does if what it runs dies of an interrupt."""
        loop = subprocess.Popen(["bash", "-c", f"for i in 1 2; do echo $i; {PTXASW} faster sh -c 'echo up; exec sleep 100'; done"],
                                env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.assertEqual([loop.stdout.readline() for _ in range(2)], ["1\n", "up\n"])
        os.killpg(loop.pid, signal.SIGINT)
        self.assertEqual(loop.communicate(timeout=100)[0], "")
        self.assertEqual(loop.returncode, -signal.SIGINT)

    def test_every_signal_that_somebody_sends(self):
        script = self.dir / "waits.py"
        script.write_text("import signal, sys\n"
                          "number = {int(sys.argv[1])}\n"
                          "signal.pthread_sigmask(signal.SIG_BLOCK, number)\n"
                          "print('up', flush=True)\n"
                          "print(signal.sigwait(number) + 0)\n")
        for number in (*(getattr(signal, "SIG" + name) for name in ("HUP", "INT", "QUIT", "ABRT", "USR1", "USR2", "ALRM", "TERM", "XCPU",
                                                                   "IO", "PROF", "PWR", "VTALRM")), signal.SIGRTMIN, signal.SIGRTMAX):
            with self.subTest(number=number):
                run = subprocess.Popen([str(PTXASW), "faster", sys.executable, str(script), str(number + 0)], env=self.environment(),
                                       text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                self.assertEqual(run.stdout.readline(), "up\n")
                run.send_signal(number)
                self.assertEqual(run.communicate(timeout=100)[0], f"{number + 0}\n")
                self.assertEqual(run.returncode, 0)

    def test_a_terminal(self):
        """An interrupt comes once, whether the program is in the group of ptxasw or not, and that the terminal goes comes, too, though
        the kernel tells the leader of the session alone."""
        script = self.dir / "terminal.py"
        script.write_text("import os, signal, sys\n"
                          "wanted = [signal.SIGHUP, signal.SIGINT]\n"
                          "signal.pthread_sigmask(signal.SIG_BLOCK, wanted)\n"
                          "if sys.argv[2] == 'apart': os.setpgid(0, 0)\n"
                          "with open(sys.argv[1], 'w') as file:\n"
                          "    print('up', file=file, flush=True)\n"
                          "    while (got := signal.sigwait(wanted)) != signal.SIGHUP: print(got.name, file=file, flush=True)\n"
                          "    print(got.name, file=file, flush=True)\n"
                          "os._exit(3)\n")
        for where in ("together", "apart"):
            with self.subTest(where=where):
                got = self.dir / where
                run, terminal = pty.fork()
                if run == 0:
                    os.execve(PTXASW, ["ptxasw", "faster", sys.executable, str(script), str(got), where], self.environment())
                self.wait_for(lambda: got.exists() and got.read_text() == "up\n")
                for count in (1, 2):
                    os.write(terminal, b"\x03")
                    self.wait_for(lambda: got.read_text() == "up\n" + count * "SIGINT\n")
                os.close(terminal)
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(run, 0)[1]), 3)
                self.assertEqual(got.read_text(), "up\nSIGINT\nSIGINT\nSIGHUP\n")

    def test_a_signal_comes_once(self):
        """To the process group, as `timeout` sends it, and to ptxasw alone."""
        script = self.dir / "counts.py"
        script.write_text("import signal\n"
                          "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP, signal.SIGTERM])\n"
                          "print('up', flush=True)\n"
                          "while (got := signal.sigwait([signal.SIGHUP, signal.SIGTERM])) != signal.SIGTERM:\n"
                          "    print(got.name, flush=True)\n")
        for where in (os.kill, os.killpg):
            for _ in range(5):
                run = subprocess.Popen([str(PTXASW), "faster", sys.executable, str(script)], env=self.environment(), text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
                self.assertEqual(run.stdout.readline(), "up\n")
                for _ in range(2):
                    where(run.pid, signal.SIGHUP)
                    self.assertEqual(run.stdout.readline(), "SIGHUP\n")
                os.kill(run.pid, signal.SIGTERM)  # which ptxasw passes on after whatever else it does
                self.assertEqual(run.communicate(timeout=100)[0], "")
                self.assertEqual(run.returncode, 0)

    def test_ptxasw_is_killed(self):
        run = subprocess.Popen([str(PTXASW), "faster", "sh", "-c", "echo $$; exec sleep 1000"], env=self.environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        status = Path("/proc") / run.stdout.readline().strip() / "status"
        run.stdout.close()
        run.kill()
        run.wait()
        self.wait_for(lambda: not status.exists() or "State:\tZ" in status.read_text())
        self.wait_for(lambda: not list((self.dir / "tmp").iterdir()))

    def compile(self, text, *words):
        compiler = shutil.which("c++")
        done = compiler and subprocess.run([compiler, "-x", "c++", "-", *words], input=text, text=True, capture_output=True)
        if not done or done.returncode != 0:
            self.skipTest("there is no such compiler")

    def test_sanitizers(self):
        program = self.dir / "sanitized"
        self.compile("int main(int n, char **) { return n + 2; }", "-fsanitize=address", "-o", str(program))
        done = self.faster("", command=[str(program)], ASAN_OPTIONS="detect_leaks=0")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"^ptxasw: .*nothing is made faster: .* sanitizer \(libasan\.so\.\d+\).*\n$")
        plain = self.dir / "libtsan.so.2"
        shutil.copy(FAKE, plain)
        self.assertRegex(self.good("", command=["true"], LD_PRELOAD=str(plain)), r"sanitizer \(libtsan\.so\.2\)")

    def test_nothing_is_left_behind(self):
        self.good("faster-module")
        self.wait_for(lambda: not list((self.dir / "tmp").iterdir()))
        self.assembler("kill -9 $PPID")  # who makes the versions
        self.good("faster-kept", FASTER_KERNEL="add", FASTER_UNANSWERED="1")
        self.wait_for(lambda: not list((self.dir / "tmp").iterdir()))


class Hindered(Case):
    """Whatever is in the way, the program runs, and its end is ptxasw's."""

    ends_with = ["sh", "-c", "echo ran; exit 3"]

    def ran(self, *options, command=None, **how):
        """What was said of a program that ran."""
        done = subprocess.run([str(PTXASW), "faster", *options, *(command or self.ends_with)], text=True, timeout=900,
                              **{"env": self.environment(), "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                                 "stderr": subprocess.PIPE, **how})
        self.assertEqual((done.returncode, done.stdout), (3, "ran\n"), done.stderr)
        return done.stderr

    def test_no_directory_for_temporary_files(self):
        for place in ("/no/such/place", "/dev/null", str(self.dir / "file")):
            (self.dir / "file").touch()
            with self.subTest(place=place):
                self.assertEqual(self.ran(env=self.environment(TMPDIR=place)),
                                 "ptxasw: error: nothing is made faster: there is no directory for temporary files\n")
        self.assertIn("no kernel was launched", self.ran(env=self.environment(TMPDIR="tmp"), cwd=self.dir))

    def test_the_program_clears_it(self):
        said = self.ran(command=["sh", "-c", "rm -rf $TMPDIR/*; echo ran; exit 3"])
        self.assertIn("the program removed what this run had", said)

    def test_strange_things_in_it(self):
        for things in ("echo {} > 1.json; echo '[1]' > 2.json; echo '{\"outcomes\":3}' > 3.json; mkdir 4.json; ln -s /dev/zero 5.json",
                       "mkdir a.question x.compiled 1.program; mkfifo b.question c.often d.compiled 2.program; ln -s /dev/zero e.question",
                       "ln -s /dev/zero early; echo 1 > early; echo x > x.program; echo > y.program; echo 90 > z.program; echo > a.often",
                       "head -c 100000 /dev/zero > bell; chmod 0 ."):
            with self.subTest(things=things):
                self.ran(command=["sh", "-c", f"cd $PTXASW_LAUNCH_FASTER; {things}; sleep 0.2; echo ran; exit 3"])

    def test_no_memory_to_answer(self):
        """Whoever answers runs out of memory, and only waits from then on; signals are passed on all the same."""
        most = 400 << 20
        run = subprocess.Popen([str(PTXASW), "faster", "sh", "-c", "cd $PTXASW_LAUNCH_FASTER; truncate -s 100G x.compiled; truncate -s 100G x; mv x x.question; echo > bell; "
                                "trap 'echo ran; ls >&2; exit 3' TERM; echo up; while :; do sleep 0.1; done"],
                               env=self.environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
        self.assertEqual(run.stdout.readline(), "up\n")
        time.sleep(0.5)
        run.send_signal(signal.SIGTERM)
        out, said = run.communicate(timeout=100)
        self.assertEqual((run.returncode, out), (3, "ran\n"), said)
        self.assertEqual(list((self.dir / "tmp").iterdir()), [])

    def test_no_room_for_a_process(self):
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))
        self.assertEqual(self.ran(preexec_fn=few),
                         "ptxasw: error: nothing is made faster: no process can be started: Too many open files\n")
        self.assertEqual(list((self.dir / "tmp").iterdir()), [])

    def test_nobody_reads_what_is_said(self):
        for place in (str(self.dir / "tmp"), "/no/such/place"):  # at the end, and before the program starts
            with self.subTest(place=place):
                read, write = os.pipe()
                os.close(read)
                self.ran(env=self.environment(TMPDIR=place), stderr=write)
                os.close(write)
                with open("/dev/full", "wb") as full:
                    self.ran(env=self.environment(TMPDIR=place), stderr=full)
                self.assertEqual(list((self.dir / "tmp").iterdir()), [])
        with open("/dev/full", "wb") as full:
            done = subprocess.run([str(PTXASW), "faster", "/no/such/program"], env=self.environment(), stderr=full, timeout=100)
        self.assertEqual(done.returncode, 127)

    def test_closed_descriptors(self):
        script = self.dir / "open.py"
        script.write_text("import os, sys\n"
                          "def is_open(n):\n"
                          "    try: return os.fstat(n) is not None\n"
                          "    except OSError: return False\n"
                          "open(sys.argv[1], 'w').write(' '.join(str(n) for n in range(3) if is_open(n)))\n"
                          "os._exit(3)\n")
        found = self.dir / "found"
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed=closed):
                seen = []
                for front in ("", f"{PTXASW} faster "):
                    done = subprocess.run(["sh", "-c", f"{front}{sys.executable} {script} {found} {closed}"], env=self.environment(),
                                          capture_output=True, timeout=100)
                    self.assertEqual(done.returncode, 3, done.stderr)
                    seen.append(found.read_text())
                self.assertEqual(seen[0], seen[1])

    def test_places_for_the_cache(self):
        home = self.dir / "home"
        home.mkdir()
        for place, kept in ((str(self.dir / "a b\nc"), self.dir / "a b\nc"), (str(self.dir / "x/y/z"), self.dir / "x/y/z"),
                            ("relative", home / ".cache"), ("", home / ".cache")):
            with self.subTest(place=place):
                self.assertIn("1 of 1 kernels", self.good("faster-module", FASTER_KNOWN="1", XDG_CACHE_HOME=place, HOME=str(home)))
                self.assertEqual(len(list(kept.glob("ptxasw/faster/*.versions"))), 1)
        for variables, why in (({"XDG_CACHE_HOME": "", "HOME": "relative"}, "neither XDG_CACHE_HOME nor HOME"),
                               ({"XDG_CACHE_HOME": "", "HOME": "/no/such/home"}, "cannot make /no/such/home/.cache/ptxasw/faster"),
                               ({"XDG_CACHE_HOME": "/dev/null/x"}, "cannot make /dev/null/x/ptxasw/faster")):
            self.assertIn("nothing is remembered: " + why, self.ran(env=self.environment(**variables)))
        self.assertFalse(Path("/no").exists())

    def test_how_a_program_is_found(self):
        place = self.dir / "place"
        place.mkdir()
        script = place / "says"
        script.write_text("echo ran\nexit 3\n")  # without a first line that names a shell
        script.chmod(0o755)
        (self.dir / "says").mkdir()
        path = f"{self.dir}:{place}:{os.environ['PATH']}"
        self.ran(command=["says"], env=self.environment(PATH=path))
        self.ran(command=["says"], env=self.environment(PATH=f"{os.environ['PATH']}:"), cwd=place)
        self.ran(command=["/bin/sh", str(script)], env=self.environment(PATH=""))
        without = {name: value for name, value in self.environment().items() if name != "PATH"}
        self.ran(env=without)
        for name, code in (("says-not", 127), ("", 127), (str(place), 126), ("/etc/passwd", 126), ("/etc/passwd/x", 126)):
            done = self.faster("", command=["--", name])
            self.assertEqual((done.returncode, done.stdout), (code, ""), name)
            self.assertRegex(done.stderr, f"^ptxasw: error: cannot run {name}: .*\n$")
        empty = place / "empty"
        empty.touch(0o755)
        self.assertEqual(self.faster("", command=[str(empty)]).returncode, 0)

    def test_other_libraries_in_front(self):
        self.assertIn("no kernel was launched", self.ran(env=self.environment(LD_PRELOAD=str(KILLING), KILL_IN="/no/such/place")))
        self.assertIn("/no/such/library.so", self.ran(env=self.environment(LD_PRELOAD="/no/such/library.so")))
        helper = PTXASW.parent / "libptxasw_launch.so"
        self.assertIn("1 of 1 kernels", self.good("faster-module", LD_PRELOAD=str(helper)))
        inner = self.good("", command=[str(PTXASW), "faster", str(HOST), "faster-module"], FASTER_KNOWN="1")
        self.assertEqual(inner.count("1 of 1 kernels"), 1, inner)
        self.assertEqual(inner.count("\nptxasw: "), 1, inner)

    def test_where_ptxasw_lies(self):
        for name, library, why in (("a b", True, "LD_PRELOAD cannot hold .*: a blank or a colon ends a path"),
                                   ("alone", False, "libptxasw_launch.so is not beside ptxasw")):
            place = self.dir / name
            place.mkdir()
            for file in (PTXASW, *([PTXASW.parent / "libptxasw_launch.so"] if library else [])):
                shutil.copy(file, place)
            done = subprocess.run([place / PTXASW.name, "faster", *self.ends_with], env=self.environment(), text=True, capture_output=True,
                                  timeout=100)
            self.assertEqual((done.returncode, done.stdout), (3, "ran\n"))
            self.assertRegex(done.stderr, f"^ptxasw: error: nothing is made faster: {why}\n$")

    def test_settings_that_are_none(self):
        said = self.ran("--why", env=self.environment(PTXASW_LAUNCH_MODE="nonsense", PTXASW_LAUNCH_WAIT="-1", PTXASW_LAUNCH_BOGUS="1",
                                                      PTXASW_FASTER="on", PTXASW_LAUNCH_SHARD="9/3"))
        self.assertIn("no kernel was launched", said)

    def test_a_program_that_leaves_others_behind(self):
        """The run is over when the program is; what it left behind runs on, without answers."""
        done = self.dir / "done"
        code = f"({HOST} faster-launches; echo $? > {done}) & echo ran; exit 3"
        self.ran(command=["sh", "-c", code], env=self.environment(FASTER_LAUNCHES="200000"), stderr=subprocess.DEVNULL)
        self.wait_for(lambda: done.exists() and done.read_text())
        self.assertEqual(done.read_text(), "0\n")
        self.assertEqual(list((self.dir / "tmp").glob("ptxasw-faster-*")), [])
        # What writes into the directory of the run while it is removed does not keep it.
        for where in ("$PTXASW_LAUNCH_FASTER", "."):
            writes = f"(cd $PTXASW_LAUNCH_FASTER; for i in $(seq 3000); do true > {where}/x$i; done; echo > {done}) & sleep 0.01; echo ran; exit 3"
            done.unlink()
            self.ran(command=["sh", "-c", writes], stderr=subprocess.DEVNULL)
            self.wait_for(done.exists)
            self.assertEqual(list((self.dir / "tmp").glob("ptxasw-faster-*")), [])

    def test_words(self):
        for words, code, why in ((["--bogus", "true"], 2, "`ptxasw faster` has no option `--bogus`"), (["--profile"], 2, "--profile"),
                                 (["--profile", "/", "true"], 2, "Is a directory"), (["--"], 2, "nothing to run"),
                                 (["--profile", "/dev/null", "true"], 2, "no profile of version 1"),
                                 (["--profile", "/no/such/place/x.toml", "true"], 0, "no kernel was launched")):
            done = self.faster("", *words, command=[])
            self.assertEqual((done.returncode, done.stdout), (code, ""), words)
            self.assertIn(why, done.stderr)
        bogus = subprocess.run([str(PTXASW), "--bogus"], env=self.environment(), text=True, capture_output=True, timeout=100)
        self.assertEqual((bogus.returncode, bogus.stderr), (2, "ptxasw: error: `ptxasw` has no option `--bogus`\n"))


class Remembering(Case):
    """The cache and its faults: none of them costs more than what is remembered."""

    def versions(self):
        return sorted(self.kept.glob("*.versions"))

    def test_damaged_files_are_made_again(self):
        self.good("faster-module")
        (path,) = self.versions()
        whole = path.read_bytes()
        (choices,) = self.kept.glob("*.toml")
        for damage in (b"", whole[:100], whole[:-1], whole + b"x", whole.replace(b"PTXASWF", b"PTXASWG"),
                       bytes([*whole[:200], whole[200] ^ 1, *whole[201:]]), b"\xff" * 5000):
            with self.subTest(bytes=len(damage)):
                path.write_bytes(damage)
                (self.dir / "calls").unlink(missing_ok=True)
                self.good("faster-module", FASTER_KNOWN="1")
                self.assertEqual(path.read_bytes(), whole)
                self.assertEqual(len(self.calls()), 1)
        for damage in ("", "version = 1\n[[choice]]\n", "\x00", "version = 2\n", "[" * 5000):
            with self.subTest(text=damage[:20]):
                choices.write_text(damage)
                self.good("faster-module", FASTER_KNOWN="1")
                self.assertIn("chosen", choices.read_text())

    def test_another_program_or_assembler(self):
        self.good("faster-module")
        self.assembler("cp \"$in\" \"$out\" # a later one")
        self.good("faster-module")
        self.assertEqual(len(self.versions()), 2)

    def test_another_version_of_ptxasw(self):
        """Of the same name, size and time. It makes its own, and who finds that under a name of its own does not read it."""
        place = self.dir / "installed"
        place.mkdir()
        mine, _ = [Path(shutil.copy2(file, place)) for file in (PTXASW, PTXASW.parent / "libptxasw_launch.so")]
        times, whole = mine.stat(), mine.read_bytes()
        version = subprocess.run([mine, "--version"], text=True, capture_output=True, check=True).stdout.split()[1].encode()

        def run(bytes_of_file, scenario):
            mine.unlink()  # a worker may still run it
            mine.write_bytes(bytes_of_file)
            mine.chmod(0o755)
            os.utime(mine, ns=(times.st_atime_ns, times.st_mtime_ns))
            done = subprocess.run([mine, "faster", "--", HOST, scenario], text=True, capture_output=True, timeout=900,
                                  env=self.environment(FASTER_KNOWN="1"))
            self.assertEqual(done.returncode, 0, done.stderr)

        run(whole, "faster-module")
        (first,) = self.versions()
        made = first.read_bytes()
        self.assertIn(version, made)
        run(whole.replace(b"\0" + version + b"\0", b"\0" + version[:-1] + b"~\0"), "faster-brief")
        self.wait_for(lambda: len(self.versions()) == 2)
        (second,) = set(self.versions()) - {first}
        self.assertEqual(len(self.calls()), 2)
        self.assertIn(version[:-1] + b"~", second.read_bytes())
        first.write_bytes(second.read_bytes())
        run(whole, "faster-module")
        self.assertEqual(len(self.calls()), 3)
        self.assertEqual(first.read_bytes(), made)

    def test_another_gpu(self):
        """Of another name, what was chosen does not count; of another architecture, nor does what was made."""
        self.good("faster-library")
        self.good("faster-remembered")
        (known,) = self.kept.glob("*.toml")
        self.assertNotEqual(self.faster("faster-remembered", FAKE_GPU="Slower GPU").returncode, 0)
        self.assertEqual(len(self.calls()), 1)
        self.good("faster-library", FAKE_GPU="Slower GPU", FASTER_KNOWN="1")
        self.assertIn('gpu = "Fake GPU"', known.read_text())
        self.assertIn('gpu = "Slower GPU"', known.read_text())
        self.good("faster-remembered")
        self.assertNotEqual(self.faster("faster-remembered", FAKE_SM="100").returncode, 0)
        self.good("faster-library", FAKE_SM="100", FASTER_KNOWN="1")
        self.assertEqual([word for call in self.calls() for word in call.split() if word.startswith("-arch")],
                         ["-arch=sm_90", "-arch=sm_100"])
        self.assertEqual(len(self.versions()), 2)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_a_directory_that_may_only_be_read(self):
        """What is in it is used."""
        for path in (self.dir, *self.dir.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        self.good("faster-library", user=NOBODY)
        self.good("faster-remembered", user=NOBODY)
        calls = self.calls()
        before = {path.name: path.read_bytes() for path in self.kept.iterdir()}
        self.kept.chmod(0o500)
        for scenario in ("faster-remembered", "faster-library"):
            self.assertIn("nothing is remembered: cannot write", self.good(scenario, user=NOBODY, FASTER_KNOWN="1"))
        self.assertEqual(self.calls(), calls)
        self.assertEqual({path.name: path.read_bytes() for path in self.kept.iterdir()}, before)

    def test_a_directory_that_cannot_be_used(self):
        self.cache.write_text("a file")
        said = self.good("faster-module")
        self.assertIn("nothing is remembered: cannot make", said)
        self.assertIn("1 of 1 kernels run faster versions", said)
        self.cache.unlink()
        self.kept.mkdir(parents=True)
        self.kept.chmod(0o777)
        self.assertIn("is no directory of ours alone", self.good("faster-module"))
        self.kept.chmod(0o700)
        self.kept.parent.chmod(0o777)
        self.assertIn("is no directory of ours alone", self.good("faster-module"))
        self.kept.parent.chmod(0o700)
        self.kept.chmod(0o500)
        if not os.access(self.kept, os.W_OK):  # not for root
            self.assertIn("nothing is remembered: cannot write", self.good("faster-module"))
        self.kept.chmod(0o700)
        self.assertIn("neither XDG_CACHE_HOME nor HOME", self.good("faster-module", XDG_CACHE_HOME="", HOME=""))

    def test_a_full_disk(self):
        """No file may have more than some bytes: first not even the question, then not the answer."""
        for limit in (0, 4096, 30000):
            with self.subTest(limit=limit):
                done = subprocess.run([str(PTXASW), "faster", "--why", "--", str(HOST), "faster-brief"],
                                      env=self.environment(), text=True, capture_output=True, timeout=900,
                                      preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                                                          resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))))
                self.assertEqual(done.returncode, 0, done.stderr)
        self.good("faster-module", FASTER_KNOWN="1")

    def test_whoever_locks_the_cache_is_not_waited_for(self):
        self.good("faster-module")
        (known,) = self.kept.glob("*.toml")
        before = known.read_bytes()
        with open(self.kept / "lock", "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            said = self.good("faster-module", FASTER_KNOWN="1", FAKE_GPU="Another GPU")
            self.assertIn(f"remembered: cannot write to {self.kept}", said)
        self.assertEqual(known.read_bytes(), before)

    def test_what_could_not_be_kept_is_said(self):
        """There is no room for one of two answers; the other is remembered."""
        self.good("faster-module", FASTER_KERNEL="biased")
        self.good("faster-module")
        mine = [path for path in self.versions() if b"biased" not in path.read_bytes()]
        self.assertEqual(len(mine), 1)
        mine[0].unlink()
        mine[0].with_suffix(".toml").unlink()
        mine[0].mkdir()
        said = self.good("faster-module", FASTER_KNOWN="1")
        self.assertRegex(said, rf"saved [\d.]+ ms of [\d.]+ \(\d+ %\)\.\n(.*\n)*  not everything is remembered: cannot write to {self.kept}\n")
        self.assertNotIn("remembered", self.good("faster-module", FASTER_KNOWN="1", FASTER_KERNEL="biased"))

    def test_killed_while_writing(self):
        for i in range(12):
            # In a session of its own, so that all of it can be ended.
            run = subprocess.Popen([str(PTXASW), "faster", "--", str(HOST), "faster-module"], env=self.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(0.015 * i)
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
        self.good("faster-module", FASTER_KNOWN="1")

    def killed_at(self, number, cache):
        """A run in which whoever makes that step in the cache is killed. False: it has fewer."""
        count = self.dir / f"count{number}"
        count.write_bytes(bytes(8))
        run = subprocess.Popen([str(PTXASW), "faster", "--", str(HOST), "faster-module"],
                               env=self.environment(XDG_CACHE_HOME=str(cache), LD_PRELOAD=str(KILLING), KILL_IN=str(cache),
                                                    KILL_AT=str(number), KILL_COUNT=str(count), FASTER_KNOWN="1"),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
        reached = lambda: int.from_bytes(count.read_bytes(), "little") >= number
        while run.poll() is None and not reached():
            time.sleep(0.01)
        if reached():  # a version that it waits for may not come any more
            try:
                run.wait(0.3)
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, signal.SIGKILL)
        said = run.communicate(timeout=900)[1]
        if not reached():
            self.assertEqual(run.returncode, 0, said)
        for path in cache.glob("ptxasw/faster/*"):
            self.assertTrue(self.is_whole(path), path)
        return reached()

    def is_whole(self, path):
        """What is under its name in the cache was written to its end."""
        whole = path.read_bytes()
        if path.suffix == ".versions":  # the last part is a checksum of all before it, behind its length
            return whole[-40:] == (32).to_bytes(8, "little") + long_hash(whole[:-40]).encode()
        return path.suffix != ".toml" or whole.endswith(b"\n") and re.search(rb"\nchosen_us = [\d.]+\n", whole[whole.rfind(b"[[choice]]"):]) is not None

    def test_killed_at_every_write(self):
        """Of what a first run writes, each time from nothing; then of what a later one does, in one cache."""
        def is_good_after(number):
            cache = self.dir / f"cache{number}"
            cache.mkdir()
            killed = self.killed_at(number, cache)
            self.good("faster-module", FASTER_KNOWN="1", XDG_CACHE_HOME=str(cache))
            self.assertIn('chosen = "add__ptxasw_', next(cache.glob("ptxasw/faster/*.toml")).read_text())
            return killed

        with ThreadPoolExecutor(4) as pool:
            for first in itertools.count(1, 4 * STRIDE):
                killed = list(pool.map(is_good_after, range(first, first + 4 * STRIDE, STRIDE)))
                if not all(killed):
                    break
        self.assertGreater(first, 16)
        (self.cache).mkdir()
        self.good("faster-module")
        for number in itertools.count(1, STRIDE):
            killed = self.killed_at(number, self.cache)
            self.good("faster-module", FASTER_KNOWN="1")
            if not killed:
                break
        self.assertGreater(number, 4)

    def test_no_file_may_be_large(self):
        """What the helper writes does not end the program by SIGXFSZ."""
        for limit in (0, 1024, 4096):
            with self.subTest(limit=limit):
                done = subprocess.run([str(PTXASW), "faster", "--", str(HOST), "faster-brief"], env=self.environment(), text=True,
                                      capture_output=True, timeout=900,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                self.assertEqual(done.returncode, 0, done.stderr)
        self.good("faster-module", FASTER_KNOWN="1")

    def test_what_others_may_write_is_not_read(self):
        self.good("faster-module")
        (path,) = self.versions()
        self.kept.chmod(0o777)
        self.assertIn("no directory of ours alone", self.good("faster-module"))
        self.assertEqual(len(self.calls()), 2)
        self.kept.chmod(0o700)
        elsewhere = self.dir / "elsewhere"
        path.rename(elsewhere)
        path.symlink_to(elsewhere)
        elsewhere.chmod(0o400)
        inode = elsewhere.stat().st_ino
        self.good("faster-module")
        self.assertEqual(len(self.calls()), 3)
        self.assertFalse(path.is_symlink())
        self.assertEqual(elsewhere.stat().st_ino, inode)
        if os.geteuid() == 0:
            os.chown(path, 1, 1)
            self.good("faster-module")
            self.assertEqual(len(self.calls()), 4)

    def test_a_directory_that_is_gone_gets_no_answer(self):
        """The run has ended, and its directory is somebody else's, when a version comes."""
        self.assembler(f"ls -d $TMPDIR/ptxasw-faster-*/*.question > {self.dir}/where\ntouch {self.dir}/started\n"
                       f"while [ ! -e {self.dir}/go ]; do sleep 0.05; done; cp \"$in\" \"$out\"")
        self.good("", command=["sh", "-c", f"{HOST} faster-brief; while [ ! -e {self.dir}/started ]; do sleep 0.05; done"])
        question = Path((self.dir / "where").read_text().strip())
        self.assertFalse(question.parent.exists())
        question.parent.mkdir()
        victim = self.dir / "victim"
        victim.write_text("as it was")
        question.with_suffix(".answer").symlink_to(victim)
        (self.dir / "go").touch()
        self.wait_for(lambda: list(self.kept.glob("*.versions")))
        self.wait_for(lambda: not list((self.dir / "tmp").glob("ptxasw-make-*")))
        self.assertEqual(victim.read_bytes(), b"as it was")
        self.assertEqual([one.suffix for one in question.parent.iterdir()], [".answer"])

    @unittest.skipUnless(shutil.which("prlimit"), "needs prlimit")
    def test_no_memory_for_what_was_assembled(self):
        """It ends the process that makes versions, and nothing else: the program's directory stays."""
        self.assembler("truncate -s 200M \"$out\"; prlimit --pid $PPID --as=1")
        said = self.good("faster-kept", "--why", FASTER_KERNEL="add", FASTER_UNANSWERED="1")
        self.assertIn("its versions did not come before the program ended", said)

    def test_an_assembler_that_takes_too_long_is_not_asked_again(self):
        self.assembler("kill -XCPU $$")
        for _ in range(2):
            self.assertIn("assembling versions takes too long", self.good("faster-kept", "--why", FASTER_KERNEL="add"))
        self.assertEqual(len(self.calls()), 1)

    def test_a_program_that_keeps_what_nvrtc_made(self):
        """The next run loads the machine code without NVRTC, and its versions run from the first launch on."""
        code = str(self.dir / "code")
        self.good("faster-keeps-code", FASTER_CODE_FILE=code)
        (known,) = self.kept.glob("*.compiled")
        os.utime(known, (1000, 1000))
        self.good("faster-kept-code", FASTER_CODE_FILE=code)
        self.assertEqual(len(self.calls()), 1)
        self.assertGreater(known.stat().st_mtime, 1000)  # it was used
        self.good("faster-short-code", FASTER_CODE_FILE=code)
        self.assertIn("machine code of it and no PTX; if CuPy or PyTorch kept it",
                      self.good("faster-unknown-code", "--why", FASTER_CODE_FILE=code, XDG_CACHE_HOME=str(self.dir / "other")))
        self.good("faster-keeps-code", FASTER_CODE_FILE=code, FASTER_KNOWN="1")
        self.assertEqual(list(self.kept.glob("*.compiled")), [known])

    def test_a_program_that_ends_before_versions_of_what_nvrtc_made_are_there(self):
        code = {"FASTER_CODE_FILE": str(self.dir / "code"), "FASTER_BRIEF": "1"}
        self.good("faster-keeps-code", **code)
        self.wait_for(self.versions)
        self.good("faster-kept-code", **code)
        self.assertEqual(len(self.calls()), 1)

    def test_what_nvrtc_made_is_known_to_what_the_program_starts(self):
        script = f"{HOST} faster-keeps-code; until grep -qE '^[0-9a-f]{{32}}-' $PTXASW_LAUNCH_FASTER/compiled; do sleep 0.01; done; " \
                 f"{HOST} faster-kept-code"
        self.good("", command=["sh", "-c", script], FASTER_CODE_FILE=str(self.dir / "code"), FASTER_BRIEF="1")
        self.assertEqual(len(self.calls()), 1)

    def test_damaged_and_foreign_files_of_what_nvrtc_made(self):
        code = self.dir / "code"
        self.good("faster-keeps-code", FASTER_CODE_FILE=str(code))
        (known,) = self.kept.glob("*.compiled")
        whole = known.read_bytes()
        unknown = lambda: self.assertIn("machine code of it and no PTX",
                                        self.good("faster-unknown-code", "--why", FASTER_CODE_FILE=str(code)))
        for damage in (b"", whole[:20], whole[:-1], whole + b" ", whole.replace(b"add.s32", b"sub.s32"), b"\xff" * 5000):
            with self.subTest(bytes=len(damage)):
                known.write_bytes(damage)
                unknown()
        known.unlink()
        with self.subTest("a link"):
            (self.dir / "elsewhere").write_bytes(whole)
            known.symlink_to(self.dir / "elsewhere")
            unknown()
            known.unlink()
        with self.subTest("a directory"):
            known.mkdir()
            unknown()
            known.rmdir()
        with self.subTest("a name that is none"):
            for name in ("x.compiled", f"{0:032x}.compiled", f"{0:032x}-.compiled", f"{0:032x}-9 9.compiled", "a\nb.compiled"):
                (self.kept / name).write_bytes(whole)
            unknown()
        with self.subTest("other code of this size"):
            known.write_bytes(whole)
            bytes_of_code = code.read_bytes()
            code.write_bytes(bytes_of_code.replace(b"Generated", b"generated"))
            unknown()
            code.write_bytes(bytes_of_code)
        if os.geteuid() == 0:
            with self.subTest("another user's"):
                os.chown(known, 1, 1)
                unknown()
                os.chown(known, 0, 0)
        self.kept.chmod(0o777)
        with self.subTest("what others may write"):
            unknown()
        self.kept.chmod(0o700)
        self.good("faster-kept-code", FASTER_CODE_FILE=str(code))
        known.write_bytes(b"damaged")  # NVRTC makes it again
        self.good("faster-keeps-code", FASTER_CODE_FILE=str(code), FASTER_KNOWN="1")
        self.assertEqual(known.read_bytes(), whole)

    def test_two_programs_at_once(self):
        self.assembler("sleep 0.5; cp \"$in\" \"$out\"")
        runs = [subprocess.Popen([str(PTXASW), "faster", "--", str(HOST), "faster-module"], env=self.environment(FASTER_KNOWN="1"),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(4)]
        for run in runs:
            said = run.communicate(timeout=900)[1]
            self.assertEqual(run.returncode, 0, said)
            self.assertIn("1 of 1 kernels run faster versions", said)
        self.assertEqual(len(self.calls()), 1)

    def test_ranks_of_one_program(self):
        """Each has its own counts and one line; the first has the table, and all have one cache."""
        runs = [subprocess.Popen([str(PTXASW), "faster", *(["--why"] if rank == 2 else []), "--", str(HOST), "faster-module"],
                                 env=self.environment(FASTER_KNOWN="1", OMPI_COMM_WORLD_RANK=str(rank)),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for rank in range(3)]
        for rank, run in enumerate(runs):
            said = run.communicate(timeout=900)[1]
            self.assertEqual(run.returncode, 0, said)
            self.assertRegex(said, rf"^ptxasw: rank {rank}: 1 of 1 kernels run faster versions: .*\n")
            self.assertEqual(len(said.splitlines()), 1 if rank == 1 else 2, said)
        self.assertEqual(len(self.calls()), 1)
        self.assertEqual(len(self.versions()), 1)
        self.good("faster-module", FASTER_KNOWN="1")

    def test_ranks_with_one_profile(self):
        """Each adds to it what it found, and loses nothing of the others'."""
        profile, go = self.dir / "all.toml", self.dir / "go"
        kernels = ("add", "scaled", "biased", "indexed")
        code = f"{HOST} faster-module && touch {self.dir}/ready-$PMI_RANK && while [ ! -e {go} ]; do sleep 0.01; done"
        runs = [subprocess.Popen([str(PTXASW), "faster", "--profile", str(profile), "sh", "-c", code],
                                 env=self.environment(FASTER_KNOWN="1", FASTER_KERNEL=kernel, PMI_RANK=str(rank)),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for rank, kernel in enumerate(kernels)]
        self.wait_for(lambda: len(list(self.dir.glob("ready-*"))) == len(kernels))
        go.touch()  # they end at once
        for run in runs:
            said = run.communicate(timeout=900)[1]
            self.assertEqual(run.returncode, 0, said)
        self.assertEqual(sorted(re.findall(r'(?m)^kernel = "(\w+)"$', profile.read_text())), sorted(kernels))

    def test_whether_there_are_ranks(self):
        for how, rank in (*(({name: "3"}, "rank 3: ") for name in RANKS[:-1]),
                          ({"SLURM_PROCID": "3", "SLURM_NTASKS": "4"}, "rank 3: "),
                          ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, ""), ({"SLURM_PROCID": "0"}, ""),
                          ({"PMI_RANK": ""}, ""), ({"PMI_RANK": "-1"}, ""), ({"PMI_RANK": "3x"}, ""),
                          ({"PMI_RANK": "9" * 40}, "")):
            with self.subTest(**how):
                self.assertTrue(self.good("", command=["true"], **how).startswith(f"ptxasw: {rank}no kernel was launched"))

    def test_nodes_of_a_cluster(self):
        """With one folder on a shared file system; everything else is the node's own."""
        runs = []
        for node in ("a", "b"):
            own = self.dir / node
            own.mkdir()
            runs.append(subprocess.Popen([str(PTXASW), "faster", "--", str(HOST), "faster-module"], stdout=subprocess.DEVNULL,
                                         env=self.environment(FASTER_KNOWN="1", HOME=str(own), TMPDIR=str(own)),
                                         stderr=subprocess.PIPE, text=True))
        for run in runs:
            said = run.communicate(timeout=900)[1]
            self.assertEqual(run.returncode, 0, said)
            self.assertIn("1 of 1 kernels run faster versions", said)
        self.assertEqual(len(self.calls()), 1)
        # With a folder of its own, and the choices of another.
        profile = str(self.dir / "choices.toml")
        self.good("faster-module", "--profile", profile, FASTER_KNOWN="1")
        said = self.good("faster-module", "--profile", profile, XDG_CACHE_HOME=str(self.dir / "c"), HOME=str(self.dir / "c"))
        self.assertIn("1 of 1 kernels run faster versions", said)

    def test_what_is_old_goes_when_there_is_too_much(self):
        self.good("faster-module")
        (path,) = self.versions()
        for i in range(40):
            other = self.kept / f"{i:032x}.versions"
            with open(other, "wb") as file:
                file.truncate(8 << 20)
            os.utime(other, (1000 + i, 1000 + i))
        compiled = self.kept / f"{0:032x}-9.compiled"
        compiled.write_text("used longest ago")
        os.utime(compiled, (900, 900))
        leftover = self.kept / "x.versions.Ab12"
        leftover.write_text("half")
        os.utime(leftover, (1000, 1000))
        not_ours = self.kept / "thesis.txt"
        not_ours.write_text("whole")
        os.utime(not_ours, (1000, 1000))
        self.assembler("cp \"$in\" \"$out\" # another")
        self.good("faster-module")
        left = self.versions()
        self.assertIn(path, left)
        self.assertNotIn(self.kept / f"{0:032x}.versions", left)
        self.assertIn(self.kept / f"{39:032x}.versions", left)
        self.assertLessEqual(sum(one.stat().st_size for one in left), 256 << 20)
        self.assertFalse(leftover.exists())
        self.assertFalse(compiled.exists())
        self.assertTrue(not_ours.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:], verbosity=2)
