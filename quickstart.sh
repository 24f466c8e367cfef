#!/usr/bin/env bash
# Installs what is missing, builds ptxasw (not the tests), and shows the main job: why a kernel is slow and,
# where there is a GPU, a program that runs faster.
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
  export CUDA_HOME=$toolkit
  kernel=docs/examples/row_sums.cu
else
  say "No CUDA toolkit here: taking the PTX that nvcc made of row_sums.cu."
  kernel=docs/examples/row_sums.ptx
fi
say "Why is this kernel slow? ptxasw lint $kernel --kernel before"
"$ptxasw" lint "$kernel" --kernel before
"$ptxasw" report "$kernel" -o "$out"
if [ -n "${toolkit:-}" ] && nvidia-smi -L >/dev/null 2>&1; then
  say "There is a GPU. A Jacobi program as it is, then twice by ptxasw faster (the first run makes the versions):"
  # With PTX, which -arch=native leaves out.
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 | tr -d .)
  "$toolkit/bin/nvcc" "-arch=sm_$capability" -O3 -fmad=false -std=c++17 -o "$out/heat" kernelgen-bench/programs/heat.cu
  "$out/heat"
  for _ in 1 2; do
    "$ptxasw" faster -- "$out/heat"
  done
else
  say "On a machine with a GPU and a CUDA toolkit, this makes a program faster: ptxasw faster -- ./app"
fi
say "docs/tour.md goes on from here."
