"""How the real ptxas is called, seen from its side: a fake one notes its words, environment and
standard input."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from support import JACOBI, PTXASW, Scratch, link_as_ptxas, main, run, words_of


class FakePtxas(Scratch):
    def setUp(self):
        super().setUp()
        self.real, self.env = self.fake()
        self.ptxas = link_as_ptxas(self.dir / "bin")
        self.write("in.ptx", JACOBI.read_text())

    def call(self, *words, **options):
        environment = dict(self.env, **options.pop("env", {}))
        return run([self.ptxas, *words], env=environment, **options)

    def only_call(self):
        calls = self.calls()
        self.assertEqual(len(calls), 1)
        return words_of(calls[0])

    def test_words_arrive_as_they_were(self):
        for words in (["-arch=sm_90", "-m64", "in.ptx", "-o", "out"], ["--new-option", "7"],
                      ["a b", "", "*"], ["-optf", "missing"], ["-o"], ["--", "@x"], ["-h"]):
            with self.subTest(words=words):
                (self.dir / "calls").unlink(missing_ok=True)
                result = self.call(*words)
                self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
                self.assertEqual(self.only_call(), words)

    def test_own_options_are_removed(self):
        self.call("--ptxasw-shuffle=never", "-c", "in.ptx", "--ptxasw-max-delta=4")
        self.assertEqual(self.only_call(), ["-c", "in.ptx"])

    def test_own_options_in_an_options_file_are_removed(self):
        self.write("inner", "--ptxasw-shuffle=never \"in.ptx\"")
        self.write("outer", "-v\n-optf=inner")
        self.call("-optf", "outer", "-c")
        self.assertEqual(self.only_call(), ["-v", "in.ptx", "-c"])

    def test_rewritten_text_is_handed_over(self):
        result = self.call("-arch=sm_90", "in.ptx", "-o", "out", env={
            "PTXASW_SHUFFLE": "always", "FAKE_INPUT": str(self.dir / "seen")})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        words = self.only_call()
        self.assertRegex(words[1], r"^/proc/self/fd/\d+$")
        self.assertEqual(words[:1] + words[2:], ["-arch=sm_90", "-o", "out"])
        self.assertNotEqual((self.dir / "seen").read_text(), JACOBI.read_text())
        self.assertIn("shfl.sync", (self.dir / "seen").read_text())
        self.assertEqual((self.dir / "in.ptx").read_text(), JACOBI.read_text())

    def test_variants_that_are_wrong_on_purpose_warn(self):
        for variant in ("no-load", "no-corner"):
            result = self.call("-arch=sm_90", "in.ptx", "-o", "out", f"--ptxasw-variant={variant}",
                               env={"PTXASW_SHUFFLE": "always"})
            self.assertEqual((result.returncode, result.stdout), (0, ""))
            self.assertIn("wrong results on purpose", result.stderr)
            # Where nothing is rewritten nothing is wrong.
            result = self.call("-arch=sm_90", "in.ptx", "-o", "out", f"--ptxasw-variant={variant}")
            self.assertEqual(result.stderr, "")

    def test_messages_name_the_callers_file_and_line(self):
        rewritten = run([PTXASW, "rewrite", "--shuffle=always", "in.ptx", "-o", "-"]).stdout
        original = JACOBI.read_text().split("\n")
        line = rewritten.split("\n").index("\tret;") + 1
        result = self.call("-arch=sm_90", "in.ptx", "-o", "out",
                           env={"PTXASW_SHUFFLE": "always", "FAKE_WARN": str(line)})
        wanted = original.index("\tret;") + 1
        self.assertNotEqual(line, wanted)
        self.assertEqual(result.stderr, f"ptxas in.ptx, line {wanted}; warning : hm\n")

    def test_a_rejected_rewrite_runs_again_on_the_original(self):
        result = self.call("-arch=sm_90", "in.ptx", "-o", "out",
                           env={"PTXASW_SHUFFLE": "always", "FAKE_REJECT": "1"})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        calls = self.calls()
        self.assertEqual(len(calls), 2)
        self.assertEqual(words_of(calls[1]), ["-arch=sm_90", "in.ptx", "-o", "out"])

    def test_who_is_to_blame_for_a_failure(self):
        log, report = self.dir / "log", self.dir / "r.json"
        settings = {"PTXASW_SHUFFLE": "always", "PTXASW_LOG": str(log), "PTXASW_REPORT": str(report)}
        # The original passes: it was the rewriting, and ptxas' first line is the reason.
        self.call("-arch=sm_90", "in.ptx", "-o", "out", env={**settings, "FAKE_REJECT": "1"})
        self.assertIn("\trejected\t", log.read_text())
        text = report.read_text()
        self.assertRegex(text, r'"detail": "ptxas /proc/self/fd/\d+, line 1; fatal : no"')
        self.assertIn('"rejected"', text)
        self.assertNotIn('"unproved"', text)
        # It also fails: no one's fault.
        log.unlink()
        result = self.call("-arch=sm_90", "in.ptx", "-o", "out",
                           env={**settings, "FAKE_REJECT": "1", "FAKE_EXIT": "3"})
        self.assertEqual(result.returncode, 3)
        self.assertIn("\toriginal-fails\t", log.read_text())
        self.assertNotIn('"rejected"', report.read_text())

    def test_what_cannot_be_written_is_told_once(self):
        result = self.call("-arch=sm_90", "in.ptx", "-o", "out",
                           env={"PTXASW_SHUFFLE": "always", "PTXASW_LOG": "no/such/log",
                                "PTXASW_JOURNAL": "no/such/journal"})
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count("warning: cannot write `no/such/"), 1)

    def test_no_rewrite_when_code_is_not_to_be_optimised_or_not_made(self):
        for words in (["-g"], ["-O0"], ["--opt-level", "0"], ["-arch=compute_90"],
                      ["-o", "/dev/null"], ["-arch=lto_90"], ["--sanitize=memcheck"]):
            with self.subTest(words=words):
                (self.dir / "calls").unlink(missing_ok=True)
                self.call("-arch=sm_90", "in.ptx", *words, env={"PTXASW_SHUFFLE": "always"})
                self.assertEqual(self.only_call(), ["-arch=sm_90", "in.ptx", *words])

    def test_automatic_looks_at_the_target(self):
        for target, wanted in (("sm_90", "in.ptx"), ("sm_90a", "in.ptx"), ("sm_61", None)):
            with self.subTest(target=target):
                (self.dir / "calls").unlink(missing_ok=True)
                self.call(f"-arch={target}", "in.ptx")
                self.assertEqual(self.only_call()[1] if wanted else
                                 self.only_call()[1].split("/fd/")[0], wanted or "/proc/self")

    def test_standard_input_reaches_the_real_one_whole(self):
        seen = self.dir / "stdin"
        for fault in ("", "parse", "crash"):
            for how in ("file", "pipe"):
                with self.subTest(fault=fault, how=how):
                    env = dict(self.env, FAKE_STDIN=str(seen), PTXASW_SHUFFLE="always",
                               PTXASW_INJECT_FAULT=fault)
                    command = [str(self.ptxas), "-arch=sm_90", "-", "-o", "out"]
                    if how == "file":
                        with open("in.ptx", encoding="utf-8") as text:
                            subprocess.run(command, env=env, stdin=text, check=True)
                    else:
                        subprocess.run(command, env=env, input=JACOBI.read_bytes(), check=True)
                    if fault:
                        self.assertEqual(seen.read_text(), JACOBI.read_text())
                    else:
                        self.assertIn("shfl.sync", seen.read_text())

    def test_exit_code_is_passed_on(self):
        for code in (1, 3, 255):
            self.assertEqual(self.call("in.ptx", env={"FAKE_EXIT": str(code)}).returncode, code)

    def test_the_environment_is_kept_and_guarded(self):
        self.call("in.ptx", env={"FAKE_KEEP": "me"})
        self.assertIn("env FAKE_KEEP=me", self.calls()[0])
        self.assertIn("env PTXASW_GUARD=1", self.calls()[0])

    def test_version_has_one_more_line(self):
        result = self.call("--version", "--ptxasw-shuffle=always")
        first, second, rest = result.stdout.split("\n")
        self.assertEqual(first, "Cuda compilation tools, release 1.2, V1.2.3")
        self.assertRegex(second, r"^ptxasw [0-9.]+ shuffle=always variant=full max-delta=31")
        self.assertNotIn("release", second)
        self.assertNotRegex(second, r"V\d+\.\d+\.\d+")
        self.assertEqual(rest, "")

    def test_unknown_own_settings_are_errors_with_a_suggestion(self):
        result = self.call("in.ptx", "--ptxasw-shufle=always")
        self.assertEqual(result.returncode, 255)
        self.assertIn("did you mean `--ptxasw-shuffle`?", result.stderr)
        result = self.call("in.ptx", env={"PTXASW_MAXDELTA": "3"})
        self.assertEqual(result.returncode, 255)
        self.assertIn("did you mean `PTXASW_MAX_DELTA`?", result.stderr)
        for option in ("--ptxasw-halo=b64", "--ptxasw-shared=always"):
            result = self.call("in.ptx", option)
            self.assertEqual(result.returncode, 255)
            self.assertIn(f"`{option.split('=')[0]}` is gone: it did not pay (docs/internals/tried.md)", result.stderr)
        result = self.call("in.ptx", "--ptxasw-cache=hints")
        self.assertEqual(result.returncode, 255)
        self.assertIn("`--ptxasw-cache`: `hints` is gone", result.stderr)
        self.assertEqual(self.calls(), [])


class Precedence(Scratch):
    def setUp(self):
        super().setUp()
        self.real, self.env = self.fake()
        self.env.pop("PTXASW_REAL")
        self.env["XDG_CONFIG_HOME"] = str(self.dir / "xdg")

    def value(self, directory, **environment):
        """The line of `ptxasw status --settings` about max-delta."""
        result = run([PTXASW, "status", "--settings"], cwd=directory, env=dict(self.env, **environment))
        self.assertEqual(result.stderr, "")
        return next(line for line in result.stdout.split("\n") if line.startswith("max-delta"))

    def test_flag_beats_environment_beats_file(self):
        self.write("xdg/ptxasw/ptxasw.toml", "max-delta = 1\n")
        deep = self.dir / "project/a/b"
        deep.mkdir(parents=True)
        self.assertIn("xdg/ptxasw/ptxasw.toml", self.value(deep))
        self.write("project/ptxasw.toml", "max-delta = 2\n")
        self.assertIn("project/ptxasw.toml", self.value(deep))
        self.assertRegex(self.value(deep), r"max-delta +2 ")
        self.assertRegex(self.value(deep, PTXASW_MAX_DELTA="3"), r"max-delta +3 +environment")
        ptxas = link_as_ptxas(self.dir / "bin")
        result = run([ptxas, "--version", "--ptxasw-max-delta=4"], cwd=deep,
                     env=dict(self.env, PTXASW_MAX_DELTA="3", PTXASW_REAL=str(self.real)))
        self.assertIn("max-delta=4", result.stdout)

    def test_a_bad_file_is_an_error_with_its_line(self):
        ptxas = link_as_ptxas(self.dir / "bin")
        env = dict(self.env, PTXASW_REAL=str(self.real))
        for text, message in (("\nmaxdelta = 2\n", "ptxasw.toml:2: unknown setting `maxdelta`; "
                               "did you mean `max-delta`?"),
                              ("shuffle = 'often'\n", "ptxasw.toml:1: `shuffle`: `often` is not"),
                              ("= 3", "ptxasw.toml:1: "), ("kernel = {}", "ptxasw.toml:1: `kernel`")):
            with self.subTest(text=text):
                self.write("ptxasw.toml", text)
                result = run([ptxas, "x.ptx"], env=env)
                self.assertEqual(result.returncode, 255)
                self.assertIn(message, result.stderr)

    def test_a_file_found_by_walking_up_names_no_programs_and_no_files(self):
        evil = self.write("evil", "#!/bin/sh\ntouch ran\n", executable=True)
        self.write("ptxasw.toml", f"real = '{evil}'\nlog = '{self.dir}/log'\nreport = 'r.json'\n"
                                  f"journal = 'j'\nmax-delta = 3\n")
        text = run([PTXASW, "status", "--settings"], env=self.env).stdout
        self.assertRegex(text, r"max-delta +3 ")
        for name in ("real", "log", "report", "journal"):
            self.assertRegex(text, rf"(?m)^{name} +- +built in$")
        ptxas = link_as_ptxas(self.dir / "bin")
        log = self.dir / "mine.log"
        run([ptxas, "x.ptx"], env=dict(self.env, PTXASW_REAL=str(self.real), PTXASW_LOG=str(log)))
        self.assertFalse((self.dir / "ran").exists())
        self.assertEqual(log.read_text().count("settings-ignored"), 4)
        status = run([PTXASW, "status"], env=self.env).stdout
        self.assertEqual(status.count("is ignored: a project's file may not name"), 4)
        # The user's own file may.
        self.write("xdg/ptxasw/ptxasw.toml", f"log = '{self.dir}/own'\n")
        self.assertRegex(run([PTXASW, "status", "--settings"], env=self.env).stdout, r"(?m)^log +\S+/own ")

    def test_files_that_others_may_write_to_are_ignored(self):
        file = self.write("project/ptxasw.toml", "max-delta = 2\n")
        where = self.dir / "project"
        self.assertRegex(self.value(where), r"max-delta +2 ")
        os.chmod(file, 0o666)
        self.assertRegex(self.value(where), r"max-delta +31 +built in")
        self.assertIn("everybody may write to it",
                      run([PTXASW, "status"], cwd=where, env=self.env).stdout)
        os.chmod(file, 0o644)
        self.assertRegex(self.value(where), r"max-delta +2 ")
        if os.geteuid() != 0:
            return
        os.chown(file, 12345, 12345)
        self.assertRegex(self.value(where), r"max-delta +31 +built in")
        self.assertIn("is owned by another user",
                      run([PTXASW, "status"], cwd=where, env=self.env).stdout)
        os.chown(file, 0, 0)
        # A link that someone else put there, to a file of ours.
        other = self.write("elsewhere.toml", "max-delta = 4\n")
        os.unlink(file)
        os.symlink(other, file)
        self.assertRegex(self.value(where), r"max-delta +4 ")
        os.chown(file, 12345, 12345, follow_symlinks=False)
        self.assertRegex(self.value(where), r"max-delta +31 +built in")

    def test_lists_by_plus_signs(self):
        # nvcc's -Xptxas cuts at commas.
        env = dict(self.env, PTXASW_WIDTHS="32+64", PTXASW_KERNEL="a+b", PTXASW_ASSUME_BLOCK="64x4")
        text = run([PTXASW, "status", "--settings"], env=env).stdout
        self.assertRegex(text, r"widths +32,64 ")
        self.assertRegex(text, r"kernel +a,b ")
        self.assertRegex(text, r"assume-block +64x4x1 ")

    def test_lists_in_the_file(self):
        self.write("ptxasw.toml", "kernel = ['a', 'b']\nverbose = true\n")
        text = run([PTXASW, "status", "--settings"], env=self.env).stdout
        self.assertRegex(text, r"kernel +a,b ")
        self.assertRegex(text, r"verbose +true ")


class FindingTheRealOne(Scratch):
    def where(self, **environment):
        """The real ptxas that a run finds, identified by the marks that fakes leave."""
        env = {"FAKE_LOG": str(self.dir / "calls"), "HOME": str(self.dir), "PATH": "/usr/bin:/bin"}
        env.update(environment)
        (self.dir / "mark").unlink(missing_ok=True)
        result = run([self.ptxas, "x.ptx"], env=env)
        mark = self.dir / "mark"
        return mark.read_text().strip() if mark.exists() else result.stderr

    def real(self, name):
        return self.write(name, f"#!/bin/sh\necho {name} > {self.dir}/mark\n", executable=True)

    def setUp(self):
        super().setUp()
        self.ptxas = link_as_ptxas(self.dir / "bin")

    def test_order(self):
        usual = Path("/usr/local/cuda/bin/ptxas")  # the last place
        self.assertIn("ptxas fatal" if usual.exists() else "cannot find the real ptxas", self.where())
        path = f"{self.dir}/bin:{self.dir}/on-path:/usr/bin:/bin"
        self.real("on-path/ptxas")
        self.assertEqual(self.where(PATH=path), "on-path/ptxas")
        self.real("home2/bin/ptxas")
        self.assertEqual(self.where(PATH=path, CUDA_PATH=f"{self.dir}/home2"), "home2/bin/ptxas")
        self.real("home/bin/ptxas")
        homes = {"CUDA_HOME": f"{self.dir}/home", "CUDA_PATH": f"{self.dir}/home2"}
        self.assertEqual(self.where(PATH=path, **homes), "home/bin/ptxas")
        self.real("linked/bin/ptxas")
        self.real("linked/bin/nvcc")
        (self.dir / "bin/nvcc").symlink_to(self.dir / "linked/bin/nvcc")
        self.assertEqual(self.where(PATH=path, **homes), "linked/bin/ptxas")
        self.real("bin/ptxas.real")
        self.assertEqual(self.where(PATH=path, **homes), "bin/ptxas.real")
        self.real("explicit")
        self.assertEqual(self.where(PTXASW_REAL=f"{self.dir}/explicit"), "explicit")

    def test_another_copy_is_not_the_real_one(self):
        # One overlay after another in PATH, and a copied binary.
        for place in ("copy", "copy2"):
            (self.dir / place).mkdir()
            shutil.copy(PTXASW, self.dir / place / "ptxas")
        self.real("last/ptxas")
        path = ":".join(f"{self.dir}/{place}" for place in ("bin", "copy", "copy2", "last"))
        self.assertEqual(self.where(PATH=f"{path}:/usr/bin:/bin"), "last/ptxas")
        self.ptxas = self.dir / "copy/ptxas"
        self.assertEqual(self.where(PATH=f"{path}:/usr/bin:/bin"), "last/ptxas")
        self.assertIn("which is ptxasw again", self.where(PTXASW_REAL=f"{self.dir}/copy2/ptxas"))

    def test_never_itself(self):
        self.assertIn("which is ptxasw again", self.where(PTXASW_REAL=str(PTXASW)))
        loop = self.write("loop", f"#!/bin/sh\nexec {self.ptxas} \"$@\"\n", executable=True)
        self.assertIn("is ptxasw again", self.where(PTXASW_REAL=str(loop)))
        self.assertIn("not a program", self.where(PTXASW_REAL="/nonexistent"))


if __name__ == "__main__":
    main()
