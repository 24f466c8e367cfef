"""Programs that check themselves, linked statically and dynamically, by each of the documented ways."""

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "wrapper"))
from support import PTXASW, Scratch, cuda_home, main, need_cuda, run  # noqa: E402

need_cuda()
PROGRAMS = HERE / "programs"
RUNTIME = PTXASW.parent / "no-gpu"


class Api(Scratch):
    def setUp(self):
        super().setUp()
        self.assertEqual(run([PTXASW, "overlay", "o", "--cuda", cuda_home()]).returncode, 0)

    def compile(self, *words, target="-arch=sm_90", name="p"):
        done = run(["o/bin/nvcc", "--no-gpu", target, "-std=c++17", "-o", name, *words])
        self.assertEqual(done.returncode, 0, done.stderr)

    def check(self, *words, **variables):
        done = run(words, env=dict(os.environ, **variables))
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1:]), (0, ["ok"]), done.stdout + done.stderr)
        return done

    def test_memory(self):
        self.compile(PROGRAMS / "memory.cu")
        self.check("./p")
        self.check("./p", PTXASW_RUNTIME_THREADS="1")

    def test_streams(self):
        self.compile(PROGRAMS / "streams.cu")
        self.check("./p")

    def test_graphs(self):
        self.compile(PROGRAMS / "graphs.cu")
        self.check("./p")

    def test_launches(self):
        self.compile(PROGRAMS / "launches.cu")
        done = self.check("./p")
        self.assertIn("thread 0 of two: 2.50\nthread 1 of two: 2.50\n", done.stdout)
        self.assertEqual(done.stderr.count("cudaFreeMipmappedArray is not supported"), 1)

    def test_tensor_maps_and_clusters(self):
        self.compile(PROGRAMS / "tensor_maps.cu")
        self.check("./p")

    def test_textures_and_surfaces(self):
        self.compile(PROGRAMS / "textures.cu")
        self.check("./p")
        for how, message in ("b", "`sust.b.2d.b32.trap` outside of a surface"), ("d", "is no handle of a texture or surface object"), \
                ("e", "`sust.b.3d.b32.trap` of an object of 2 axes"):
            self.assertIn(message, self.check("./p", how).stderr)

    def test_filtering_is_to_the_bit_as_gpus_have_it(self):
        self.compile(PROGRAMS.parent / "device/filtering.cu")
        done = run(["./p"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, (PROGRAMS.parent / "device/filtering.txt").read_text())

    def test_more_than_four_gib(self):
        self.compile(PROGRAMS / "large.cu")
        self.check("./p", PTXASW_RUNTIME_MEMORY="16")
        # Without -g a place is a function of the program's, not what called it.
        said = run([PTXASW, "check", "--", "./p"], env=dict(os.environ, PTXASW_RUNTIME_MEMORY="16")).stderr
        self.assertIn("bad copy: 4 bytes are not within memory of the device, beyond the end of 5368709127 bytes", said)
        self.assertNotIn("libc", said)

    def test_what_the_caller_has_set_changes_nothing(self):
        self.compile(PROGRAMS / "callers.cu")
        for engine in ("interpreter", "translated", "auto"):
            self.check("./p", PTXASW_RUNTIME_ENGINE=engine)

    def test_faults_lose_the_device(self):
        self.compile(PROGRAMS / "lost.cu")
        for how, message in ("b", "out of bounds"), ("m", "misaligned"), ("t", "trap"), \
                ("a", "assertion: `p == nullptr` does not hold"), ("n", "out of bounds"):
            self.assertIn(message, self.check("./p", how).stderr)
        self.assertIn("step limit", self.check("./p", "e", PTXASW_RUNTIME_STEPS="100000").stderr)

    def test_relocatable_code_is_linked(self):
        self.compile("-rdc=true", PROGRAMS / "part_one.cu", PROGRAMS / "part_two.cu")
        self.check("./p")

    def test_shared_runtime(self):
        self.compile("-cudart", "shared", PROGRAMS / "streams.cu")
        self.check("./p")
        # A program that was linked with the toolkit's, and only finds ours.
        done = run([cuda_home() / "bin/nvcc", "-arch=sm_90", "-std=c++17", "-cudart", "shared", "-o", "q",
                    PROGRAMS / "streams.cu"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check("./q", LD_LIBRARY_PATH=str(RUNTIME))

    def test_a_default_stream_per_thread(self):
        self.compile("-default-stream", "per-thread", PROGRAMS / "memory.cu")
        self.check("./p")

    def test_without_ptx(self):
        self.compile(PROGRAMS / "streams.cu", target="-gencode=arch=compute_90,code=sm_90")
        done = run(["./p"])
        self.assertIn("the program has no PTX for sm_90, only machine code for sm_90; nvcc -arch=sm_90 puts it in",
                      done.stderr)
        self.assertIn("cudaErrorNoKernelImageForDevice", done.stdout)

    def test_another_architecture(self):
        self.compile(PROGRAMS / "streams.cu", target="-arch=compute_80")
        self.check("./p", PTXASW_RUNTIME_GPU="sm_80")
        self.write("q.cu", "#include <cstdio>\nint main() { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);"
                   " printf(\"%d.%d\\n\", p.major, p.minor); }\n")
        self.compile("q.cu", name="q")
        self.assertEqual(run(["./q"], env=dict(os.environ, PTXASW_RUNTIME_GPU="sm_80")).stdout, "8.0\n")

    def test_under_run(self):
        shutil.copytree(PROGRAMS, "src")
        self.write("build.sh", f"{cuda_home()}/bin/nvcc -arch=sm_90 -std=c++17 -c -o s.o src/streams.cu && "
                   f"g++ s.o -o p -L{cuda_home()}/lib64 -lcudart_static -ldl -lrt -lpthread && "
                   f"g++ s.o -o q {cuda_home()}/lib64/libcudart_static.a -ldl -lrt -lpthread\n")
        done = run([PTXASW, "run", "--no-gpu", "--", "sh", "build.sh"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check("./p")
        self.check("./q")

    def test_driver(self):
        libraries = cuda_home() / "lib64"
        if not (cuda_home() / "include/nvrtc.h").exists() or not list(libraries.glob("libnvrtc.so*")):
            self.skipTest("no NVRTC")
        done = run(["g++", "-std=c++17", "-I", cuda_home() / "include", "-o", "p", PROGRAMS / "driver.cpp", "-L", libraries,
                    "-L", libraries / "stubs", "-lcuda", "-lnvrtc"])
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run([PTXASW, "run", "--no-gpu", "--", "./p"], env=dict(os.environ, LD_LIBRARY_PATH=str(libraries)))
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1:]), (0, ["ok"]), done.stdout + done.stderr)

    def test_every_call_of_the_runtime(self):
        self.compile("-w", PROGRAMS / "calls.cu")
        self.check("./p")

    def test_every_call_of_the_driver(self):
        done = run(["g++", "-std=c++17", "-w", "-I", cuda_home() / "include", "-o", "p", PROGRAMS / "driver_calls.cpp",
                    "-L", cuda_home() / "lib64/stubs", "-lcuda", "-ldl"])
        self.assertEqual(done.returncode, 0, done.stderr)
        where = {"LD_LIBRARY_PATH": str(RUNTIME)}
        self.write("module.ptx", run(["./p", "ptx"], env=dict(os.environ, **where)).stdout)
        done = run([cuda_home() / "bin/fatbinary", "-64", "--create=module.fatbin", "--image3=kind=ptx,sm=90,file=module.ptx"])
        self.assertEqual(done.returncode, 0, done.stderr)
        said = self.check("./p", **where).stderr
        for message in ("the program loads machine code", "`set` is defined twice", "`absent` is defined nowhere"):
            self.assertEqual(said.count(message), 1, said)

    def test_driver_and_runtime_share_the_device(self):
        self.write("p.cu", """#include <cstdio>
#include <cuda.h>
__global__ void k(int *p) { *p = 7; }
int main() {
  CUdeviceptr p = 0;
  CUcontext context = nullptr;
  int value = 0;
  cudaFree(nullptr);
  bool right = cuInit(0) == CUDA_SUCCESS && cuCtxGetCurrent(&context) == CUDA_SUCCESS && context && cuMemAlloc(&p, 4) == CUDA_SUCCESS;
  k<<<1, 1>>>(reinterpret_cast<int *>(p));
  right &= cuMemcpyDtoH(&value, p, 4) == CUDA_SUCCESS && value == 7 && cuMemFree(0x1000) == CUDA_ERROR_INVALID_VALUE;
  CUresult (*free)(CUdeviceptr) = nullptr;
  right &= cudaGetDriverEntryPointByVersion("cuMemFree", reinterpret_cast<void **>(&free), 12000, 0, nullptr) == cudaSuccess;
  right &= free && free(p) == CUDA_SUCCESS && cudaGetLastError() == cudaSuccess;
  puts(right ? "ok" : "failed");
}
""")
        for words in ("-lcuda",), ("-lcuda", "-cudart", "shared"):
            self.compile("p.cu", *words)
            self.check("./p", LD_LIBRARY_PATH=str(RUNTIME))

    def test_a_program_of_cuda_12(self):
        # PTX of CUDA 12 in a fat binary, and the functions of CUDA 12's library by their names and its version.
        self.write("k.ptx", """.version 8.4
.target sm_75
.address_size 64
.visible .entry twice(.param .u64 p, .param .u32 n)
{
	.reg .pred %p;
	.reg .b32 %r<5>;
	.reg .f32 %f;
	.reg .b64 %d<3>;
	ld.param.u64 %d1, [p];
	ld.param.u32 %r4, [n];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r1, %r1, %r2, %r3;
	setp.ge.s32 %p, %r1, %r4;
	@%p ret;
	mul.wide.s32 %d2, %r1, 4;
	add.s64 %d1, %d1, %d2;
	ld.global.f32 %f, [%d1];
	add.f32 %f, %f, %f;
	st.global.f32 [%d1], %f;
	ret;
}
""")
        program = PROGRAMS / "cuda12.cpp"
        tool = cuda_home() / "bin/fatbinary"
        subprocess.run([tool, "-64", "--create=k.fatbin", "--image3=kind=ptx,sm=75,file=k.ptx"], check=True, cwd=self.dir)
        image = (self.dir / "k.fatbin").read_bytes()
        self.write("image.cpp", 'extern "C" { extern const unsigned char image[]; alignas(8) const unsigned char image[] = {'
                   + ",".join(map(str, image)) + "}; }\n")
        names = sorted(set(re.findall(r"\b(?:__)?cuda[A-Z]\w*(?=\()", program.read_text())))
        self.write("stub.c", "".join(f"void {name}(void) {{}}\n" for name in names))
        self.write("version", "libcudart.so.12 { global: *; };\n")
        for words in (["gcc", "-shared", "-fPIC", "-Wl,-soname,libcudart.so.12", "-Wl,--version-script=version", "-o",
                       "libcudart.so.12", "stub.c"],
                      ["g++", "-std=c++17", "-DKERNEL", "-o", "static", program, "image.cpp", RUNTIME / "libptxasw_cudart.a",
                       "-ldl", "-lpthread"],
                      ["g++", "-std=c++17", "-DKERNEL", "-o", "shared", program, "image.cpp", "libcudart.so.12"],
                      ["g++", "-std=c++17", "-o", "host", program, "libcudart.so.12"]):
            done = run(words)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.check("./static")
        for name in "shared", "host":
            said = self.check(f"./{name}", LD_LIBRARY_PATH=str(RUNTIME))
            self.assertEqual(said.stderr, "")

    def test_no_runtime(self):
        alone = self.dir / "alone"
        alone.mkdir()
        shutil.copy(PTXASW, alone / "ptxasw")
        subprocess.run([alone / "ptxasw", "overlay", "a", "--cuda", cuda_home()], check=True, capture_output=True)
        done = run(["a/bin/nvcc", "--no-gpu", "-o", "p", PROGRAMS / "streams.cu"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("no libptxasw_cudart.a beside", done.stderr)


class OpenAcc(Scratch):
    """GCC's OpenACC, whose libgomp opens libcuda.so.1, links PTX with it and launches: as it is, with its loads
    replaced while GCC compiles or while the program loads them, and with versions to choose from."""

    def test_programs_of_gcc(self):
        gcc = shutil.which("gcc-12") or shutil.which("gcc")
        if not gcc or not shutil.which("nvptx-none-as"):
            self.skipTest("no GCC with nvptx offloading")
        source = HERE.parents[1] / "kernelgen-bench" / "programs" / "openacc.c"
        for name, settings in ("plain", []), ("rewritten", ["--shuffle=always"]):
            done = run([PTXASW, "run", *settings, "--", gcc, "-O2", "-w", "-fopenacc", "-o", name, source])
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotEqual(*[(self.dir / name).read_bytes() for name in ("plain", "rewritten")])
        program = ["66", "18", "3"]

        def hash_of(*command, **variables):
            env = dict(os.environ, ACC_DEVICE_TYPE="nvidia", LD_LIBRARY_PATH=str(RUNTIME),
                       XDG_CACHE_HOME=str(self.dir / "cache"), **variables)
            done = run([*command, *program], env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.splitlines()[-1]

        wanted = hash_of("./plain")
        self.assertRegex(wanted, "^hash [0-9a-f]{16}$")
        self.assertEqual(hash_of("./rewritten"), wanted)
        for setting, value in ("PTXASW_SHUFFLE", "always"), ("PTXASW_SIBLINGS", "8"):
            launch = [PTXASW, "launch", "--jit", "--log", setting, "--"]
            self.assertEqual(hash_of(*launch, "./plain", **{setting: value}), wanted)
            self.assertIn('"changed":true', (self.dir / setting).read_text())


if __name__ == "__main__":
    main()
