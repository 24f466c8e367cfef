# Sourced by quickstart.sh and test.sh: what both need before they differ.

# Debian 12 packages: compilers and tools, then libraries.
packages=(g++ cmake ninja-build antlr4 ccache python3 clang-format clang-tidy hyperfine
  libantlr4-runtime-dev libz3-dev libboost-dev doctest-dev nlohmann-json3-dev libcli11-dev
  libfmt-dev libtomlplusplus-dev libexpected-dev liblzma-dev)

# Callers of ptxas that the tests drive, beyond what the build needs.
test_packages=(clang libclang-rt-dev gcc-12-offload-nvptx make python3-jsonschema)

say() { printf '== %s\n' "$*"; }

# install_packages PACKAGE...: those that are missing.
install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "Installing ${missing[*]}"
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# One compiler needs up to 2 GB here; more at once than memory holds ends in swapping.
jobs_at_once() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ { print int($2 / 2097152) }' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

build() {
  say "Building"
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
  cmake --build build -j "$(jobs_at_once)" | tail -n 1
}

# Prints the root of a CUDA toolkit: CUDA_HOME, CUDA_PATH, the nvcc in PATH, the usual places.
find_cuda() {
  local place
  for place in "${CUDA_HOME:-}" "${CUDA_PATH:-}" \
    "$(command -v nvcc >/dev/null && dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")" \
    /usr/local/cuda /usr/local/cuda-* /opt/cuda /usr/lib/nvidia-cuda-toolkit; do
    if [ -n "$place" ] && [ -x "$place/bin/nvcc" ] && [ -x "$place/bin/ptxas" ]; then
      echo "$place"
      return 0
    fi
  done
  return 1
}
