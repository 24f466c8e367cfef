#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. What needs a CUDA toolkit or another
# compiler that is not there is reported as skipped. Arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")"
. ./.ci/setup.sh

install_packages "${packages[@]}" "${test_packages[@]}"
build
# Tests that look for nvcc and ptxas find them in PATH.
if toolkit=$(find_cuda); then
  export PATH="$toolkit/bin:$PATH"
fi
ctest --test-dir build --output-on-failure -j "$(jobs_at_once)" "$@"
