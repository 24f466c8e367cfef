#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. What needs a CUDA toolkit or another
# compiler that is not there is reported as skipped. Arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")"
. ./.ci/setup.sh

install_packages "${packages[@]}" "${test_packages[@]}"
build ON
# Tests that look for nvcc and ptxas find them in PATH.
if toolkit=$(find_cuda); then
  export PATH="$toolkit/bin:$PATH"
fi
code=0
ctest --test-dir build --output-on-failure -j "$(jobs_at_once)" "$@" || code=$?
# Why tests were skipped: the last line that each of them wrote.
awk '/^[0-9]+\/[0-9]+ Test: / { name = $3; why = "" }
     /^Test Skipped/ { print "== Skipped " name ": " (why ? why : "no reason given") }
     /^-+$/ || /^$/ { next } { why = $0 }' build/Testing/Temporary/LastTest.log
exit $code
