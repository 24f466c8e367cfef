"""test_suite.py PTXASW RUNNER EVERY: the programs of kernelgen-bench on the CPU, end to end, with small sizes: its runner with the kernels' PTX
under our libcuda.so.1 (of so many kernels one), held to the references on the host, and the CUDA programs under `ptxasw check`."""

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "wrapper"))
RUNNER = Path(sys.argv.pop(2)).resolve()
EVERY = int(sys.argv.pop(2))
from support import PTXASW, Scratch, cuda_home, main, need_cuda, run  # noqa: E402

need_cuda()
ROOT = HERE.parent.parent
BENCH = ROOT / "kernelgen-bench"
sys.path.insert(0, str(BENCH))
sys.dont_write_bytecode = True
from bench import build, table  # noqa: E402

PROGRAMS = {"activation": "2000", "axpy": "2000", "blocks": "48", "heat": "48", "image": "48", "lattice": "32", "matmul": "32",
            "nbody": "128", "overlap": "2048", "reduction": "4096", "small": "32", "spmv": "24", "surface": "48",
            "tone": "2048", "wave": "16"}


class Suite(Scratch):
    def test_every_kernel_computes_what_the_host_does(self):
        suite = table.Table()
        suite.select([], ["full"])
        self.assertGreaterEqual(len(suite.kernels), 32)
        suite.kernels = suite.kernels[::EVERY]
        images = {}
        for kernel in suite.kernels:
            images[kernel.name] = {"original": str(build.bundled_ptx(kernel.source)), "full": f"{kernel.name}.full.ptx"}
            done = run([PTXASW, "rewrite", images[kernel.name]["original"], "-o", images[kernel.name]["full"],
                        *next(v.rewrite for v in suite.variants if v.name == "full"), *kernel.options])
            self.assertEqual(done.returncode, 0, done.stderr)
        subprocess.run([cuda_home() / "bin/nvcc", "-ptx", "-std=c++17", "-arch=sm_90", BENCH / "runner/tools.cu", "-o", "tools.ptx"], check=True)
        manifest = table.manifest(suite, "sm_90", images, images, {"kernels": {}}, tools="tools.ptx")
        self.write("manifest.json", json.dumps(manifest))
        done = run([RUNNER, "manifest.json", "--size", "check", "--block", "128x1", "--launches", "0", "--out", "r.json"],
                   env=dict(os.environ, LD_LIBRARY_PATH=str(PTXASW.parent / "no-gpu")))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        cases = json.loads((self.dir / "r.json").read_text())["cases"]
        self.assertEqual({case["kernel"] for case in cases}, set(images))
        for case in cases:
            for variant in case["variants"]:
                with self.subTest(kernel=case["kernel"], variant=variant["name"]):
                    self.assertEqual(variant.get("words_different_without_contraction", int(variant["name"] != "original")), 0)
                    self.assertIn("reference_error", variant)

    def test_every_program_runs_without_a_finding(self):
        self.assertEqual({path.stem for path in (BENCH / "programs").glob("*.cu")}, set(PROGRAMS))
        self.assertEqual(run([PTXASW, "overlay", "o", "--cuda", cuda_home()]).returncode, 0)
        for name, size in PROGRAMS.items():
            with self.subTest(program=name):
                done = run(["o/bin/nvcc", "--no-gpu", "-arch=sm_90", "-O3", "-fmad=false", "-std=c++17", "-o", name,
                            BENCH / f"programs/{name}.cu"])
                self.assertEqual(done.returncode, 0, done.stderr)
                hashes = []
                for words, threads in ([PTXASW, "check", "--"], "1"), ([], "2"):
                    done = run([*words, f"./{name}", size, "1"], env=dict(os.environ, PTXASW_RUNTIME_THREADS=threads))
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    hashes.append(re.findall("^hash (.*)", done.stdout, re.M))
                self.assertEqual(hashes[0], hashes[1])
                self.assertTrue(hashes[0])


if __name__ == "__main__":
    main()
