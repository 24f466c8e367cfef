# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by quickstart.sh and test.sh: what both need before they differ.

# Debian 12 packages: what the programs are built with and from.
packages=(g++ cmake ninja-build libantlr4-runtime-dev libz3-dev libboost-dev nlohmann-json3-dev
  libcli11-dev libfmt-dev libtomlplusplus-dev libexpected-dev liblz4-dev libzstd-dev)

# What the tests and benchmarks need beyond that: tools, libraries, and callers of ptxas to drive.
test_packages=(doctest-dev liblzma-dev python3 python3-jsonschema python3-numpy python3-pip python3-venv python3-build mypy antlr4 ccache clang clang-format clang-tidy
  libclang-rt-dev gcc-12-offload-nvptx hyperfine make dpkg-dev file chromium python3-markdown parallel pkg-config)

say() { printf '== %s\n' "$*"; }

# take_yes WORD...: sets `yes` if the first word is --yes, and `words` to the others.
take_yes() {
  yes=no
  if [ "${1:-}" = --yes ] || [ "${1:-}" = -y ]; then
    yes=yes
    shift
  fi
  words=("$@")
}

# What the script is doing; it is named if the script ends with an error.
step=
trap 'code=$?; [ $code -eq 0 ] || [ -z "$step" ] || say "Stopped with exit code $code while $step"' EXIT

# Names elsewhere, for those who have no apt. Debian's and Ubuntu 24.04's are the tested ones.
elsewhere='Fedora:   gcc-c++ cmake ninja-build antlr4-cpp-runtime-devel z3-devel boost-devel json-devel cli11-devel
          fmt-devel tomlplusplus-devel expected-devel lz4-devel libzstd-devel
Arch:     gcc cmake ninja antlr4-runtime z3 boost nlohmann-json cli11 fmt tomlplusplus tl-expected lz4 zstd
openSUSE: gcc-c++ cmake ninja libantlr4-runtime-devel z3-devel boost-devel nlohmann_json-devel cli11-devel
          fmt-devel tomlplusplus-devel tl-expected-devel liblz4-devel libzstd-devel
These three are not tested; the build says what it does not find.'

# may_install PACKAGE...: true if the user agrees. Root, --yes and CI are not asked.
may_install() {
  local answer
  [ "$(id -u)" -eq 0 ] || [ "$yes" = yes ] || [ -n "${CI:-}" ] && return
  if [ ! -t 0 ]; then
    say "Nobody is there to ask. Say --yes to have this run: sudo apt-get install $*"
    return 1
  fi
  read -r -p "== Run sudo apt-get install $* ? [y/N] " answer
  [[ $answer == [yY]* ]]
}

# install_packages PACKAGE...: those that are missing. Where packages cannot be installed, or have other
# names, it says what is needed and goes on: the build says what it does not find.
install_packages() {
  local missing=() package as_root=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "No apt here. These Debian packages, by your system's names, are needed: $*"
    printf '%s\n' "$elsewhere"
    return
  fi
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      say "Not root, and no sudo. Have somebody run: apt-get install ${missing[*]}"
      return
    fi
    as_root=(sudo)
  fi
  if ! may_install "${missing[@]}"; then
    say "Going on without: ${missing[*]}"
    return
  fi
  step="fetching the lists of packages (apt-get update); is there a network?"
  say "Installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq -o APT::Update::Error-Mode=any
  step="installing packages (apt-get install ${missing[*]}); what was installed stays, another run goes on from there"
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

# build TESTS [TARGET...]: TESTS is ON or OFF. Shows how far it is: on a terminal in one line, elsewhere
# every tenth step.
build() {
  local tests=$1 targets=()
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  say "Building ${*}"
  step="building; cmake --build build goes on from there"
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release "-DPTXASW_TESTS=$tests" >/dev/null
  if [ -t 1 ]; then
    cmake --build build -j "$(jobs_at_once)" "${targets[@]}"
  else
    cmake --build build -j "$(jobs_at_once)" "${targets[@]}" |
      awk '/^\[[0-9]+\/[0-9]+\]/ { if (++steps % 10 == 0) { print; fflush() } last = $0; next }
           { print } END { if (steps % 10) print last }'
  fi
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
