"""Builds cubins: nvcc makes PTX, ptxasw rewrites it, ptxas assembles it."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

from .table import FOLDER

# What nvcc made of the sources, for machines without a CUDA toolkit; all of this target.
BUNDLED = FOLDER / "ptx"
BUNDLED_TARGET = "sm_90"

# GCC's OpenACC back end wants the loops of a kernel in PTX of at least this target.
GCC_TARGET = "sm_75"


# Registers of a multiprocessor, on every architecture that has shfl.sync.
REGISTER_FILE = 65536


class BuildError(RuntimeError):
    """A tool is missing or refused its input; the text has the command and its message."""


def need_built(program, option):
    """BuildError unless a program of this project is there."""
    if not pathlib.Path(program).exists():
        raise BuildError(f"no {program}: build the project first, or name the program with {option}")


def run_tool(command):
    """Runs a command; returns its stdout and stderr together."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        line = " ".join(str(part) for part in command)
        raise BuildError(f"{line}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def find_toolkit_program(name):
    """A program of the CUDA toolkit, from PATH, then $CUDA_HOME, then the usual place; or None."""
    places = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    found = shutil.which(name)
    for place in places:
        candidate = place and pathlib.Path(place) / "bin" / name
        if not found and candidate and candidate.exists():
            found = str(candidate)
    return found


def bundled_ptx(source):
    """What nvcc made of a source: beside it, or in the folder of the suite's."""
    beside = source.with_suffix(".ptx")
    return beside if beside.exists() else BUNDLED / beside.name


def machine_code(cubin):
    """The instructions in a cubin, a 64-bit little-endian ELF file: its sections `.text.KERNEL`. What
    else is in there differs with the words that ptxas was called with."""
    data = cubin.read_bytes()
    (headers,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", data, headers + i * size) for i in range(count)]
    start = sections[names][4]
    code = {}
    for name, _, _, _, at, length in sections:
        name = data[start + name : data.index(b"\0", start + name)].decode()
        if name.startswith(".text."):
            code[name] = data[at : at + length]
    return code


class Builder:
    """Builds for one target into one folder. Where there is no nvcc, or with `bundled`, it takes the
    bundled PTX and makes no cubins: counts can be had without a toolkit, timings cannot."""

    def __init__(self, work, target, ptxasw, bundled=False):
        self.work = pathlib.Path(work)
        self.target = target
        self.nvcc = None if bundled else find_toolkit_program("nvcc")
        self.ptxas = find_toolkit_program("ptxas") if self.nvcc else None
        self.ptxasw = str(ptxasw)
        need_built(self.ptxasw, "--ptxasw")
        if self.nvcc and not self.ptxas:
            raise BuildError(f"there is {self.nvcc} but no ptxas")
        if not self.nvcc and target != BUNDLED_TARGET:
            raise BuildError(f"without nvcc there is PTX for {BUNDLED_TARGET} only")
        self.work.mkdir(parents=True, exist_ok=True)

    def ptx(self, source, output):
        if self.nvcc:
            run_tool([self.nvcc, "-ptx", f"-arch={self.target}", source, "-o", output])
        else:
            shutil.copyfile(bundled_ptx(source), output)

    def cubin(self, ptx, output, max_registers, *options):
        """Assembles; returns what ptxas says of registers and spills."""
        command = [self.ptxas, "-v", f"-arch={self.target}", f"-maxrregcount={max_registers}"]
        command += options
        said = run_tool([*command, ptx, "-o", output])
        registers = re.search(r"Used (\d+) registers", said)
        spills = re.search(r"(\d+) bytes spill stores", said)
        return {
            "registers": int(registers[1]) if registers else None,
            "spill_bytes": int(spills[1]) if spills else None,
        }

    def rewrite(self, ptx, output, options):
        """Rewrites; returns the report of the module's kernel."""
        report = output.with_suffix(".json")
        run_tool([self.ptxasw, "rewrite", ptx, "-o", output, *options, "--report", report])
        return summary(json.loads(report.read_text()))

    def kernel(self, kernel, variants, max_registers, exact=True):
        """All variants of a kernel. Returns ({variant: cubin name}, {variant: name of the cubin
        without contraction}, {variant: facts}); the second has valid variants only, and nothing
        unless `exact`."""
        images, exact_images, facts, texts = {}, {}, {}, {}
        source = self.work / f"{kernel.name}.ptx"
        self.ptx(kernel.source, source)
        for variant in variants:
            ptx, fact = source, {}
            if variant.rewrite is not None:
                ptx = self.work / f"{kernel.name}.{variant.name}.ptx"
                fact = self.rewrite(source, ptx, [*variant.rewrite, *kernel.options])
            # A variant that came out like an earlier one is not run twice.
            registers = min(max_registers, variant.registers or max_registers)
            made = ptx.read_bytes(), registers
            same = next((name for name, earlier in texts.items() if earlier == made), None)
            if same:
                fact = {**facts[same], **fact, "same_as": same}
            elif not self.ptxas:
                texts[variant.name] = made
            else:
                cubin = f"{kernel.name}.{variant.name}.cubin"
                fact |= self.cubin(ptx, self.work / cubin, registers)
                images[variant.name] = cubin
                texts[variant.name] = made
                if variant.valid and exact:
                    name = f"{kernel.name}.{variant.name}.exact.cubin"
                    self.cubin(ptx, self.work / name, registers, "--fmad=false")
                    exact_images[variant.name] = name
            facts[variant.name] = fact
        return images, exact_images, facts

    def tools(self):
        """The runner's own device functions."""
        if self.nvcc:
            self.nvcc_cubin(FOLDER / "runner" / "tools.cu", "tools.cubin")

    def probe(self):
        """The device functions of the probe."""
        self.nvcc_cubin(FOLDER / "probe" / "probe.cu", "probe.cubin")

    def nvcc_cubin(self, source, name):
        arch = f"-arch={self.target}"
        run_tool([self.nvcc, "-cubin", "-std=c++17", arch, source, "-o", self.work / name])

    def all(self, table, jobs, progress):
        """Everything in the table. Returns what kernel() does, by kernel; progress(done, kernel
        name)."""
        self.tools()
        images, exact_images, facts = {}, {}, {}
        # As for NVHPC, which says so by .maxntid: the largest block shape must fit.
        max_registers = REGISTER_FILE // max(x * y for x, y in table.blocks)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            futures = {
                pool.submit(self.kernel, kernel, table.variants, max_registers): kernel
                for kernel in table.kernels
            }
            try:
                for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                    name = futures[future].name
                    images[name], exact_images[name], facts[name] = future.result()
                    progress(done, name)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return images, exact_images, facts

    def versions(self):
        """What the tools call themselves."""
        text = (
            run_tool([self.nvcc, "--version"])
            if self.nvcc
            else (BUNDLED / "jacobi.ptx").read_text()
        )
        nvcc = re.search(r"release [\d.]+, V([\d.]+)", text)
        ptxasw = run_tool([self.ptxasw, "--version"]).strip().splitlines()
        return {"nvcc": nvcc[1] if nvcc else None, "ptxasw": ptxasw[0] if ptxasw else None}


def summary(report):
    """What the tables need of a report of `ptxasw rewrite`, over all kernels of the module."""
    modules = report.get("modules", [report])
    kernels = [kernel for module in modules for kernel in module["kernels"]]
    covered = sum(kernel["shuffles"] + kernel["copies"] for kernel in kernels)
    distance = sum(
        kernel["mean_delta"] * (kernel["shuffles"] + kernel["copies"]) for kernel in kernels
    )
    milliseconds = sum(module["parse_milliseconds"] for module in modules)
    milliseconds += sum(sum(kernel["milliseconds"].values()) for kernel in kernels)
    reasons = {}
    for kernel in kernels:
        for kept in kernel["kept"]:
            reasons[kept["reason"]] = reasons.get(kept["reason"], 0) + 1
    return {
        "loads": sum(kernel["loads"] for kernel in kernels),
        "shuffles": sum(kernel["shuffles"] for kernel in kernels),
        "copies": sum(kernel["copies"] for kernel in kernels),
        "mean_delta": distance / covered if covered else None,
        "analysis_ms": milliseconds,
        "kept": reasons,
    }


def find_gcc():
    """A GCC that offloads to NVIDIA devices, or None."""
    for name in ("gcc", "gcc-12", "gcc-13", "gcc-14"):
        path = shutil.which(name)
        if not path:
            continue
        said = subprocess.run([path, "-v"], capture_output=True, text=True).stderr
        compiler = subprocess.run(
            [path, "-print-prog-name=accel/nvptx-none/mkoffload"], capture_output=True, text=True
        )
        mkoffload = compiler.stdout.strip()
        if "nvptx" in said and mkoffload and pathlib.Path(mkoffload).exists():
            return path
    return None


def gcc_ptx(gcc, source, output, *options):
    """The PTX that GCC's OpenACC makes of a C source. Its linker leaves it beside the output."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [gcc, "-O3", "-fopenacc", "-fPIC", "-shared", "-foffload=nvptx-none", *options]
        command += [
            f"-foffload-options=nvptx-none=-misa={GCC_TARGET}",
            "-foffload-options=nvptx-none=-lm",
        ]
        command += ["-save-temps", source, "-o", pathlib.Path(scratch) / "out.so"]
        run_tool(command)
        left = sorted(pathlib.Path(scratch).glob("*.mkoffload.o"))
        if not left:
            raise BuildError(f"{gcc} left no PTX of {source}")
        # Several modules follow each other in the linked file, a NUL byte between them.
        output.write_bytes(left[0].read_bytes().split(b"\0")[0])
