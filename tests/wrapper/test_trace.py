"""`ptxasw explain`, and what it says with --trace, from the outside."""

import json
from pathlib import Path

from support import JACOBI, PTXASW, Scratch, main, run

KERNEL = """.version 7.0
.target sm_70
.address_size 64
.visible .entry first(.param .u64 p) {
    .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %q;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3+8];
    setp.eq.u32 %q, %r2, 0;
    bar.sync 0;
    @%q st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry second() { ret; }
"""


class Trace(Scratch):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", KERNEL)

    def ask(self, *words):
        return run([PTXASW, *words])

    def test_jacobi_has_nine_loads_and_a_store(self):
        text = self.ask("explain", "--trace", JACOBI).stdout
        self.assertEqual((text.count("\nLD: "), text.count("\nST: ")), (9, 1))
        self.assertIn("%tid.x", text)
        self.assertIn("trip1", text)

    def test_text(self):
        self.assertEqual(self.ask("explain", "--trace", "k.ptx", "--kernel", "first").stdout.splitlines(), [
            "first: 0 undecided branches",
            "LD: 0x8 + p + 0x4 * zext64(%tid.x)  // line 10, ld.global.u32",
            "bar:  // line 12, bar.sync",
            "ST: p  // line 13, st.global.u32, if (opaque(%r2, line 10) == 0)",
        ])

    def test_json(self):
        report = json.loads(self.ask("explain", "--trace", "k.ptx", "--json").stdout)
        first, second = report["kernels"]
        self.assertEqual((first["name"], first["complete"], first["undecided_branches"]), ("first", True, 0))
        self.assertEqual(second["trace"], [])
        load, barrier, store = first["trace"]
        self.assertEqual(load, {"line": 10, "access": "LD", "opcode": "ld.global.u32", "space": "global",
                                "bytes": 4, "address": "0x8 + p + 0x4 * zext64(%tid.x)"})
        self.assertEqual(set(barrier), {"line", "access", "opcode"})
        self.assertIn("guard", store)

    def test_explain(self):
        report = json.loads(self.ask("explain", JACOBI, "--json").stdout)
        (kernel,) = report["kernels"]
        self.assertEqual(len(kernel["loads"]), 9)
        self.assertEqual({load["lane_stride"] for load in kernel["loads"]}, {4})
        covered = [load for load in kernel["loads"] if "delta" in load]
        self.assertEqual(len(covered), 6)
        self.assertTrue(all(load["tests"] for load in covered))
        self.assertTrue(all("reason" in load for load in kernel["loads"] if load not in covered))

    def test_explain_says_of_lanes_what_lint_counts(self):
        # row_ptr[i / 32] twice, then what lies there and beside: 1, 1 and 4 sectors.
        csr = Path(__file__).resolve().parents[1] / "facts/kernels/csr_warp.ptx"
        (kernel,) = json.loads(self.ask("explain", csr, "--launch", "block=256", "--json").stdout)["kernels"]
        self.assertEqual([load["lane_stride"] for load in kernel["loads"]][:4], [0, 0, 4, None])

    def test_explain_text(self):
        text = self.ask("explain", "k.ptx", "--kernel", "first").stdout
        self.assertIn("address  0x8 + p + 0x4 * zext64(%tid.x)", text)
        self.assertIn("lane stride 4 bytes", text)
        self.assertIn("stays: no-source", text)

    def test_what_was_not_looked_at_is_not_said_to_be_missing(self):
        # Addresses with the lane in a shift are compared by numbers, each with the 64 loads before it.
        load = """ add.u32 %%r2, %%r1, %d; shr.u32 %%r2, %%r2, 1; mul.wide.u32 %%rd2, %%r2, 4;
 add.s64 %%rd3, %%rd1, %%rd2; ld.global.u32 %%r3, [%%rd3];
"""
        for count, last in ((60, "no-source"), (70, "budget")):
            self.write("many.ptx", ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                       ".reg .b64 %rd<4>; .reg .b32 %r<4>; ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;\n" +
                       "".join(load % (64 * k) for k in range(count)) + "ret;\n}\n")
            (kernel,) = json.loads(self.ask("explain", "many.ptx", "--json").stdout)["kernels"]
            self.assertEqual([kernel["loads"][0]["reason"], kernel["loads"][-1]["reason"]], ["no-source", last])

    def test_a_call_is_called_one(self):
        # The variables of a block around a call are its arguments.
        self.write("call.ptx", KERNEL.replace("bar.sync 0;", "{ .param .b32 a; st.param.b32 [a], %r2; call.uni f, (a); }")
                   .replace(".visible .entry first", ".extern .func f(.param .b32 a);\n.visible .entry first"))
        told = self.ask("explain", "call.ptx", "--kernel", "first").stdout
        for family in ("retile", "vectorise", "resize"):
            self.assertIn(f"no siblings by {family}: call, line 13", told)

    def test_a_shape_that_the_user_vouches_for(self):
        self.write("rows.ptx", KERNEL.replace("%tid.x", "%tid.y"))
        for command in (["explain", "--trace"], ["explain"]):
            self.assertIn("%tid.y", self.ask(*command, "rows.ptx").stdout)
            self.assertNotIn("zext64", self.ask(*command, "rows.ptx", "--launch=block=64").stdout)
            self.assertEqual(self.ask(*command, "rows.ptx", "--launch=block=64x99").returncode, 2)

    def test_explain_opcodes(self):
        text = self.ask("explain", "--opcodes").stdout
        self.assertIn("mad", text)
        self.assertIn("obstacle", text)

    def test_errors(self):
        self.write("bad.ptx", ".version 7.0\n.target ;\n")
        for command in (["explain", "--trace"], ["explain"]):
            missing = self.ask(*command, "nowhere.ptx")
            self.assertEqual(missing.returncode, 2)
            self.assertIn("cannot read `nowhere.ptx`", missing.stderr)
            unknown = self.ask(*command, "k.ptx", "--kernel", "third")
            self.assertEqual(unknown.returncode, 2)
            self.assertIn("no kernel `third`", unknown.stderr)
            bad = self.ask(*command, "bad.ptx")
            self.assertEqual(bad.returncode, 2)
            self.assertIn("bad.ptx:2:9: error: ", bad.stderr)
        self.assertEqual(self.ask("explain").returncode, 2)


if __name__ == "__main__":
    main()
