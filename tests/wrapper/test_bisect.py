"""`--first`, `--last`, `--modules`, and `ptxasw bisect`, which looks for a rewrite with them."""

import json
import os
import re
import signal
import subprocess
import unittest

from support import JACOBI, PTXASW, Scratch, adopt_orphans, cuda_home, link_as_ptxas, main, run, wait_for_orphans

ALWAYS = "--shuffle=always"
ROW = """.version 7.0
.target sm_70
.address_size 64
.visible .entry NAME(.param .u64 p, .param .u64 q)
.reqntid 128, 1, 1
{
	.reg .b64 %rd<8>;
	.reg .b32 %r<8>;
	.reg .f32 %f<8>;
	ld.param.u64 %rd1, [p];
	ld.param.u64 %rd5, [q];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	add.s64 %rd6, %rd5, %rd2;
	ld.global.f32 %f1, [%rd3];
	ld.global.f32 %f2, [%rd3+4];
	ld.global.f32 %f3, [%rd3+8];
	add.f32 %f2, %f2, %f3;
	add.f32 %f1, %f1, %f2;
	st.global.f32 [%rd6], %f1;
	ret;
}
"""


class Numbers(Scratch):
    """Rewrites are numbered from 1 in the order of the module, whichever are made."""

    def setUp(self):
        super().setUp()
        other = ROW[ROW.index(".visible"):]
        self.write("in.ptx", ROW.replace("NAME", "a") + other.replace("NAME", "b"))

    def rewrite(self, *words, env=None):
        result = run([PTXASW, "rewrite", "in.ptx", "-o", "out.ptx", ALWAYS, "--report", "r.json",
                      *words], env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads((self.dir / "r.json").read_text())
        made = [record["number"] for kernel in report["kernels"] for record in kernel["rewrites"]]
        self.assertEqual((self.dir / "out.ptx").read_text().count("shfl.sync"), len(made))
        return report, made

    def test_all(self):
        report, made = self.rewrite()
        self.assertEqual(made, [1, 2, 3, 4])
        self.assertRegex(report["module"], r"^[0-9a-f]{16}$")
        lines = [record["line"] for record in report["kernels"][0]["rewrites"]]
        self.assertEqual(lines, sorted(lines))

    def test_a_range(self):
        report, made = self.rewrite("--first=2", "--last=3")
        self.assertEqual(made, [2, 3])
        reasons = [kept["reason"] for kernel in report["kernels"] for kept in kernel["kept"]]
        self.assertEqual(reasons.count("not-selected"), 2)
        self.assertEqual(self.rewrite("--first=4")[1], [4])
        self.assertEqual(self.rewrite("--last=1")[1], [1])
        self.assertEqual(self.rewrite("--first=3", "--last=2")[1], [])
        self.assertEqual(self.rewrite("--last=0")[1], [])
        self.assertEqual((self.dir / "out.ptx").read_bytes(), (self.dir / "in.ptx").read_bytes())

    def test_by_the_environment_and_a_file(self):
        env = {**os.environ, "PTXASW_FIRST": "2", "PTXASW_LAST": "2"}
        self.assertEqual(self.rewrite(env=env)[1], [2])
        self.assertEqual(self.rewrite("--last=3", env=env)[1], [2, 3])
        self.write("ptxasw.toml", "first = 4\n")
        self.assertEqual(self.rewrite()[1], [4])

    def test_the_report_on_standard_output(self):
        told = run([PTXASW, "rewrite", "in.ptx", "-o", "out.ptx", ALWAYS, "--report", "r.json", "--json", "-q"])
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        both = [json.loads(text) for text in (told.stdout, (self.dir / "r.json").read_text())]
        self.assertEqual(both[0], both[1])
        self.assertEqual(sum(len(kernel["rewrites"]) for kernel in both[0]["kernels"]), 4)
        # Without a report file it has what is counted for one, too.
        self.write("new.ptx", (self.dir / "in.ptx").read_text().replace("sm_70", "sm_90"))
        told = run([PTXASW, "rewrite", "new.ptx", "-o", "out.ptx", "--json"])
        self.assertEqual({kept["reason"] for kernel in json.loads(told.stdout)["kernels"] for kept in kernel["kept"]},
                         {"is-source", "target-decision"})
        told = run([PTXASW, "rewrite", "in.ptx", "-o", "-", "--json"])
        self.assertEqual((told.returncode, told.stdout), (2, ""))
        self.assertIn("both write to standard output", told.stderr)

    def test_every_part_is_right(self):
        for number in range(1, 5):
            self.rewrite(f"--first={number}", f"--last={number}")
            result = run([PTXASW, "verify", "in.ptx", "out.ptx"])
            self.assertEqual(result.returncode, 0, result.stdout)

    def test_modules(self):
        number = self.rewrite()[0]["module"]
        self.assertEqual(self.rewrite(f"--modules={number}")[1], [1, 2, 3, 4])
        self.assertEqual(self.rewrite(f"--modules={number}:2")[1], [1, 2])
        self.assertEqual(self.rewrite(f"--modules={number}:3-4")[1], [3, 4])
        self.assertEqual(self.rewrite(f"--modules={number}:2-4", "--last=2")[1], [2])
        report, made = self.rewrite("--modules=0123456789abcdef")
        self.assertEqual(made, [])
        self.assertEqual({kept["reason"] for kept in report["kernels"][0]["kept"]},
                         {"not-selected"})
        with (self.dir / "in.ptx").open("a", encoding="utf-8") as text:
            text.write("// changed\n")
        self.assertNotEqual(self.rewrite()[0]["module"], number)

    def test_wrong_values(self):
        for word in ("--first=0", "--first=x", "--last=-1", "--last=2x", "--modules=12",
                     "--modules=0123456789abcdef:0-1", "--modules=0123456789abcdef:x"):
            with self.subTest(word=word):
                self.assertEqual(run([PTXASW, "rewrite", "in.ptx", "-o", "x", word]).returncode, 2)

    def test_the_drop_in(self):
        _, env = self.fake()
        ptxas = link_as_ptxas(self.dir / "bin")
        env.update(FAKE_INPUT=str(self.dir / "seen"), PTXASW_SHUFFLE="always")
        run([ptxas, "-arch=sm_90", "in.ptx", "-o", "o", "--ptxasw-first=2", "--ptxasw-last=2",
             "--ptxasw-journal=j"], env=env)
        self.assertEqual((self.dir / "seen").read_text().count("shfl.sync"), 1)
        # One line per module, appended.
        run([ptxas, "-arch=sm_90", "in.ptx", str(JACOBI), "-o", "o"],
            env={**env, "PTXASW_JOURNAL": "j"})
        lines = [json.loads(line) for line in (self.dir / "j").read_text().splitlines()]
        self.assertEqual([line["file"] for line in lines], ["in.ptx", "in.ptx", str(JACOBI)])


class Bisect(Scratch):
    """The command rewrites some modules and calls one shuffle in them wrong."""

    def setUp(self):
        super().setUp()
        for name in "abc":
            self.write(f"{name}.ptx", ROW.replace("NAME", name))
        self.number = 0

    def command(self, verdict, modules="abc"):
        self.number += 1
        compiles = "".join(f"{PTXASW} rewrite {name}.ptx -o {name}.out || exit 1\n"
                           for name in modules)
        return self.write(f"check{self.number}", f"#!/bin/sh\n{compiles}{verdict}\n", True)

    def bisect(self, command, *words, env=None):
        return run([PTXASW, "bisect", ALWAYS, *words, "--", command], env=env)

    def test_the_culprit(self):
        # Both loads of b are shuffled into their own registers.
        for register, line, number, delta in (("f1", 16, 1, -1), ("f3", 18, 2, 1)):
            with self.subTest(register=register):
                result = self.bisect(self.command(f"! grep -q 'shfl.*%{register},' b.out"))
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(f"rewrite {number} of module ", result.stdout)
                self.assertIn("(b.ptx)", result.stdout)
                self.assertIn(f"kernel b, PTX line {line}\n", result.stdout)
                self.assertIn(f"(delta {delta})", result.stdout)
                self.assertRegex(result.stdout, rf"PTXASW_MODULES=[0-9a-f]{{16}}:{number}-{number}")
                self.assertIn("without rewrites: the command succeeds", result.stderr)

    def test_what_it_prints_makes_the_command_fail(self):
        command = self.command("! grep -q 'shfl.*%f1,' c.out")
        found = re.search(r"(PTXASW_MODULES)=(\S+)", self.bisect(command).stdout)
        env = {**os.environ, "PTXASW_SHUFFLE": "always", found[1]: found[2]}
        self.assertEqual(run([command], env=env).returncode, 1)
        self.assertNotIn("shfl", (self.dir / "a.out").read_text())

    def test_the_source_line(self):
        text = ROW.replace("NAME", "a").replace("\tld.global.f32 %f1", "\t.loc 1 42 3\n"
                                                "\tld.global.f32 %f1") + '\t.file 1 "heat.cu"\n'
        self.write("a.ptx", text)
        self.assertIn("source line heat.cu:42",
                      self.bisect(self.command("! grep -q 'shfl.*%f1,' a.out")).stdout)

    def test_only_together(self):
        result = self.bisect(self.command(
            "! { grep -q 'shfl.*%f1,' a.out && grep -q 'shfl.*%f3,' c.out; }"))
        self.assertIn("kernel c", result.stdout)
        self.assertIn("only together with rewrites before it", result.stdout)

    def test_how_it_answers(self):
        command = self.command("! grep -q 'shfl.*%f3,' b.out")
        told = self.bisect(command, "--json", "-q")
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        found = json.loads(told.stdout)
        number = found["module"]
        self.assertEqual((found["schema_version"], found["found"], found["file"], found["kernel"], found["alone"]),
                         (1, "rewrite", "b.ptx", "b", True))
        self.assertEqual((found["rewrite"]["number"], found["rewrite"]["loads"][0]["line"]), (2, 18))
        self.assertEqual(found["settings"], {"PTXASW_MODULES": f"{number}:2-2"})
        plain = self.bisect(command, "-q").stdout
        self.assertEqual(plain.splitlines()[0], f"rewrite 2 of module {number} (b.ptx) makes the command fail")
        coloured = self.bisect(command, "-q", "--color", "always").stdout
        self.assertEqual(coloured, plain.replace(plain.splitlines()[0], f"\x1b[1m{plain.splitlines()[0]}\x1b[0m"))
        self.assertEqual(self.bisect(self.command("exit 0"), "-q", "--json").stdout, "")

    def test_a_module_compiled_twice(self):
        result = self.bisect(self.command("! grep -q 'shfl.*%f3,' b.out", "abcba"))
        self.assertIn("kernel b", result.stdout)

    def test_no_answer(self):
        counter = "n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; "
        for verdict, message, modules in (
                ("exit 0", "succeeds with all rewrites", "abc"),
                ("exit 1", "fails without any rewrite, too", "abc"),
                ("exit 125", "cannot tell", "abc"),
                ("exit 1", "started no ptxas that is ptxasw", ""),
                (counter + "exit $((n % 2))", "fails only sometimes", "abc"),
                # Only the first two runs compile.
                (counter + "[ $n -gt 2 ]; exit $?", "must compile anew", "")):
            with self.subTest(message=message):
                (self.dir / "n").unlink(missing_ok=True)
                command = self.command(verdict, modules)
                if message == "must compile anew":
                    command = self.write("once", "#!/bin/sh\n" + counter + f"[ $n -gt 2 ] && exit 0\n"
                                         f"{PTXASW} rewrite a.ptx -o a.out\nexit 1\n", True)
                result = self.bisect(command)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(message, result.stderr)
        result = self.bisect("./nosuch")
        self.assertIn("cannot be run", result.stderr)
        self.assertEqual(run([PTXASW, "bisect"]).returncode, 2)

    def test_other_text_every_time(self):
        command = self.write("other", "#!/bin/sh\necho \"// $$\" >> a.ptx\n"
                             f"{PTXASW} rewrite a.ptx -o a.out\n! grep -q shfl a.out\n", True)
        result = self.bisect(command)
        self.assertEqual(result.returncode, 2)
        self.assertIn("its text is another in every run", result.stderr)

    def test_nothing_rewritten(self):
        command = self.command("exit 1")
        result = run([PTXASW, "bisect", "--shuffle=never", "--", command])
        self.assertIn("nothing was rewritten", result.stderr)

    def test_now_and_then(self):
        # With the wrong shuffle every other run fails; without it none does.
        verdict = ("n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n\n"
                   "grep -q 'shfl.*%f3,' b.out && [ $((n % 2)) = 0 ] && exit 1; exit 0")
        result = self.bisect(self.command(verdict), "--repeat=2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("kernel b, PTX line 18", result.stdout)

    def test_output_of_the_command(self):
        command = self.command("echo from the command; exit 1")
        self.assertNotIn("from the command", self.bisect(command).stdout)
        self.assertIn("from the command", self.bisect(command, "--show-output").stdout)

    def test_nothing_is_left_behind(self):
        env = {**os.environ, "TMPDIR": str(self.dir / "tmp")}
        (self.dir / "tmp").mkdir()
        self.bisect(self.command("! grep -q 'shfl.*%f1,' a.out"), env=env)
        self.assertEqual(list((self.dir / "tmp").iterdir()), [])


KERNEL = """
extern "C" __global__ void three(float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 2)
    b[i + 1] = a[i] + a[i + 1];
}
extern "C" __global__ void left(float *a, float *b) {
  unsigned i = threadIdx.x;
  b[i] = a[i + 2] - a[i];
}
"""


@unittest.skipUnless(cuda_home(), "no CUDA toolkit")
class WithNvcc(Scratch):
    def test_a_shuffle_that_the_assembler_got(self):
        cuda = cuda_home()
        self.write("k.cu", KERNEL)
        self.assertEqual(run([PTXASW, "overlay", "over", "--cuda", cuda]).returncode, 0)
        # The real assembler, seen through a hole.
        self.write("real", "#!/bin/sh\nfor word; do\n  case $word in\n"
                   "  *.ptx | /proc/self/fd/*) cat \"$word\" > seen ;;\n  esac\ndone\n"
                   f"exec {cuda}/bin/ptxas \"$@\"\n", True)
        # A shuffle over two lanes is what is wrong.
        self.write("check", "#!/bin/sh\nover/bin/nvcc -lineinfo -arch=sm_90 -cubin k.cu -o k.cubin"
                   " || exit 125\n! grep -E 'shfl.*, 2, ' seen\n", True)
        env = {**os.environ, "PTXASW_REAL": str(self.dir / "real")}
        result = run([PTXASW, "bisect", ALWAYS, "--", "./check"], env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"over 2 lanes \(delta -?2\)")
        self.assertRegex(result.stdout, r"kernel left, PTX line \d+, source line .*k\.cu:9\n")


class Interrupted(Scratch):
    """Ending bisect ends everything it started, and nothing stays behind."""

    def test_signals(self):
        adopt_orphans()
        # A shell starts what runs in its background with SIGINT ignored, and children inherit that.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        for number in (signal.SIGINT, signal.SIGTERM):
            for name in ("started", "done", "go"):
                (self.dir / name).unlink(missing_ok=True)
            os.mkfifo("started")
            os.mkfifo("go")
            temporary = self.dir / f"tmp{int(number)}"
            temporary.mkdir()
            with subprocess.Popen(
                    [PTXASW, "bisect", "--", "sh", "-c",
                     "(echo > started; read word < go; touch done) & wait"],
                    env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.DEVNULL) as bisect:
                (self.dir / "started").read_text()
                bisect.send_signal(number)
                self.assertEqual(bisect.wait(timeout=600), -number)
            self.assertEqual(list(temporary.iterdir()), [])
            # What had not been ended would go on now, and leave its mark.
            go = os.open("go", os.O_RDWR)
            os.write(go, b"on\n")
            wait_for_orphans()
            os.close(go)
            self.assertFalse((self.dir / "done").exists())


if __name__ == "__main__":
    main()
