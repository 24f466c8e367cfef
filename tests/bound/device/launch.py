#!/usr/bin/env python3
"""launch.py LAUNCHES.json CUBINS: each kernel of RaCUDA once, as `racuda.py --launches` lists them, on a
machine with a GPU and CuPy, under Nsight Compute:

    ncu --csv --page raw --clock-control none --metrics ... python3 launch.py launches.json cubins
"""

import json
import sys

import cupy
import numpy

for launch in json.load(open(sys.argv[1])):
    module = cupy.RawModule(path=f"{sys.argv[2]}/{launch['file']}.cubin")
    arguments = []
    for kind, value in launch["args"]:
        # Buffers as far apart as the largest alignment asks for.
        arguments.append(cupy.zeros(value, numpy.uint8) if kind == "zeros"
                         else numpy.float32(value) if kind == "f32" else numpy.int32(value))
    module.get_function(launch["name"])(tuple(launch["grid"]), tuple(launch["block"]), tuple(arguments),
                                        shared_mem=launch["shared"])
    cupy.cuda.Device().synchronize()
    print(launch["name"], "done")
