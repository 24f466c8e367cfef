"""People read a kernel's name as C++ has it, programs as the PTX has it."""

import json

from support import PTXASW, Scratch, main, run

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z4heatIfEvPT_i(.param .u64 _Z4heatIfEvPT_i_param_0, .param .u32 _Z4heatIfEvPT_i_param_1)
{
  .reg .b32 %r<5>; .reg .b64 %rd<4>; .reg .f32 %f<2>;
  .shared .align 4 .b8 _ZZ4heatIfEvPT_iE6buffer[4096];
  ld.param.u64 %rd1, [_Z4heatIfEvPT_i_param_0];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  mov.u32 %r2, _ZZ4heatIfEvPT_iE6buffer;
  shl.b32 %r3, %r1, 4;
  add.s32 %r4, %r2, %r3;
  st.shared.f32 [%r4], %f1;
  st.global.f32 [%rd3], %f1;
  ret;
}
"""
NAME, MANGLED = "heat<float>(float*, int)", "_Z4heatIfEvPT_i"


class Names(Scratch):
    def test_text_has_what_people_say_and_json_what_the_ptx_has(self):
        self.write("heat.ptx", KERNEL)
        launch = ["--launch", "block=32,grid=1,param_0=zeros:128,param_1=1"]
        for words in (["cost", "--only", "bounds"], ["cost", "--compare", "heat.ptx"], ["siblings"], ["independent"], ["prove"], ["explain"],
                      ["explain", "--trace"], ["advise", "--registers-per-thread", "32", "--launch", "threads=1024"],
                      ["emulate", *launch]):
            text = run([PTXASW, *words, "heat.ptx"]).stdout
            heading = text.splitlines()[-1 if words[0] == "emulate" else 0]
            self.assertTrue(heading.startswith(NAME), (words, text))
            self.assertNotIn(MANGLED, heading)
            told = json.loads(run([PTXASW, *words, "heat.ptx", "--json"]).stdout)
            self.assertEqual(told["kernel"] if words[0] == "emulate" else told["kernels"][0]["name"], MANGLED, words)

    def test_the_gate(self):
        self.write("heat.ptx", KERNEL.replace("shl.b32 %r3, %r1, 4", "shl.b32 %r3, %r1, 2"))
        self.assertEqual(run([PTXASW, "lint", "heat.ptx", "--baseline", "b.txt", "--update-baseline"]).returncode, 0)
        self.write("heat.ptx", KERNEL)
        gate = run([PTXASW, "lint", "heat.ptx", "--baseline", "b.txt"])
        self.assertEqual(gate.returncode, 1, gate.stderr)
        self.assertIn(f"{NAME}: -Wbank-conflict in the PTX: none before, ", gate.stdout + gate.stderr)

    def test_shared_variables_of_the_report(self):
        self.write("heat.ptx", KERNEL)
        self.assertEqual(run([PTXASW, "report", "heat.ptx"]).returncode, 0)
        page = (self.dir / "heat.html").read_text()
        self.assertTrue("<p>address <code>16 * %tid.x + &amp;buffer</code></p>" in page)


if __name__ == "__main__":
    main()
