"""The hooks of the launch helper, and what it believes of the driver's structures, against cuda.h: a
new version of a function that ends handles or launches kernels must not be overlooked.

test_hooks.py COMPILER HELPER"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMPILER, HELPER = sys.argv[1:3]
ROOT = Path(__file__).resolve().parent.parent.parent
NVCC = shutil.which("nvcc")
PLACES = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"),
          NVCC and Path(NVCC).resolve().parent.parent, "/usr/local/cuda"]
INCLUDE = next((Path(p) / "include" for p in PLACES if p and (Path(p) / "include/cudaTypedefs.h").exists()), None)
if not INCLUDE:
    print("skipped: no CUDA toolkit")
    sys.exit(77)

# (name, since, per thread, symbol), of the table in hooks.cpp.
TABLE = [(name, int(since), word == "true", symbol) for name, since, word, symbol in
         re.findall(r'\{"(cu\w+)",\s*(\d+),\s*(true|false),\s*"(cu\w+)"',
                    (ROOT / "wrapper/launch/hooks.cpp").read_text())]
# What is like one of them and needs no hook.
LET_BE = {
    "cuLaunchCooperativeKernelMultiDevice": "cooperative launches are the original's",
    "cuLaunchHostFunc": "launches no kernel",
    "cuLaunch": "of CUDA 3, and takes arguments in another way",
    "cuLaunchGrid": "likewise",
    "cuLaunchGridAsync": "likewise",
}
# The functions of nvJitLink by the names that its headers of CUDA 12 and 13 have had, and may have.
LINKER = {prefix + "nvJitLink" + name + suffix for name in ("Create", "AddData", "AddFile", "GetLinkedCubin", "Destroy")
          for prefix, suffix in [("", ""), *(("__", f"_{major}_{minor}") for major in (12, 13) for minor in range(10))]}
LIKE = re.compile(r"^cu(Launch\w*|(Module|Library)\w*Unload|(Green)?Ctx(Destroy|Detach)|DevicePrimaryCtx(Release|Reset)|"
                  r"ModuleLoad|(Module|Library)LoadData\w*|ModuleLoadFatBinary|LinkAddData|GraphKernelNodeGetParams|"
                  r"GraphNodeGetParams|GetProcAddress)$")

LAYOUT = """
#include "wrapper/launch/driver_types.h"
#include <cuda.h>
#include <cstddef>
using namespace ptxasw::wrapper::launch;
#define SAME(mine, member, theirs, name) \\
  static_assert(offsetof(mine, member) == offsetof(theirs, name) && \\
                sizeof(mine::member) == sizeof(theirs::name))
static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(LaunchConfig, grid) == offsetof(CUlaunchConfig, gridDimX));
static_assert(offsetof(LaunchConfig, block) == offsetof(CUlaunchConfig, blockDimX));
SAME(LaunchConfig, shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME(LaunchConfig, stream, CUlaunchConfig, hStream);
SAME(LaunchConfig, attributes, CUlaunchConfig, attrs);
SAME(LaunchConfig, attribute_count, CUlaunchConfig, numAttrs);
SAME(LaunchAttribute, id, CUlaunchAttribute, id);
SAME(LaunchAttribute, value, CUlaunchAttribute, value);
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
SAME(KernelNode, function, CUDA_KERNEL_NODE_PARAMS_v2, func);
static_assert(offsetof(KernelNode, grid) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, gridDimX));
static_assert(offsetof(KernelNode, block) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, blockDimX));
SAME(KernelNode, shared_bytes, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
SAME(KernelNode, parameters, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
SAME(KernelNode, extra, CUDA_KERNEL_NODE_PARAMS_v2, extra);
static_assert(sizeof(KernelNode) == sizeof(CUDA_KERNEL_NODE_PARAMS_v1));
static_assert(sizeof(KernelNode2) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
static_assert(sizeof(KernelNode) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kern));
static_assert(success == CUDA_SUCCESS && not_initialized == CUDA_ERROR_NOT_INITIALIZED);
static_assert(invalid_image == CUDA_ERROR_INVALID_IMAGE && invalid_handle == CUDA_ERROR_INVALID_HANDLE);
static_assert(not_ready == CUDA_ERROR_NOT_READY);
static_assert(jit_wall_time == CU_JIT_WALL_TIME && jit_info_log == CU_JIT_INFO_LOG_BUFFER);
static_assert(jit_info_log_size == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES && jit_error_log == CU_JIT_ERROR_LOG_BUFFER);
static_assert(jit_error_log_size == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(jit_target_from_context == CU_JIT_TARGET_FROM_CUCONTEXT);
static_assert(jit_log_verbose == CU_JIT_LOG_VERBOSE && jit_line_info == CU_JIT_GENERATE_LINE_INFO);
static_assert(attribute_ignore == CU_LAUNCH_ATTRIBUTE_IGNORE);
static_assert(attribute_access_policy == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW);
static_assert(attribute_cooperative == CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
static_assert(attribute_synchronization_policy == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY);
static_assert(attribute_programmatic_serialization == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(attribute_priority == CU_LAUNCH_ATTRIBUTE_PRIORITY);
static_assert(attribute_memory_domain_map == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP);
static_assert(attribute_memory_domain == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN);
static_assert(attribute_max_threads == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(attribute_static_shared == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(attribute_most_dynamic_shared == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(device_multiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(device_major == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(device_minor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(device_most_shared == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(capture_relaxed == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(capture_none == CU_STREAM_CAPTURE_STATUS_NONE);
static_assert(event_default == CU_EVENT_DEFAULT && stream_non_blocking == CU_STREAM_NON_BLOCKING);
static_assert(jit_input_ptx == CU_JIT_INPUT_PTX);
static_assert(per_thread_stream == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
int main() {
  void *const end = CU_LAUNCH_PARAM_END, *const buffer = CU_LAUNCH_PARAM_BUFFER_POINTER,
             *const size = CU_LAUNCH_PARAM_BUFFER_SIZE;
  return end == extra_end && buffer == extra_buffer && size == extra_size ? 0 : 1;
}
"""


class Hooks(unittest.TestCase):
    def test_layout(self):
        with tempfile.TemporaryDirectory() as scratch:
            source, program = Path(scratch) / "layout.cpp", Path(scratch) / "layout"
            source.write_text(LAYOUT)
            subprocess.run([COMPILER, "-std=c++20", "-Wno-enum-compare", "-I", ROOT, "-I", INCLUDE, source, "-o", program], check=True)
            subprocess.run([program], check=True)

    def test_every_version_has_a_hook(self):
        """cudaTypedefs.h names each version of each function: PFN_cuLaunchKernel_v7000_ptsz."""
        names = {row[0] for row in TABLE}
        self.assertGreater(len(names), 10)
        versions = {(name, int(since), bool(per_thread)) for name, since, per_thread in
                    re.findall(r"\*PFN_(cu[A-Za-z]+)_v(\d+)(_ptsz)?\)", (INCLUDE / "cudaTypedefs.h").read_text())
                    if name in names}
        mine = {row[:3] for row in TABLE}
        self.assertEqual(versions - mine, set())
        # Toolkits drop the oldest versions from their headers, never the newest.
        for name, since, _ in mine - versions:
            self.assertTrue(any(n == name and s > since for n, s, _ in versions), (name, since))

    def test_nothing_like_them_is_overlooked(self):
        functions = set(re.findall(r"^CUresult CUDAAPI\s+(cu\w+)\(|^(cu\w+)\(", (INCLUDE / "cuda.h").read_text(), re.M))
        functions = {a or b for a, b in functions}
        like = {name for name in functions if LIKE.match(name)}
        self.assertIn("cuLaunchKernelEx", like)
        self.assertEqual(like - {row[0] for row in TABLE} - set(LET_BE), set())

    def test_the_library_shows_hooks_and_nothing_else(self):
        shown = subprocess.run(["nm", "-D", "--defined-only", HELPER], capture_output=True, text=True, check=True)
        symbols = {line.split()[-1] for line in shown.stdout.splitlines()}
        self.assertEqual(symbols, {row[3] for row in TABLE} | {"dlsym", "dlopen", "nvrtcGetCUBIN"} | LINKER)

    def test_the_functions_of_nvjitlink(self):
        header = INCLUDE / "nvJitLink.h"
        if not header.exists():
            self.skipTest("no nvJitLink")
        functions = set(re.findall(r"(?<!\w)(?:__)?nvJitLink[A-Z]\w*(?= *\()", header.read_text()))
        mine = {name for name in functions if re.search(r"(Create|Add\w*|GetLinkedCubin|Destroy)(_\d+_\d+)?$", name)}
        self.assertGreater(len(mine), 5)
        self.assertLessEqual(mine, LINKER)

    def test_the_library_needs_nothing_of_cuda(self):
        needed = subprocess.run(["readelf", "-d", HELPER], capture_output=True, text=True, check=True).stdout
        libraries = set(re.findall(r"\(NEEDED\).*\[(.*)\]", needed))
        self.assertLessEqual(libraries, {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0",
                                         "ld-linux-x86-64.so.2"})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
