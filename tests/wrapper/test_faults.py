"""Whatever goes wrong in ptxasw or around it, the build gets what the real ptxas makes, and
nothing is left lying about."""

import json
import os
import resource
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from support import (JACOBI, PTXASW, Scratch, adopt_orphans, link_as_ptxas, main, need_cuda, run,
                     wait_for_orphans)

REAL = need_cuda() / "bin/ptxas"


class Environment(Scratch):
    def setUp(self):
        super().setUp()
        self.write("in.ptx", JACOBI.read_text())
        self.ptxas = link_as_ptxas(self.dir / "bin")
        self.env = dict(os.environ, PTXASW_REAL=str(REAL), PTXASW_SHUFFLE="always",
                        PTXASW_LOG=str(self.dir / "log"))
        run([REAL, "-arch=sm_90", "in.ptx", "-o", "plain"])
        self.plain = (self.dir / "plain").read_bytes()

    def assemble(self, output="out", **options):
        env = dict(self.env, **options.pop("env", {}))
        return run([self.ptxas, "-arch=sm_90", "in.ptx", "-o", output], env=env, **options)

    def last_outcome(self):
        return (self.dir / "log").read_text().strip().split("\n")[-1].split("\t")[2]


class Faults(Environment):
    def test_every_injected_fault_gives_the_plain_result(self):
        for fault, outcome in (("parse", "not-ptx"), ("throw", "failed"), ("memory", "failed"),
                               ("abort", "crashed"), ("crash", "crashed"),
                               ("overflow", "crashed"), ("reject", "rejected")):
            with self.subTest(fault=fault):
                result = self.assemble(env={"PTXASW_INJECT_FAULT": fault})
                self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
                self.assertEqual((self.dir / "out").read_bytes(), self.plain)
                self.assertEqual(self.last_outcome(), outcome)
                (self.dir / "out").unlink()

    def test_without_a_fault_the_result_is_another(self):
        self.assertEqual(self.assemble().returncode, 0)
        self.assertNotEqual((self.dir / "out").read_bytes(), self.plain)
        self.assertEqual(self.last_outcome(), "rewritten")

    def test_status_tells_the_last_run(self):
        self.assemble(env={"PTXASW_INJECT_FAULT": "throw"})
        result = run([PTXASW, "status", "--last-run"], env=self.env)
        self.assertIn("failed\tin.ptx\tinjected fault", result.stdout)

    def test_a_rewrite_that_is_rejected_is_not_in_the_report(self):
        self.assemble(env={"PTXASW_INJECT_FAULT": "reject", "PTXASW_REPORT": "r.json"})
        report = json.loads((self.dir / "r.json").read_text())
        self.assertEqual(sum(kernel["shuffles"] for kernel in report["kernels"]), 0)
        self.assertEqual(sum(len(kernel["rewrites"]) for kernel in report["kernels"]), 0)

    def test_killed_at_any_moment(self):
        """At once, with a temporary file there, while the assembler runs, and when it has ended."""
        adopt_orphans()
        tmp, started, ended = self.dir / "tmp", self.dir / "started", self.dir / "ended"
        tmp.mkdir()
        real = self.write("real", f"#!/bin/sh\ntouch {started}\n{REAL} \"$@\"\ncode=$?\ntouch {ended}\nexit $code\n")
        os.chmod(real, 0o755)
        before = set(os.listdir(self.dir)) | {"log", "out", "started", "ended"}
        moments = {"at once": lambda: True, "a file": lambda: os.listdir(tmp), "started": started.exists, "ended": ended.exists}
        for moment, reached in moments.items():
            for sent in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
                with self.subTest(moment=moment, sent=sent):
                    for path in (started, ended):
                        path.unlink(missing_ok=True)
                    child = subprocess.Popen([str(self.ptxas), "-arch=sm_90", "in.ptx", "-o", "out"],
                                             env=dict(self.env, TMPDIR=str(tmp), PTXASW_REAL=str(real)))
                    while not reached() and child.poll() is None:
                        time.sleep(0.0002)
                    child.send_signal(sent)
                    child.wait()
                    wait_for_orphans()
                    self.assertEqual(set(os.listdir(self.dir)) - before, set())
                    self.assertEqual(os.listdir(tmp), [])
        # Nothing writes to the output after we are gone, and the next run is undisturbed.
        self.assertEqual(self.assemble().returncode, 0)

    def test_no_place_for_temporary_files(self):
        nowhere = {"TMPDIR": "/nonexistent"}
        self.assertEqual(self.assemble(env=nowhere).returncode, 0)
        self.assertEqual(self.last_outcome(), "rewritten")
        self.assertEqual(self.assemble(env={"TMPDIR": "/proc"}).returncode, 0)
        env = {name: value for name, value in self.env.items() if name != "TMPDIR"}
        self.assertEqual(run([self.ptxas, "-arch=sm_90", "in.ptx", "-o", "out"], env=env).returncode,
                         0)

    def test_full_disk(self):
        wanted = run([REAL, "-arch=sm_90", "in.ptx", "-o", "/dev/full"])
        result = self.assemble(output="/dev/full")
        self.assertEqual((result.returncode, result.stderr), (wanted.returncode, wanted.stderr))
        result = self.assemble(env={"PTXASW_REPORT": "/dev/full", "PTXASW_LOG": "/dev/full"})
        self.assertEqual(result.returncode, 0)
        self.assertIn("warning: cannot write `/dev/full`", result.stderr)

    def test_little_memory(self):
        limit = 1 << 30
        result = self.assemble(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                                     (limit, limit)))
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_no_file_may_grow(self):
        # In bytes: too small for the rewritten text and for the output as well.
        limit = 1000

        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        wanted = run([REAL, "-arch=sm_90", "in.ptx", "-o", "plain"], preexec_fn=small)
        result = self.assemble(preexec_fn=small)
        self.assertEqual((result.returncode, result.stderr), (wanted.returncode, wanted.stderr))

    def test_ten_at_once_in_one_directory(self):
        self.assemble("one")
        wanted = (self.dir / "one").read_bytes()
        with ThreadPoolExecutor(10) as pool:
            results = list(pool.map(lambda n: self.assemble(f"out{n}"), range(10)))
        for number, result in enumerate(results):
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual((self.dir / f"out{number}").read_bytes(), wanted)

    def test_the_same_bytes_every_time(self):
        self.assemble("one")
        self.assemble("two", env={"LANG": "C", "TMPDIR": str(self.dir)})
        self.assertEqual((self.dir / "one").read_bytes(), (self.dir / "two").read_bytes())

    def test_output_over_input(self):
        self.assemble("wanted")
        self.assertEqual(self.assemble("in.ptx").returncode, 0)
        self.assertEqual((self.dir / "in.ptx").read_bytes(), (self.dir / "wanted").read_bytes())

    def test_a_failed_run_leaves_an_old_output_alone(self):
        self.write("out", "older")
        self.write("in.ptx", JACOBI.read_text().replace("add.f32", "add.f33"))
        wanted = run([REAL, "-arch=sm_90", "in.ptx", "-o", "plain2"])
        result = self.assemble()
        self.assertEqual((result.returncode, result.stderr), (wanted.returncode, wanted.stderr))
        self.assertEqual((self.dir / "out").read_text(), "older")


class Streams(Environment):
    """Standard streams and logs in the state that a caller may leave them in: the build goes on."""

    def shell(self, command, **environment):
        result = run(["bash", "-c", command], env={**self.env, **environment}, cwd=self.dir)
        self.assertEqual((self.dir / "out").read_bytes()[:4], b"\x7fELF")
        (self.dir / "out").unlink()
        return result.returncode

    def test_closed_and_full_streams(self):
        for streams in ("2>&-", "<&-", ">&-", "<&- >&- 2>&-", "2>/dev/full", ">/dev/full"):
            for words in ("", "-v", "-v -g"):
                with self.subTest(streams=streams, words=words):
                    self.assertEqual(self.shell(f"timeout 20 {self.ptxas} -arch=sm_90 {words} in.ptx -o out {streams}"),
                                     0)
                    self.assertEqual(self.shell(f"timeout 20 {self.ptxas} -arch=sm_90 {words} in.ptx -o out {streams}",
                                                PTXASW_LOG="/nonexistent/log"), 0)

    def test_a_log_that_is_a_pipe_or_too_large(self):
        os.mkfifo("pipe")
        self.assertEqual(self.shell(f"timeout 20 {self.ptxas} -arch=sm_90 in.ptx -o out", PTXASW_LOG="pipe"), 0)
        with open("large", "wb") as log:
            log.truncate(200_000)
        self.assertEqual(self.shell(f"ulimit -f 100; timeout 20 {self.ptxas} -arch=sm_90 in.ptx -o out",
                                    PTXASW_LOG="large"), 0)

    def test_what_was_asked_for_must_arrive(self):
        for word in ("--ptxasw-help", "--ptxasw-cache-key"):
            result = run(["bash", "-c", f"{self.ptxas} {word} > /dev/full"], env=self.env)
            self.assertEqual(result.returncode, 255)
            self.assertIn("No space left", result.stderr)


if __name__ == "__main__":
    main()
