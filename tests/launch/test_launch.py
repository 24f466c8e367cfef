"""The launch helper under a fake driver: each scenario of `host` is a program that comes to its
launches in one of the ways in which programs do, and says itself if anything is not as it should be.

test_launch.py HELPER HOST FAKE NEWER NEIGHBOUR LINKED PTXASW: the helper, the program, two drivers, another
interposer, the program with the helper linked in, and ptxasw."""

import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HELPER, HOST, FAKE, NEWER, NEIGHBOUR, LINKED, PTXASW = [Path(word).resolve() for word in sys.argv[1:8]]
ROOT = Path(__file__).resolve().parent.parent.parent
for name in [n for n in os.environ if n.startswith("PTXASW_") or n == "LD_PRELOAD"]:
    del os.environ[name]

# Scenarios that need more than the helper in its simplest mode; each has a test of its own below, those of
# `ptxasw faster` in test_faster.py.
SPECIAL = {"rtld-next", "newer-driver", "off", "tune", "tune-resized", "profiled", "verify", "jit", "cost"}
HASH = "0123456789abcdef"
SIBLING = "add__ptxasw_retile_apart_x4"


def run(scenario, driver=FAKE, preload=(HELPER,), host=HOST, **extra):
    environment = {**os.environ, "LD_PRELOAD": ":".join(map(str, preload)),
                   "LD_LIBRARY_PATH": str(driver.parent), **extra}
    return subprocess.run([str(host), scenario], env=environment, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, capture_output=True)


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def good(self, scenario, *words, **extra):
        done = run(scenario, *words, **extra)
        self.assertEqual(done.returncode, 0, f"{scenario}: {done.stdout}{done.stderr}")
        return done

    def results(self):
        """What the processes of one run wrote for the tuner."""
        return [json.loads(path.read_text()) for path in sorted(self.dir.glob("*.json"))]

    def log(self):
        return [json.loads(line) for line in (self.dir / "log").read_text().splitlines()]


class Runs(Case):
    def test_another_threads_run(self):
        self.good("measure-meanwhile", PTXASW_LAUNCH_MODE="tune", PTXASW_LAUNCH_LOG=str(self.dir / "log"))
        trials = [line for line in self.log() if line["event"] == "trial"]
        runs = [line["us"] for line in trials if line["version"] == "original" and line["launches"] > 1]
        self.assertGreater(len(runs), 2)
        self.assertGreater(min(runs), 10.4)


class Scenarios(Case):
    def test_each(self):
        every = subprocess.run([str(HOST), "--list"], capture_output=True, text=True).stdout.split()
        self.assertGreater(len(every), 20)
        self.assertLessEqual(SPECIAL, set(every))
        for scenario in every:
            if scenario in SPECIAL or scenario.startswith("faster"):
                continue
            mode = "measure" if scenario.startswith("measure") else "first"
            with self.subTest(scenario=scenario):
                self.assertEqual(self.good(scenario, PTXASW_LAUNCH_MODE=mode).stderr, "")

    def test_each_with_the_helper_linked_in(self):
        every = subprocess.run([str(LINKED), "--list"], capture_output=True, text=True).stdout.split()
        for scenario in every:
            if scenario in SPECIAL or scenario.startswith("faster"):
                continue
            mode = "measure" if scenario.startswith("measure") else "first"
            with self.subTest(scenario=scenario):
                self.assertEqual(self.good(scenario, preload=(), host=LINKED, PTXASW_LAUNCH_MODE=mode).stderr, "")

    def test_behind_and_before_another_interposer(self):
        self.good("rtld-next", preload=(HELPER, NEIGHBOUR), PTXASW_LAUNCH_MODE="first")
        self.good("rtld-next", preload=(NEIGHBOUR,), host=LINKED, PTXASW_LAUNCH_MODE="first")

    def test_a_driver_of_the_future(self):
        self.good("newer-driver", driver=NEWER, PTXASW_LAUNCH_MODE="first")

    def test_off(self):
        self.good("off", PTXASW_LAUNCH_MODE="off")
        self.good("off", PTXASW_LAUNCH_MODE="first", PTXASW_LAUNCH_ONLY="no such name")
        for wait in "soon", "-1", "5 ms", "nan":
            self.assertIn(f"PTXASW_LAUNCH_WAIT is `{wait}`, which is no number of milliseconds; ignored",
                          self.good("off", PTXASW_LAUNCH_MODE="off", PTXASW_LAUNCH_WAIT=wait).stderr)

    def test_the_cost_of_a_launch_is_told(self):
        for mode in "first", "measure":
            self.assertRegex(self.good("cost", PTXASW_LAUNCH_MODE=mode, FAKE_IDLE="1").stdout,
                             r"^((with(out)?|decided against) siblings: \d+\.\d ns per launch\n){3}$")

    def test_settings_that_are_none(self):
        done = self.good("off", PTXASW_LAUNCH_MODE="fastest", PTXASW_LAUNCH_PROFIL="x")
        self.assertIn("`fastest`", done.stderr)
        self.assertIn("PTXASW_LAUNCH_PROFIL is no setting", done.stderr)


class Saying(Case):
    def test_the_log(self):
        log = self.dir / "log"
        self.good("dlsym", PTXASW_LAUNCH_MODE="first", PTXASW_LAUNCH_LOG=str(log))
        kernel, end = self.log()
        self.assertEqual((kernel["event"], kernel["kernel"], kernel["hash"], kernel["siblings"]),
                         ("kernel", "add", HASH, [SIBLING]))
        self.assertEqual((end["event"], end["launches"], end["redirected"], end["kept"], end["off"]),
                         ("end", 2, 2, {}, ""))

    def test_reasons_are_counted(self):
        log = self.dir / "log"
        self.good("needs", PTXASW_LAUNCH_MODE="first", PTXASW_LAUNCH_LOG=str(log))
        kept = self.log()[-1]["kept"]
        for reason in ("block-shape", "block-size", "grid", "dynamic-shared", "alignment", "divisibility"):
            self.assertGreaterEqual(kept[reason], 1, reason)
        self.good("deepbind", PTXASW_LAUNCH_MODE="first", PTXASW_LAUNCH_LOG=str(log))
        self.assertEqual(self.log()[-1]["off"], "deep-bind")
        self.assertEqual(self.log()[-1]["kept"], {"off": 1})

    def test_check_says_what_is_in_the_way(self):
        said = self.good("needs", PTXASW_LAUNCH_MODE="first", PTXASW_LAUNCH_CHECK="1").stderr
        for words in (f"add: {SIBLING} is not used: the block is 256x1x1, and must be 128x1x1 or 16x16x1",
                      "the block has 512 threads, and may have 256",
                      "the grid is 31x1x1, and must be at least 32x1x1",
                      "the launch has 16 bytes of dynamic shared memory, and must have none",
                      "it would need 232960 bytes of shared memory, and 232448 are there",
                      "the address 0x1008 in parameter 0 is no multiple of 16",
                      "the number 7 in parameter 2 is no multiple of 4"):
            self.assertIn(words, said)

    def test_check_says_what_measuring_does_not_try(self):
        for told, extra in ((True, {"PTXASW_LAUNCH_CHECK": "1"}), (False, {})):
            said = self.good("measure-few-blocks", PTXASW_LAUNCH_MODE="measure", **extra).stderr
            self.assertEqual(f"add: {SIBLING} is not used: a grid of 1x1x1 would leave multiprocessors" in said,
                             told, said)

    def test_a_log_that_cannot_be_written(self):
        self.assertEqual(self.good("dlsym", PTXASW_LAUNCH_MODE="first",
                                   PTXASW_LAUNCH_LOG="/nowhere/log").stderr, "")


class Choosing(Case):
    def tune(self, **extra):
        self.good("tune", PTXASW_LAUNCH_MODE="tune", PTXASW_LAUNCH_RESULTS=str(self.dir), **extra)
        (result,) = self.results()
        return result

    def test_tuning_finds_what_wins(self):
        choices = self.tune(SIBLING_US="60")["choices"]
        chosen = {(c["block"][0], c["decided"]): c["chosen"] for c in choices if c["launches"] == 100}
        self.assertEqual(chosen, {(256, True): SIBLING})
        (choice,) = [c for c in choices if c["launches"] == 100]
        original, sibling = choice["versions"]
        self.assertAlmostEqual(original["us"], 100, delta=1)
        self.assertAlmostEqual(sibling["ratio"], 0.6, delta=0.01)
        self.assertLess(sibling["high"], 0.98)
        self.assertEqual((choice["gpu"], choice["threads"], choice["among"]), ("Fake GPU", 14, [SIBLING]))
        # Launched once: nothing can be said.
        self.assertIn((128, False, "original"), [(c["block"][0], c["decided"], c["chosen"]) for c in choices])

    def test_tuning_finds_other_blocks(self):
        self.good("tune-resized", PTXASW_LAUNCH_MODE="tune", PTXASW_LAUNCH_RESULTS=str(self.dir))
        ((choice,),) = [result["choices"] for result in self.results()]
        self.assertEqual((choice["block"], choice["decided"], choice["chosen"]), ([256, 1, 1], True, "add__ptxasw_resize_b64"))

    def test_equal_and_slower_ones_do_not_win(self):
        for microseconds in ("100", "99", "130"):
            for path in self.dir.glob("*.json"):
                path.unlink()
            choices = self.tune(SIBLING_US=microseconds)["choices"]
            self.assertEqual({c["chosen"] for c in choices}, {"original"})

    def test_what_is_left_open_for_other_numbers_is_not_told(self):
        self.good("measure-numbers-open", PTXASW_LAUNCH_MODE="measure", PTXASW_LAUNCH_RESULTS=str(self.dir))
        ((*choices,),) = [result["choices"] for result in self.results()]
        self.assertEqual(sorted(choice["numbers"] for choice in choices), [[[2, 10]], [[2, 20]]])

    def test_what_is_chosen_again_is_written_at_once(self):
        self.good("measure-later", PTXASW_LAUNCH_MODE="measure", PTXASW_LAUNCH_RESULTS=str(self.dir), ENDS_AT_ONCE="1")
        ((choice,),) = [result["choices"] for result in self.results()]
        self.assertEqual((choice["decided"], choice["chosen"]), (True, "original"))

    def test_results_stay_when_there_are_no_others(self):
        self.good("measure-stuck", PTXASW_LAUNCH_MODE="measure", PTXASW_LAUNCH_RESULTS=str(self.dir))
        ((choice,),) = [result["choices"] for result in self.results()]
        self.assertEqual(choice["chosen"], SIBLING)

    def profile(self, chosen, hash_=HASH, gpu="Fake GPU", threads=14):
        path = self.dir / "profile.toml"
        path.write_text(f"""version = 1
[[choice]]
kernel = "add"
hash = "{hash_}"
gpu = "{gpu}"
block = [256, 1, 1]
threads = {threads}
among = ["{SIBLING}"]
chosen = "{chosen}"
original_us = 100.0
chosen_us = 60.0
""")
        return str(path)

    def test_a_profile_is_followed_and_measures_nothing(self):
        log = self.dir / "log"
        self.good("profiled", PTXASW_LAUNCH_PROFILE=self.profile(SIBLING), SIBLING_WINS="1",
                  PTXASW_LAUNCH_LOG=str(log))
        self.assertEqual(self.log()[-1]["kept"], {"not-in-profile": 1})
        self.good("profiled", PTXASW_LAUNCH_PROFILE=self.profile("original"), PTXASW_LAUNCH_LOG=str(log))
        self.assertEqual(self.log()[-1]["kept"], {"not-in-profile": 1, "original": 5})

    def test_a_profile_of_something_else_is_ignored(self):
        for other in ({"gpu": "Another GPU"}, {"threads": 15}):
            done = self.good("profiled", PTXASW_LAUNCH_PROFILE=self.profile(SIBLING, **other))
            self.assertEqual(done.stderr, "")
        done = self.good("profiled", PTXASW_LAUNCH_PROFILE=self.profile(SIBLING, hash_="f" * 16))
        self.assertIn("is of other code of add; its entries are ignored", done.stderr)

    def test_an_entry_without_numbers_beside_one_with_them(self):
        """Of another GPU, or for launches of another size."""
        text = Path(self.profile(SIBLING)).read_text()
        for change in (("Fake GPU", "Another GPU"), ("threads = 14", "threads = 20")):
            path = self.dir / "two.toml"
            path.write_text(text + text[text.index("[[choice]]"):].replace(*change) + "numbers = [[2, 7]]\n")
            self.good("profiled", PTXASW_LAUNCH_PROFILE=str(path), SIBLING_WINS="1")

    def test_a_profile_that_is_none(self):
        path = self.dir / "bad.toml"
        for text, words in (("version = 2\n", "no profile of version 1"), ("version = \n", ":1:"),
                            ("version = 1\n[[choice]]\nkernel = 3\n", "`kernel` must be a text")):
            path.write_text(text)
            self.assertIn(words, self.good("profiled", PTXASW_LAUNCH_PROFILE=str(path)).stderr)
        self.assertIn("cannot read the profile",
                      self.good("profiled", PTXASW_LAUNCH_PROFILE="/nowhere").stderr)


class Commands(Case):
    """ptxasw launch, ptxasw tune, ptxasw status."""

    def ptxasw(self, *words, **extra):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(FAKE.parent), **extra}
        return subprocess.run([str(PTXASW), *map(str, words)], env=environment, text=True, timeout=120, cwd=self.dir,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def test_bisect_over_siblings(self):
        def bisect(broken, *words, program=("ptxasw-launch", HOST, "broken")):
            command = [str(PTXASW), "launch", "--", *map(str, program[1:])] if program[0] == "ptxasw-launch" else list(program)
            return subprocess.run([str(PTXASW), "bisect", "--versions", *words, "--", *command], text=True, capture_output=True,
                                  timeout=120, env={**os.environ, "LD_LIBRARY_PATH": str(FAKE.parent), **broken})
        for name in ("add__ptxasw_v1", "add__ptxasw_v3", "scale__ptxasw_v2"):
            done = bisect({"BROKEN": name})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"sibling {name} makes the command fail\n  kernel {name.split('__')[0]}\n", done.stdout)
            self.assertIn(f"  alone: PTXASW_LAUNCH_MODE=first PTXASW_LAUNCH_ONLY=={name}\n", done.stdout)
        self.assertIn("with version 2 of 3, of 2 kernels: the command fails", done.stderr)
        # Nothing to find, the reason elsewhere, no helper, nothing that can be run.
        for broken, program, why in (({}, None, "succeeds with every version"), ({"BROKEN": "add"}, None, "reason is elsewhere"),
                                     ({}, ("/bin/true",), "ran no program under the launch helper"),
                                     ({}, ("/no/such",), "cannot be run")):
            done = bisect(broken, **({"program": program} if program else {}))
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(why, done.stderr)

    def test_only_these(self):
        for only, ran in (("=add__ptxasw_v2", "v2"), ("=x,add__ptxasw_v3,y", "v3"), ("_v2", "v2"), ("=", ""), ("=v2", "")):
            done = self.ptxasw("launch", "--unmeasured", "--choose", only, "--", HOST, "broken", BROKEN=f"add__ptxasw_{ran}" if ran else "add__ptxasw_v1")
            self.assertEqual(done.returncode != 0, bool(ran), only)

    def test_progress_of_tune(self):
        """On a terminal that the program's output does not go to."""
        shown = b""
        ours, theirs = pty.openpty()
        environment = {name: value for name, value in os.environ.items() if name != "CI"}
        environment.update({"LD_LIBRARY_PATH": str(FAKE.parent), "TERM": "xterm"})
        # What the program does, and then nothing until that was seen.
        os.mkfifo(self.dir / "seen")
        command = [str(PTXASW), "tune", "--", "/bin/sh", "-c", f"{HOST} tune; read word < seen"]
        process = subprocess.Popen(command, env=environment, cwd=self.dir, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        try:
            told = False
            while part := os.read(ours, 4096):
                shown += part
                if not told and re.search(rb"tune: \d+ s, [1-9]\d* kernels and shapes decided", shown):
                    (self.dir / "seen").write_text("yes\n")
                    told = True
        except OSError:  # a terminal that no one has open anymore
            pass
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertRegex(shown, rb"tune: \d+ s, [1-9]\d* kernels and shapes decided")
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown)

    def test_tune_then_launch(self):
        tuned = self.ptxasw("tune", "--profile", "p.toml", "--tuner-json", "t4.json", "--", HOST, "tune")
        self.assertEqual((tuned.returncode, tuned.stderr), (0, ""))
        self.assertRegex(tuned.stdout, r"add in blocks of 256x1x1, 2\^14 threads, 100 launches on Fake GPU\n"
                                       r"  original +\d+\.\d\d us\n"
                                       rf"  {SIBLING} +\d+\.\d\d us  0\.\d+ \(0\.\d+ to 0\.\d+\)  chosen")
        self.assertIn("launched too seldom to say; the original stays", tuned.stdout)
        self.assertRegex(tuned.stdout, r"104 launches, \d+ of them siblings; originals: 3 block-shape, \d+ measuring")
        self.assertRegex(tuned.stdout, r"What was chosen saves [34]\.\d+ ms of such a run\.")
        done = self.ptxasw("launch", "--profile", "p.toml", "--log", "log", "--", HOST, "profiled", SIBLING_WINS="1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.log()[-1]["redirected"], 5)

    def test_tuning_again_measures_only_what_is_new(self):
        words = ("tune", "--profile", "p.toml")
        self.ptxasw(*words, "--", HOST, "tune")
        first = (self.dir / "p.toml").read_text()
        again = self.ptxasw(*words, "--", HOST, "tune")
        self.assertIn(f"  {SIBLING} " + " " * 17 + "as the profile says", again.stdout)
        self.assertEqual((self.dir / "p.toml").read_text(), first)
        anew = self.ptxasw(*words, "--again", "--", HOST, "tune", SIBLING_US="150")
        self.assertNotIn("as the profile says", anew.stdout)
        self.assertIn('chosen = "original"', (self.dir / "p.toml").read_text())

    def test_parts_of_the_kernels(self):
        whole = self.ptxasw("tune", "--profile", "whole.toml", "--", HOST, "tune")
        kernels = set(re.findall(r"^(\w+) in blocks", whole.stdout, re.M))
        shown = []
        for part in ("1/3", "2/3", "3/3"):
            done = self.ptxasw("tune", "--shard", part, "--profile", f"{part[0]}.toml", "--", HOST, "tune")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            shown += sorted(set(re.findall(r"^(\w+) in blocks", done.stdout, re.M)))
        self.assertEqual(sorted(shown), sorted(kernels))  # each in one part
        merged = self.ptxasw("merge", "1.toml", "2.toml", "3.toml")
        self.assertEqual((merged.returncode, merged.stderr), (0, ""))
        chosen = re.compile(r"^(?:kernel|block|threads|chosen) = .*", re.M)
        self.assertEqual(chosen.findall(merged.stdout), chosen.findall((self.dir / "whole.toml").read_text()))
        self.assertIn("SHARD is `4/3`, which is no part", self.ptxasw(
            "launch", "--", HOST, "tune", PTXASW_LAUNCH_SHARD="4/3").stderr)

    def test_ranks_of_a_cluster(self):
        """What the page has Slurm start, as two processes at once, each with folders of its own."""
        page = (Path(__file__).resolve().parents[2] / "docs/ci-and-large-jobs.md").read_text()
        command = re.search(r"^    srun sh -c '(.*)'$", page, re.M)[1].replace("./app", f"{HOST} tune")
        runs = []
        for rank in ("0", "1"):
            own = self.dir / f"node{rank}"
            own.mkdir()
            (own / "ptxasw").symlink_to(PTXASW)
            words = {"SLURM_PROCID": rank, "SLURM_NTASKS": "2", "LD_LIBRARY_PATH": str(FAKE.parent),
                     "PATH": f"{own}:{os.environ['PATH']}", **dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME"), str(own))}
            runs.append(subprocess.Popen(["sh", "-c", command], cwd=self.dir, env={**os.environ, **words}, text=True,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        for run_ in runs:
            said = run_.communicate(timeout=600)
            self.assertEqual((run_.returncode, said[1]), (0, ""))
        merged = self.ptxasw("merge", "0.toml", "1.toml")
        self.ptxasw("tune", "--profile", "whole.toml", "--", HOST, "tune")
        chosen = re.compile(r"^(?:kernel|block|threads|chosen) = .*", re.M)
        self.assertEqual(chosen.findall(merged.stdout), chosen.findall((self.dir / "whole.toml").read_text()))

    def test_the_t4_format(self):
        self.ptxasw("tune", "--tuner-json", "t4.json", "--", HOST, "tune")
        results = json.loads((self.dir / "t4.json").read_text())
        self.assertEqual(results["schema_version"], "1.0.0")
        self.assertEqual({r["configuration"]["version"] for r in results["results"]}, {"original", SIBLING})
        for result in results["results"]:
            self.assertEqual(set(result), {"timestamp", "configuration", "objectives", "times", "invalidity",
                                           "correctness", "measurements"})
            self.assertEqual((result["invalidity"], result["objectives"]), ("correct", ["time"]))
            self.assertGreaterEqual(len(result["times"]["runtimes"]), 4)
            (measured,) = result["measurements"]
            self.assertEqual((measured["name"], measured["unit"]), ("time", "ms"))
            self.assertLess(measured["value"], 0.2)

    def test_results_of_a_helper_that_was_linked_in_before(self):
        self.ptxasw("tune", "--profile", "p.toml", "--", "/bin/sh", "-c", f"{HOST} tune; cp $PTXASW_LAUNCH_RESULTS/*.json old")
        results = json.loads((self.dir / "old").read_text())
        for choice in results["choices"]:
            for name in ("numbers", "candidate", "budget_us", "in_runs"):
                del choice[name]
        (self.dir / "old").write_text(json.dumps(results))
        done = self.ptxasw("tune", "--profile", "q.toml", "--", "/bin/sh", "-c", "cp old $PTXASW_LAUNCH_RESULTS/1.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.dir / "q.toml").read_text(), (self.dir / "p.toml").read_text())
        done = self.ptxasw("faster", "--", "/bin/sh", "-c", "cp old $PTXASW_LAUNCH_RESULTS/1.json",
                           XDG_CACHE_HOME=str(self.dir / "cache"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 of 1 kernels run faster versions", done.stderr)

    def test_exit_codes(self):
        self.assertEqual(self.ptxasw("launch", "--", "/bin/sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(self.ptxasw("launch", "--", "./missing").returncode, 127)
        failed = self.ptxasw("tune", "--", "/bin/sh", "-c", "exit 7")
        self.assertEqual(failed.returncode, 7)
        self.assertIn("the program ended with 7", failed.stderr)
        idle = self.ptxasw("tune", "--", "/bin/true")
        self.assertEqual(idle.returncode, 2)
        self.assertIn("no kernel was launched", idle.stderr)
        for words, said in ((["launch"], "nothing to run"), (["tune"], "nothing to run"),
                            (["launch", "--unmeasured", "--profile", "p", "--", "x"], "do not go together")):
            done = self.ptxasw(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)
        (self.dir / "bad").write_text("version = 1\n[[choice]]\n")
        for command in ("launch", "tune"):
            done = self.ptxasw(command, "--profile", "bad", "--", "/bin/true")
            self.assertEqual(done.returncode, 2)
            self.assertIn("bad:2:1: `kernel` must be a text", done.stderr)
        self.assertEqual(self.ptxasw("launch", "--profile", "none", "--", "/bin/true").returncode, 2)

    def test_words_of_launch(self):
        done = self.ptxasw("launch", "--unmeasured", "--why", "--", HOST, "needs")
        self.assertIn("the address 0x1008 in parameter 0 is no multiple of 16", done.stderr)
        done = self.ptxasw("launch", "--unmeasured", "--verify", "--", HOST, "verify", SIBLING_WRITES="2")
        self.assertIn("computes something else", done.stderr)
        self.assertEqual(self.ptxasw("launch", "--unmeasured", "--choose", "nothing", "--", HOST, "off").returncode, 0)

    def test_status_adds_a_log_up(self):
        self.ptxasw("launch", "--unmeasured", "--log", "log", "--", HOST, "needs")
        self.ptxasw("launch", "--log", "log", "--", HOST, "measure")
        said = self.ptxasw("status", "--launch-log", PTXASW_LAUNCH_LOG="log")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertRegex(said.stdout, r"processes +2\n")
        self.assertIn(" originals: alignment", said.stdout)
        self.assertIn(f"add: has [\"{SIBLING}\"]", said.stdout)
        self.assertIn("the number 7 in parameter 2 is no multiple of 4", said.stdout)
        self.assertRegex(said.stdout, rf"add: blocks of \[256,1,1\], 2\^14 threads, Fake GPU: {SIBLING}, "
                                      r"[\d.]+ us where the original takes [\d.]+ us")
        self.assertIn("none; set PTXASW_LAUNCH_LOG", self.ptxasw("status", "--launch-log").stdout)
        (self.dir / "odd").write_text("no JSON\n3\n{}\n")
        odd = self.ptxasw("status", "--launch-log", PTXASW_LAUNCH_LOG="odd")
        self.assertIn("2 lines are no JSON", odd.stdout)
        self.assertEqual(self.ptxasw("status", "--launch-log", PTXASW_LAUNCH_LOG="/nowhere").returncode, 2)

    def test_status_of_a_program(self):
        text = json.dumps({"kernel": "k", "hash": "0" * 16, "parameters": [], "siblings": [
            {"name": "k__ptxasw_s", "family": "f", "kind": "k", "grid": [2, 1, 1], "append": [],
             "needs": {"cooperative": False, "cluster": False}}]}).encode()
        program = self.dir / "program"
        program.write_bytes(b"ELF...PTXASWS\0PTXASWS\0\2\0\0\0" + len(text).to_bytes(4, "little") + text + b"more")
        said = self.ptxasw("status", program).stdout
        self.assertRegex(said, r"launch helper +not linked in\nsiblings +1\n +k: k__ptxasw_s\n")
        self.assertRegex(self.ptxasw("status", LINKED).stdout, r"launch helper +linked in, version \d+\.\d+\.\d+\nsiblings +none")
        self.assertEqual(self.ptxasw("status", "/nowhere").returncode, 2)


class Verifying(Case):
    def test_equal_results(self):
        log = self.dir / "log"
        self.good("verify", PTXASW_LAUNCH_MODE="first", PTXASW_LAUNCH_VERIFY="1", PTXASW_LAUNCH_LOG=str(log))
        self.assertEqual([line["event"] for line in self.log()], ["kernel", "verified", "verified", "end"])

    def test_the_first_difference_ends_the_program(self):
        done = run("verify", PTXASW_LAUNCH_MODE="first", PTXASW_LAUNCH_VERIFY="1", SIBLING_WRITES="2")
        self.assertEqual(done.returncode, -6)
        self.assertRegex(done.stderr, f"add: {SIBLING} computes something else: byte 0 of the 4000 at 0x[0-9a-f]+ "
                                      r"\(parameter 0\) is 0x02, and 0x01 after the original")

    def test_what_depends_on_the_order_of_blocks_may_differ(self):
        log = self.dir / "log"
        self.good("verify", PTXASW_LAUNCH_MODE="first", PTXASW_LAUNCH_VERIFY="1", SIBLING_WRITES="2", ANY_ORDER="1",
                  PTXASW_LAUNCH_LOG=str(log))
        self.assertEqual([line.get("reason") for line in self.log() if line["event"] == "unverified"],
                         ["what it computes depends on the order of threads"] * 2)

    def test_without_memory_nothing_is_compared(self):
        log = self.dir / "log"
        self.good("verify", PTXASW_LAUNCH_MODE="first", PTXASW_LAUNCH_VERIFY="1", FAKE_FULL="1",
                  PTXASW_LAUNCH_LOG=str(log))
        self.assertEqual([line.get("reason") for line in self.log() if line["event"] == "unverified"],
                         ["no memory for copies"] * 2)


class Jit(Case):
    TEXT = "// made by somebody\n.version 8.0\n.target sm_90\n"

    def rewriter(self, body):
        """A ptxasw that notes its calls and does as it is told."""
        path = self.dir / "ptxasw"
        path.write_text(f"""#!/bin/sh
echo "$*" >> {self.dir}/calls
[ "$1" = config ] && {{ echo key; exit; }}
{body}
""")
        path.chmod(0o755)
        return dict(PTXASW_LAUNCH_JIT="1", PTXASW_LAUNCH_PTXASW=str(path),
                    PTXASW_LAUNCH_CACHE=str(self.dir / "cache"))

    def calls(self):
        return [line.split()[0] for line in (self.dir / "calls").read_text().splitlines()]

    def sizes(self, **extra):
        return [line for line in self.good("jit", **extra).stdout.splitlines() if line.startswith(("ptx", "link"))]

    def test_off_unless_asked_for(self):
        n = len(self.TEXT)
        settings = self.rewriter('exit 1')
        settings.pop("PTXASW_LAUNCH_JIT")
        self.assertEqual(self.sizes(**settings), [f"ptx {n}"] * 3 + [f"link {n} // made by somebody"])
        self.assertFalse((self.dir / "calls").exists())

    def test_rewritten_once_and_kept(self):
        settings = self.rewriter('cat "$2"; echo "// more"')
        n = len(self.TEXT) + 8
        expected = [f"ptx {n}"] * 3 + [f"link {n + 1} // made by somebody"]
        self.assertEqual(self.sizes(**settings), expected)
        self.assertEqual(self.calls(), ["status", "rewrite"])
        self.assertEqual(self.sizes(**settings), expected)
        self.assertEqual(self.calls(), ["status", "rewrite", "status"])

    def test_on_any_doubt_the_original(self):
        n = len(self.TEXT)
        for body in ('exit 1', 'kill -9 $$', 'echo garbage', 'exit 0', 'cat "$2"', 'head -c 30 "$2"; exit 3'):
            settings = self.rewriter(body)
            settings["PTXASW_LAUNCH_CACHE"] = str(self.dir / f"cache {body[:5]}".replace("/", ""))
            self.assertEqual(self.sizes(**settings), [f"ptx {n}"] * 3 + [f"link {n} // made by somebody"], body)

    def test_what_the_driver_does_not_take(self):
        settings = self.rewriter('cat "$2"; echo "// unloadable"')
        sizes = self.sizes(**settings)
        self.assertEqual(sizes[:2], [f"ptx {len(self.TEXT) + 14}", f"ptx {len(self.TEXT)}"])

    def test_no_directory_and_no_program(self):
        n = len(self.TEXT)
        expected = [f"ptx {n}"] * 3 + [f"link {n} // made by somebody"]
        settings = self.rewriter('cat "$2"; echo "// more"')
        self.assertEqual(self.sizes(**{**settings, "PTXASW_LAUNCH_CACHE": "/nowhere/at/all"}), expected)
        self.assertEqual(self.sizes(**{**settings, "PTXASW_LAUNCH_PTXASW": "/nowhere"}), expected)
        shared = self.dir / "shared"
        shared.mkdir()
        shared.chmod(0o777)
        self.assertEqual(self.sizes(**{**settings, "PTXASW_LAUNCH_CACHE": str(shared)}), expected)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[8:]], verbosity=1)
