"""Run by hand on a machine with a GPU and Triton: compiles a Triton kernel with Triton's own ptxas
and through ptxasw, runs both, and compares the results bit for bit.

    python3 triton_stencil.py PTXASW
"""

import glob
import os
import subprocess
import sys
import tempfile
from pathlib import Path

KERNEL = """
import sys, torch, triton, triton.language as tl

@triton.jit
def stencil(a, b, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n - 2
    x = tl.load(a + i, mask=inside)
    y = tl.load(a + i + 1, mask=inside)
    z = tl.load(a + i + 2, mask=inside)
    tl.store(b + i + 1, 0.25 * x + 0.5 * y + 0.25 * z, mask=inside)

n = 1000003
torch.manual_seed(1)
a = torch.randn(n, device="cuda")
b = torch.zeros(n, device="cuda")
stencil[(triton.cdiv(n, 128),)](a, b, n, BLOCK=128, num_warps=4)
reference = torch.zeros(n, device="cuda")
reference[1:-1] = 0.25 * a[:-2] + 0.5 * a[1:-1] + 0.25 * a[2:]
torch.testing.assert_close(b, reference)
b.cpu().numpy().tofile(sys.argv[1])
"""


def main():
    ptxasw = Path(sys.argv[1]).resolve()
    import triton
    print("triton", triton.__version__)
    backend = Path(triton.__file__).parent / "backends/nvidia/bin"
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        (scratch / "kernel.py").write_text(KERNEL)
        (scratch / "ptxas").symlink_to(ptxasw)
        results = {}
        for mode in ("plain", "never", "auto", "always"):
            env = dict(os.environ, TRITON_CACHE_DIR=str(scratch / f"cache-{mode}"))
            if mode != "plain":
                env.update(TRITON_PTXAS_PATH=str(scratch / "ptxas"), PTXASW_SHUFFLE=mode,
                           PTXASW_REAL=str(backend / "ptxas"), PTXASW_LOG=str(scratch / "log"))
            subprocess.run([sys.executable, scratch / "kernel.py", scratch / mode], env=env,
                           check=True, cwd=scratch)
            cubins = [Path(path).read_bytes()
                      for path in glob.glob(f"{scratch}/cache-{mode}/*/stencil.cubin")]
            results[mode] = ((scratch / mode).read_bytes(), cubins)
            print(f"{mode}: same result as plain: {results[mode][0] == results['plain'][0]}, "
                  f"same cubin as plain: {cubins == results['plain'][1]}")
        print((scratch / "log").read_text())
        ptx = Path(glob.glob(f"{scratch}/cache-plain/*/stencil.ptx")[0])
        subprocess.run([ptxasw, "rewrite", ptx, "-o", "/dev/null", "--shuffle=always", "-v"],
                       check=True)
        return 0 if all(result[0] == results["plain"][0] for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
