#!/usr/bin/env python3
"""launch.py LAUNCHES.json CUBINS: each kernel once, as `racuda.py --launches` or `bench.py` list them, on a
machine with a GPU, under Nsight Compute:

    ncu --csv --page raw --clock-control none --metrics ... python3 launch.py launches.json cubins
"""

import ctypes
import json
import struct
import sys

cuda = ctypes.CDLL("libcuda.so.1")


def check(status):
    if status != 0:
        sys.exit(f"the driver says {status}")


check(cuda.cuInit(0))
context, device = ctypes.c_void_p(), ctypes.c_int()
check(cuda.cuDeviceGet(ctypes.byref(device), 0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
check(cuda.cuCtxSetCurrent(context))

for launch in json.load(open(sys.argv[1])):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuModuleLoad(ctypes.byref(module), f"{sys.argv[2]}/{launch['file']}.cubin".encode()))
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, launch["name"].encode()))
    arguments, buffers = [], []
    for kind, value in launch["args"]:
        if kind == "zeros":  # as far apart as the largest alignment asks for
            buffers.append(ctypes.c_uint64())
            check(cuda.cuMemAlloc_v2(ctypes.byref(buffers[-1]), ctypes.c_size_t(max(value, 1))))
            check(cuda.cuMemsetD8_v2(buffers[-1], ctypes.c_ubyte(0), ctypes.c_size_t(max(value, 1))))
            arguments.append(struct.pack("<Q", buffers[-1].value))
        else:
            arguments.append(bytes.fromhex(value) if kind == "bytes" else struct.pack("<f" if kind == "f32" else "<i", value))
    places = [ctypes.create_string_buffer(argument, len(argument)) for argument in arguments]
    pointers = (ctypes.c_void_p * len(places))(*[ctypes.addressof(place) for place in places])
    grid, block = ([*launch[word], 1, 1][:3] for word in ("grid", "block"))
    check(cuda.cuLaunchKernel(function, *map(ctypes.c_uint, (*grid, *block, launch["shared"])), None, pointers, None))
    check(cuda.cuCtxSynchronize())
    for buffer in buffers:
        check(cuda.cuMemFree_v2(buffer))
    check(cuda.cuModuleUnload(module))
    print(launch.get("label", launch["name"]), "done")
