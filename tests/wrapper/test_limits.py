"""What emulation may take: steps, and memory by what a kernel touches, not by how large its buffers are."""

import resource
import subprocess

from support import JACOBI, PTXASW, Scratch, main, run

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry scatter(.param .u64 p) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %q;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r1, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r1, STRIDE;
  add.u64 %rd1, %rd1, %rd2;
  LOOP
  st.global.u32 [%rd1], %r1;
  ret;
}
"""


class Limits(Scratch):
    def setUp(self):
        super().setUp()
        self.write("far.ptx", KERNEL.replace("STRIDE", "8192").replace("LOOP", ""))
        self.write("endless.ptx", KERNEL.replace("STRIDE", "4").replace("LOOP", "L: bra L;"))

    def emulate(self, *words):
        return run([PTXASW, "emulate", *words, "--launch", "p=zeros:9000000000"])

    def test_steps(self):
        result = self.emulate("endless.ptx", "--steps", "5000")
        self.assertEqual(result.returncode, 3)
        self.assertIn("step limit: more than 5000 thread-instructions", result.stderr)
        self.assertEqual(self.emulate("far.ptx", "--steps", "0").returncode, 2)

    def test_memory(self):
        self.assertEqual(self.emulate("far.ptx").returncode, 0)
        result = self.emulate("far.ptx", "--launch", "grid=1000,block=1000", "--memory", "16")
        self.assertEqual(result.returncode, 3)
        self.assertIn("memory limit: the emulation needs more than 16 MiB", result.stderr)

    def test_sizes_that_wrap_around(self):
        for argument in ("random:u32:4611686018427387904", "zeros:18446744073709551615"):
            result = run([PTXASW, "emulate", "far.ptx", "--launch", f"p={argument}"])
            self.assertEqual(result.returncode, 2)
            self.assertIn("no buffer can be so large", result.stderr)

    def test_verify_stays_below_two_gigabytes(self):
        # Every thread touches 3,000 pages of its own.
        walk = ("mov.u32 %r5, 0; L: st.global.u32 [%rd1], %r5; add.u64 %rd1, %rd1, 4096; add.u32 %r5, ONE; "
                "setp.lt.u32 %q, %r5, 3000; @%q bra L;")
        before, after = (self.write(name, KERNEL.replace("STRIDE", "12288000").replace("LOOP", walk.replace("ONE", one)))
                         for name, one in (("before.ptx", "%r5, 1"), ("after.ptx", "1, %r5")))
        limit = 2 << 30
        done = subprocess.run([PTXASW, "verify", before, after, "--steps", "20000000", "--runs", "3", "--search", "0", "-v"],
                              capture_output=True, text=True, timeout=500,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
        self.assertIn(done.returncode, (0, 2, 3), done.stdout + done.stderr)
        self.assertNotIn("out of memory", done.stderr)
        self.assertIn("memory limit", done.stdout)

    def test_help_has_defaults_and_exit_codes(self):
        text = " ".join(run([PTXASW, "verify", "--help"]).stdout.split())
        for words in ("--runs N launches per kernel [20]", "no question to Z3 [500]", "Exit codes: 0 all kernels agree"):
            self.assertIn(words, text)
        self.assertIn("Exit codes", run([PTXASW, "emulate", "--help"]).stdout)


if __name__ == "__main__":
    main()
