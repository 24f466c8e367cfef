#!/usr/bin/env bash
# Installs what is missing, builds ptxasw (not the tests), and shows the main job on one kernel: what was
# found in it, what was changed, and that the real ptxas takes the result.
#   --yes   install missing packages by sudo without asking
set -euo pipefail
cd "$(dirname "$0")"
. ./.ci/setup.sh

take_yes "$@"
if [ ${#words[@]} -ne 0 ]; then
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
  [ "${words[0]}" = --help ] || [ "${words[0]}" = -h ] || exit 2
  exit
fi
install_packages "${packages[@]}"
# A folder that test.sh has set up keeps its tests.
tests=OFF
grep -qs '^PTXASW_TESTS:BOOL=ON' build/CMakeCache.txt && tests=ON
build "$tests" programs
step="trying it on a kernel"

out=build/quickstart
mkdir -p "$out"
ptxasw=build/ptxasw
if toolkit=$(find_cuda); then
  say "CUDA toolkit: $toolkit"
  "$ptxasw" overlay build/overlay --cuda "$toolkit" >/dev/null
  say "nvcc -arch=sm_90 through the overlay, with -Xptxas --ptxasw-shuffle=always:"
  build/overlay/bin/nvcc -arch=sm_90 -cubin -o "$out/jacobi.cubin" \
    -Xptxas --ptxasw-shuffle=always,--ptxasw-verbose,--ptxasw-report="$out/jacobi.json" \
    kernelgen-bench/cuda/jacobi.cu
  "$toolkit/bin/nvcc" -arch=sm_90 -cubin -o "$out/jacobi.plain.cubin" kernelgen-bench/cuda/jacobi.cu
  say "Assembled: $out/jacobi.cubin ($(stat -c %s "$out/jacobi.cubin") bytes;" \
    "$(stat -c %s "$out/jacobi.plain.cubin") without ptxasw)"
else
  say "No CUDA toolkit here: rewriting the PTX that nvcc made of jacobi.cu."
  "$ptxasw" rewrite tests/data/jacobi.ptx -o "$out/jacobi.ptx" --shuffle=always --verbose \
    --report="$out/jacobi.json"
  say "Rewritten: $out/jacobi.ptx"
  diff -u --label before --label after tests/data/jacobi.ptx "$out/jacobi.ptx" | head -n 60 || true
fi
say "Report: $out/jacobi.json"
