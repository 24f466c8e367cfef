"""The PEP 517 backend that makes the wheel `ptxasw`, with nothing but Python and what ptxasw is built with.

In the wheel are the program with its libraries, man pages and completions as `cmake --install` lays them down (so each finds
the others from where it lies), the Python package, and in it libptxasw_emulate.so. What these load and manylinux does not
promise lies beside them. The tag is what the binaries ask of the C library, read from them."""

import base64
import hashlib
import platform
import re
import shutil
import stat
import subprocess
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
VERSION = re.search(r"project\(ptxasw VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
INFO = f"ptxasw-{VERSION}.dist-info"
DATA = f"ptxasw-{VERSION}.data"

# What manylinux lets a wheel take from the system (PEP 600), of what is linked here.
PROMISED = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|ld-linux-[\w-]+)\.so\.\d+")
# The C++ library of each C library: {minor version of glibc 2: (GLIBCXX_3.4.X, CXXABI_1.3.X)}, as in Ubuntu 22.04, Debian 12
# and Ubuntu 24.04.
CXX = {35: (30, 13), 36: (30, 13), 39: (33, 15)}

# What is compiled into the binaries: packages of which Debian has the licences.
WITHIN = ("libantlr4-runtime-dev", "libboost-dev", "libcli11-dev", "libexpected-dev", "libfmt-dev", "liblz4-dev", "libtomlplusplus-dev",
          "libzstd-dev", "nlohmann-json3-dev")

METADATA = f"""Metadata-Version: 2.1
Name: ptxasw
Version: {VERSION}
Summary: Find out why a CUDA kernel is slow, and run a faster version of it, without touching the source
License: MIT
Requires-Python: >=3.9
Description-Content-Type: text/markdown

"""


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, text=True, stdout=subprocess.PIPE).stdout


def needed_by(path):
    """What an ELF file loads, and the newest version that it asks of each kind of symbols."""
    said = run("objdump", "-p", path)
    versions = {}
    for kind, version in re.findall(r"(GLIBC|GLIBCXX|CXXABI)_([0-9.]+)", said[said.find("Version References"):]):
        versions[kind] = max(versions.get(kind, (0,)), tuple(map(int, version.split("."))))
    return re.findall(r"NEEDED +(\S+)", said), versions


def brought_along(library):
    """The files that a library loads, directly or not, and no system promises: by the names that it asks for them."""
    found = dict(re.findall(r"(\S+) => (/\S+)", run("ldd", library)))
    return {name: Path(path).resolve() for name, path in found.items() if not PROMISED.fullmatch(name)}


def licences_of(libraries):
    """The texts that Debian has for the packages of these libraries and of what is compiled in, by the files' names."""
    packages = {run("dpkg", "-S", library).split(":")[0] for library in libraries}
    return {f"{INFO}/licenses/{package}": Path("/usr/share/doc", package, "copyright").read_bytes()
            for package in sorted(packages.union(WITHIN))}


def tag_of(binaries):
    """manylinux_2_X for the newest symbols that any of them asks for."""
    asked = {}
    for path in binaries:
        for kind, version in needed_by(path)[1].items():
            asked[kind] = max(asked.get(kind, (0,)), version)
    for minor, (cxx, abi) in sorted(CXX.items()):
        if asked["GLIBC"] <= (2, minor) and asked.get("GLIBCXX", ()) <= (3, 4, cxx) and asked.get("CXXABI", ()) <= (1, 3, abi):
            return f"py3-none-manylinux_2_{minor}_{platform.machine()}"
    raise RuntimeError(f"no known system has all that the binaries ask for: {asked}")


def built(settings):
    """The build folder, with what goes into the wheel."""
    if "build-dir" in settings:
        return Path(settings["build-dir"]).resolve()
    build = ROOT / "build"
    if not (build / "CMakeCache.txt").exists():
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        run("cmake", "-S", ROOT, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DPTXASW_TESTS=OFF")
    run("cmake", "--build", build, "--target", "package-runtime", "package-emulate")
    return build


def installed(build, scratch):
    """What `cmake --install` lays down of the program and of what runs without a GPU, stripped, below the folder that is
    returned."""
    manifests = {path: path.read_bytes() for path in build.glob("install_manifest*.txt")}  # for the target `uninstall`
    run("cpack", "--config", build / "CPackConfig.cmake", "-G", "TGZ", "-B", scratch, "-D", "CPACK_COMPONENTS_ALL=runtime;emulate",
        "-D", "CPACK_CMAKE_GENERATOR=Ninja")
    for path in build.glob("install_manifest*.txt"):
        path.unlink()
    for path, content in manifests.items():
        path.write_bytes(content)
    tree = scratch / "tree"
    tree.mkdir()
    for archive in scratch.glob("*.tar.gz"):
        run("tar", "-xf", archive, "-C", tree, "--strip-components=1")
    return tree / "usr" if (tree / "usr").exists() else tree


def contents(build, scratch):
    """What is in the wheel, bytes or files by name, and its tag."""
    tree = installed(build, scratch)
    files = {}
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree)
        if path.is_dir() or path.name == "libcudart.so" or name.parts[:2] == ("share", "doc"):
            continue
        if name.parts[0] == "bin":
            files[f"{DATA}/scripts/{name.name}"] = path
        elif name.parts[0] in ("libexec", "share"):
            files[f"{DATA}/data/{name}"] = path
        elif name.name == "libptxasw_emulate.so":
            files[f"ptxasw/lib/{name.name}"] = path
    others = {f"{name.rsplit('/', 1)[0]}/{other}": place for name, path in files.items()
              if name.endswith(("/libptxasw_emulate.so", "/libcudart.so.13")) for other, place in brought_along(path).items()}
    files.update(others)
    files.update(licences_of(others.values()))
    for path in sorted((ROOT / "wrapper/python/ptxasw").iterdir()):
        if path.is_file():
            files[f"ptxasw/{path.name}"] = path
    files[f"{INFO}/licenses/LICENSE"] = ROOT / "LICENSE"
    binaries = [path for name, path in files.items() if isinstance(path, Path) and
                (name.endswith("/scripts/ptxasw") or re.search(r"\.so(\.[\d.]+)?$", name))]
    tag = tag_of(binaries)
    files[f"{INFO}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: ptxasw\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{INFO}/METADATA"] = metadata().encode()
    return files, tag


def metadata():
    return METADATA + (ROOT / "docs/python.md").read_text()


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """The metadata alone, which needs no build."""
    folder = Path(metadata_directory, INFO)
    folder.mkdir()
    (folder / "METADATA").write_text(metadata())
    return INFO


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """`config_settings` may have `build-dir`, the folder of a build that is taken as it is."""
    build = built(config_settings or {})
    with tempfile.TemporaryDirectory() as scratch:
        files, tag = contents(build, Path(scratch))
        name = f"ptxasw-{VERSION}-{tag}.whl"
        record = []
        with zipfile.ZipFile(Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
            for path, content in files.items():
                data = content if isinstance(content, bytes) else content.read_bytes()
                entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (stat.S_IFREG | (0o755 if data.startswith(b"\x7fELF") else 0o644)) << 16
                wheel.writestr(entry, data)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                record.append(f"{path},sha256={digest},{len(data)}\n")
            record.append(f"{INFO}/RECORD,,\n")
            wheel.writestr(zipfile.ZipInfo(f"{INFO}/RECORD", (1980, 1, 1, 0, 0, 0)), "".join(record))
    return name


def build_sdist(sdist_directory, config_settings=None):
    """What is committed."""
    name = f"ptxasw-{VERSION}.tar.gz"
    with tempfile.TemporaryDirectory() as scratch:
        information = Path(scratch, "PKG-INFO")
        information.write_text(METADATA)
        run("git", "-C", ROOT, "archive", f"--prefix=ptxasw-{VERSION}/", f"--add-file={information}", "-o",
            Path(sdist_directory, name).resolve(), "HEAD")
    return name
