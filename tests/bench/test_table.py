"""The table of kernels agrees with itself and with the sources."""

import re
import unittest

import common
from bench import build, prediction, table

PARAMETERS = re.compile(r"void\s+(\w+)\(((?:int nx)[^)]*)\)", re.S)


def parameters(source):
    """(name, type) of each parameter of the kernel in a C or CUDA source, in order, and its name."""
    found = PARAMETERS.search(source.read_text())
    result = []
    for parameter in found[2].split(","):
        kind, name = re.fullmatch(r"\s*(.*?)(\w+)\s*", parameter, re.S).groups()
        result.append((name, kind.replace("__restrict__", "").strip()))
    return found[1], result


def fits(argument, kind):
    """True if a parameter of that type, less __restrict__, can be the argument: what is written is not
    const; what is read need not be, and in most kernels of the suite is not."""
    if argument["kind"] in ("extent", "stride"):
        return kind == "int"
    if argument["kind"] in ("plan", "scalar"):
        return kind == {"plan": "LaunchPlan", "scalar": "float"}[argument["kind"]]
    return kind == "float *" or (kind == "const float *" and argument["use"] == "in")


class TheTable(unittest.TestCase):
    def setUp(self):
        self.table = table.Table()

    def check_source(self, kernel, source, arguments):
        with self.subTest(source=source):
            entry, found = parameters(source)
            self.assertEqual(entry, kernel.entry)
            self.assertEqual([name for name, _ in found], [a["name"] for a in arguments])
            for argument, (name, kind) in zip(arguments, found):
                self.assertTrue(fits(argument, kind), f"{name}: {kind}")

    def test_arguments_are_the_parameters_of_every_source(self):
        for kernel in self.table.kernels + table.Table(common.BENCH / "plain.toml").kernels:
            self.check_source(kernel, kernel.source, kernel.arguments)
            self.assertTrue(build.bundled_ptx(kernel.source).exists())
        for kernel in self.table.kernels:
            acc = common.BENCH / "acc" / f"{kernel.name}.c"
            if acc.exists():  # it is not told of the launch
                told = ("plan", "stride")
                self.check_source(kernel, acc, [a for a in kernel.arguments if a["kind"] not in told])

    def test_the_table_of_shapes_fits_its_sources(self):
        shapes = table.Table(common.BENCH / "shapes.toml")
        self.assertGreaterEqual(len(shapes.kernels), 60)
        self.assertEqual(len({kernel.name for kernel in shapes.kernels}), len(shapes.kernels))
        self.assertLess(set(shapes.held_out), {kernel.name for kernel in shapes.kernels})
        for kernel in shapes.kernels:
            self.check_source(kernel, kernel.source, kernel.arguments)
            self.assertTrue(build.bundled_ptx(kernel.source).exists())
        self.assertEqual(
            {path.stem for path in common.BENCH.glob("polybench/*.cu")},
            {kernel.name for kernel in shapes.kernels if kernel.group == "polybench"},
        )

    def test_the_suite_computes_and_reads_as_published(self):
        """Results in double precision, loads through the read-only path, and the launch in a struct."""
        double = {"tricubic2": 48, "gameoflife": 7, "whispering": 3, "uxx1": 2, "sincos": 4}  # of sinf() and cosf()
        read_only = {"tricubic": 67, "wave13pt": 14, "jacobi": 9, "sincos": 4}
        fortran = {"jacobi", "matmul", "sincos"}
        for kernel in self.table.kernels:
            if kernel.group != "kernelgen":
                continue
            ptx = kernel.source.with_suffix(".ptx").read_text()
            with self.subTest(kernel=kernel.name):
                results = re.findall(r"^\s*(?:add|mul|fma\.rn|rcp\.rn|cvt(?:\.\w+)?)\.f64(?:\.\w+)?\s", ptx, re.M)
                self.assertEqual(len(results), double.get(kernel.name, 0))
                self.assertEqual(ptx.count("ld.global.nc."), read_only.get(kernel.name, 0))
                self.assertEqual("ld.param.v2.u32" in ptx, kernel.name not in fortran)

    def test_the_published_kernels_are_asked_for_as_the_others(self):
        shapes, published = (table.Table(common.BENCH / name) for name in ("shapes.toml", "shapes-published.toml"))
        suite = [kernel for kernel in self.table.kernels if kernel.group != "everyday"]
        names = [kernel.name for kernel in suite]
        self.assertEqual([kernel.name for kernel in published.kernels], names)
        self.assertEqual(published.held_out, names)
        self.assertEqual((published.blocks, len(published.variants)), (shapes.blocks, len(shapes.variants)))
        matmul = {kernel.name: kernel.sizes for kernel in published.kernels}["matmul"]
        self.assertEqual(matmul["large"], [2048, 2048, 1024])
        words = prediction.arguments(next(kernel for kernel in suite if kernel.name == "divergence"), [64, 32, 16])
        self.assertEqual(words[1:12:2], ["param_0=64", "param_1=32", "param_2=16", *(f"param_3+{at}:u32=threads.{axis}" for at, axis in ((24, "x"), (28, "y"), (32, "z")))])

    def test_ranks_are_compared(self):
        self.assertAlmostEqual(prediction.spearman([1, 2, 3, 4], [10, 20, 30, 40]), 1)
        self.assertAlmostEqual(prediction.spearman([1, 2, 3, 4], [4, 3, 2, 1]), -1)
        self.assertAlmostEqual(prediction.spearman([1, 2, 2, 3], [1, 2, 2, 3]), 1)
        self.assertEqual(prediction.spearman([1, 2, 3], [5, 5, 5]), 0)

    def test_the_suite_is_there_in_every_language(self):
        suite = [kernel for kernel in self.table.kernels if kernel.group == "kernelgen"]
        self.assertEqual(len(suite), 16)
        for kernel in suite:
            self.assertTrue((common.BENCH / "acc" / f"{kernel.name}.c").exists(), kernel.name)
            self.assertEqual(
                (common.BENCH / "fortran" / f"{kernel.name}.f90").exists(), kernel.fortran
            )
            self.assertIn("loads", kernel.published)

    def test_no_source_is_left_out(self):
        kernels = self.table.kernels + table.Table(common.BENCH / "plain.toml").kernels
        known = {kernel.source for kernel in kernels}
        for folder in ("suite", "cuda"):
            self.assertLessEqual(set((common.BENCH / folder).glob("*.cu")), known)
        names = {kernel.name for kernel in self.table.kernels}
        for pattern in ("acc/*.c", "fortran/*.f90"):
            self.assertLessEqual({path.stem for path in common.BENCH.glob(pattern)}, names)
        texts = "".join(path.read_text() for path in common.BENCH.glob("reference/**/*.cpp"))
        entered = set(re.findall(r'Registered \w+\(\s*"([^"]+)"', texts))
        self.assertEqual({kernel.reference for kernel in kernels}, entered)

    def test_int_indices_suffice_at_every_size(self):
        for kernel in self.table.kernels:
            for size, extents in kernel.sizes.items():
                values = dict(zip(table.EXTENTS, extents))
                for argument in kernel.arguments:
                    if argument["kind"] != "buffer":
                        continue
                    count = 1
                    for factor in (argument["count"] or "*".join(values)).split("*"):
                        count *= values.get(factor) or int(factor)
                    self.assertLess(count, 2**31, f"{kernel.name} {argument['name']} at {size}")

    def test_an_expectation_that_differs_says_why(self):
        for kernel in self.table.kernels:
            if kernel.published and kernel.expect:
                self.assertIn("why", kernel.expect, kernel.name)


class Arguments(unittest.TestCase):
    def test_forms(self):
        self.assertEqual(table.parse_argument("nx"), {"kind": "extent", "name": "nx"})
        self.assertEqual(table.parse_argument("a = -0.5")["value"], -0.5)
        self.assertEqual(table.parse_argument("plan"), {"kind": "plan", "name": "plan"})
        self.assertEqual(
            table.parse_argument("j_stride = stride y"),
            {"kind": "stride", "name": "j_stride", "axis": "y"},
        )
        self.assertEqual([table.rim(2), table.rim([2, 1])], [4, 3])
        buffer = table.parse_argument("inout e[2*nx*ny]: binary")
        self.assertEqual(
            (buffer["use"], buffer["count"], buffer["fill"]), ("inout", "2*nx*ny", "binary")
        )

    def test_what_is_wrong_is_refused(self):
        for text in ("nw", "in", "in a[nw]", "in a: ones", "a = x", "s = stride w"):
            with self.assertRaises(table.TableError, msg=text):
                table.parse_argument(text)

    def test_selection(self):
        suite = table.Table()
        suite.select(["jacobi"], ["full"])
        self.assertEqual([kernel.name for kernel in suite.kernels], ["jacobi"])
        self.assertEqual([variant.name for variant in suite.variants], ["original", "full"])
        suite = table.Table()
        suite.select([], [])
        self.assertNotIn("original-32", [variant.name for variant in suite.variants])
        suite = table.Table()
        suite.select([], ["original-32"])
        self.assertEqual(
            [(variant.name, variant.registers) for variant in suite.variants],
            [("original", None), ("original-32", 32)],
        )
        with self.assertRaises(table.TableError):
            table.Table().select(["jacoby"], [])
        with self.assertRaises(table.TableError):
            table.Table().select([], ["fuller"])


common.main()
