"""kernels.toml: reads it, checks it, and turns it into what the runner's manifest says."""

import pathlib
import re
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent.parent
AXES = ("x", "y", "z")
EXTENTS = ("nx", "ny", "nz")
FILLS = ("uniform", "unit", "binary")
GROUPS = {
    "kernelgen": "The KernelGen suite",
    "application": "Applications",
    "plain": "The suite and applications in plain CUDA",
    "everyday": "Everyday kernels",
    "polybench": "Kernels after PolyBench",
}


class TableError(ValueError):
    """kernels.toml says something that makes no sense; the text names the kernel."""


def parse_argument(text):
    """One entry of `args` as the manifest has it."""
    if text in EXTENTS:
        return {"kind": "extent", "name": text}
    if text == "plan":
        return {"kind": "plan", "name": text}
    stride = re.fullmatch(r"(\w+) = stride ([xyz])", text)
    if stride:
        return {"kind": "stride", "name": stride[1], "axis": stride[2]}
    scalar = re.fullmatch(r"(\w+) = (-?[0-9.]+)", text)
    if scalar:
        return {"kind": "scalar", "name": scalar[1], "value": float(scalar[2])}
    buffer = re.fullmatch(r"(in|out|inout) (\w+)(?:\[([\w*]+)\])?(?:: (\w+))?", text)
    if not buffer:
        raise TableError(f"argument '{text}' is not understood")
    use, name, count, fill = buffer[1], buffer[2], buffer[3] or "", buffer[4] or "uniform"
    if fill not in FILLS:
        raise TableError(f"argument '{text}': there is no fill '{fill}'")
    for factor in count.split("*") if count else []:
        if not factor.isdigit() and factor not in EXTENTS:
            raise TableError(f"argument '{text}': '{factor}' is no extent")
    return {"kind": "buffer", "name": name, "use": use, "count": count, "fill": fill}


def rim(halo):
    """Points of an axis that no thread visits, both ends together: `halo` is the number at each end, or
    [low, high]."""
    return sum(halo) if isinstance(halo, list) else 2 * halo


class Kernel:
    """One [kernel.NAME] of the table; its source is in the folder that it names, or else in `folder`."""

    def __init__(self, name, entry, default_sizes, folder):
        self.name = name
        self.source = FOLDER / entry.get("sources", folder) / f"{name}.cu"
        try:
            self.entry = entry.get("entry", name)
            self.reference = entry.get("reference", name)
            self.group = entry["group"]
            self.arguments = [parse_argument(text) for text in entry["args"]]
            self.grid = entry["grid"]
            halo = entry["halo"]
        except TableError as error:
            raise TableError(f"{name}: {error}") from None
        except KeyError as error:
            raise TableError(f"{name}: {error} is missing") from None
        self.rim = [rim(ends) for ends in (halo if isinstance(halo, list) else [halo] * len(self.grid))]
        self.dimensions = sum(argument["kind"] == "extent" for argument in self.arguments)
        self.tolerance = entry.get("tolerance", 1e-5)
        self.fortran = entry.get("fortran", False)
        self.options = entry.get("options", [])
        self.published = entry.get("published")
        self.expect = entry.get("expect")
        self.sizes = {
            size: entry.get("size", {}).get(size, extents[str(self.dimensions)])
            for size, extents in default_sizes.items()
        }
        if self.group not in GROUPS:
            raise TableError(f"{name}: there is no group '{self.group}'")
        if len(self.rim) != len(self.grid) or any(axis not in AXES for axis in self.grid):
            raise TableError(f"{name}: grid and halo do not fit")
        for size, extents in self.sizes.items():
            if len(extents) != self.dimensions:
                raise TableError(f"{name}: size {size} has not {self.dimensions} extents")

    def manifest(self, images, exact_images):
        """The kernel as the runner reads it; both map variants to files, the second to those
        without contraction."""
        return {
            "name": self.name,
            "entry": self.entry,
            "reference": self.reference,
            "group": self.group,
            "dimensions": self.dimensions,
            "tolerance": self.tolerance,
            "arguments": self.arguments,
            "grid": self.grid,
            "rim": self.rim,
            "sizes": self.sizes,
            "images": images,
            "exact_images": exact_images,
        }


class Variant:
    """One [variants.NAME] of the table: `rewrite` is None for the compiler's own PTX, `registers` for
    as many as the largest block allows."""

    def __init__(self, name, entry):
        self.name = name
        self.valid = entry["valid"]
        self.rewrite = entry.get("rewrite")
        self.registers = entry.get("registers")
        self.extra = entry.get("extra", False)


def read(path):
    """What a TOML file says."""
    with open(path, "rb") as file:
        return tomllib.load(file)


class Table:
    """All of kernels.toml, or of another file in its format, which has from kernels.toml, or from the
    file that its `base` names, what it does not say itself of sizes, variants and blocks. Such a file
    may take kernels of kernels.toml (`also`), of plain.toml (`also_plain`) and of shapes.toml (`also_shapes`), at
    its own sizes ([sizes], and for some of them [size]), and has its sources where `sources` says; shapes.toml
    does."""

    def __init__(self, path=FOLDER / "kernels.toml"):
        said = read(path)
        base = read(FOLDER / said.get("base", "kernels.toml"))
        inherited = ("sizes", "size", "variants", "blocks")
        table = {**{key: base[key] for key in inherited if key in base}, **said}
        self.kernels = [
            Kernel(name, entry, table["sizes"], table["sources"])
            for name, entry in table.get("kernel", {}).items()
        ]
        for key, file in (("also", "kernels.toml"), ("also_plain", "plain.toml"), ("also_shapes", "shapes.toml")):
            others = read(FOLDER / file) if table.get(key) else {}
            for name in table.get(key, []):
                entry = {**others["kernel"][name], "size": table.get("size", {}).get(name, {})}
                self.kernels.append(Kernel(name, entry, table["sizes"], others["sources"]))
        held_out = table.get("held_out", [])
        self.held_out = [kernel.name for kernel in self.kernels] if held_out is True else held_out
        self.flat_blocks = table["blocks"].get("flat", [])
        self.variants = [Variant(name, entry) for name, entry in table["variants"].items()]
        self.blocks = table["blocks"]["shapes"]
        if not self.variants or self.variants[0].rewrite is not None or self.variants[0].extra:
            raise TableError("the first variant must be the original")

    def select(self, kernels, variants):
        """Keeps the kernels and variants named (for an empty list all, less the extra variants); the
        original always stays."""
        for what, names, entries in (
            ("kernel", kernels, self.kernels),
            ("variant", variants, self.variants),
        ):
            unknown = set(names) - {entry.name for entry in entries}
            if unknown:
                raise TableError(f"there is no {what} '{sorted(unknown)[0]}'; see --list")
        if kernels:
            self.kernels = [kernel for kernel in self.kernels if kernel.name in kernels]
        original, *others = self.variants
        self.variants = [original] + [
            variant
            for variant in others
            if variant.name in variants or not (variants or variant.extra)
        ]


def manifest(table, target, images, exact_images, static, tools="tools.cubin"):
    """The runner's manifest: images and exact_images map kernel names to {variant: file}, static
    goes to the report."""
    return {
        "target": target,
        "tools": tools,
        "variants": [{"name": variant.name, "valid": variant.valid} for variant in table.variants],
        "blocks": table.blocks,
        "kernels": [
            kernel.manifest(images.get(kernel.name, {}), exact_images.get(kernel.name, {}))
            for kernel in table.kernels
        ],
        "static": static,
    }
