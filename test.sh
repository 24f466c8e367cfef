#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. What needs a CUDA toolkit or another
# compiler that is not there is reported as skipped.
#   --yes   install missing packages by sudo without asking; what comes behind it goes to ctest
set -euo pipefail
cd "$(dirname "$0")"
. ./.ci/setup.sh

# ctest ignores what it does not know, and would run every test.
refuse_unknown_words() {
  local word known
  command -v ctest >/dev/null || return 0
  known=" $(ctest --help | tr -s '=,<[:space:]' ' ') "
  for word in "${words[@]}"; do
    [[ $word != --* || $known == *" ${word%%=*} "* ]] || {
      say "ctest has no ${word%%=*}; --yes comes first"
      exit 2
    }
  done
}

take_yes "$@"
refuse_unknown_words
install_packages "${packages[@]}" "${test_packages[@]}"
refuse_unknown_words # where there was no ctest before
build ON
step="testing"
# Tests that look for nvcc and ptxas find them in PATH.
if toolkit=$(find_cuda); then
  export PATH="$toolkit/bin:$PATH"
fi
code=0
rm -f build/tests.xml
ctest --test-dir build --output-on-failure --output-junit "$PWD/build/tests.xml" -j "$(jobs_at_once)" "${words[@]}" || code=$?
# Why tests were skipped: the last line that each of them wrote.
[ ! -f build/tests.xml ] || python3 - build/tests.xml <<'END'
import sys
import xml.etree.ElementTree as tree
for test in tree.parse(sys.argv[1]).iter("testcase"):
    if test.find("skipped") is not None:
        lines = (test.findtext("system-out") or "").strip().splitlines()
        print(f"== Skipped {test.get('name')}: {lines[-1] if lines else 'no reason given'}")
END
exit $code
