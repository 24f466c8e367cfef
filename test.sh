#!/usr/bin/env bash
# Installs what is missing, builds what is needed, and runs tests: those that find what a change is likely to
# break, in ten minutes on two cores.
#   --all       every test; CI runs this (45 minutes)
#   --nightly   what only long runs find: hours, random kernels by ten thousands
#   --yes       install missing packages by sudo without asking
# Other words go to ctest: ./test.sh -R synth. At the end it says what was not tested. tests/README.md has the map.
set -euo pipefail
cd "$(dirname "$0")"
. ./.ci/setup.sh

# Takes --all and --nightly, which may stand anywhere, out of `words`.
size=quick
take_size() {
  local word rest=()
  for word in "${words[@]}"; do
    case $word in
    --all | --nightly) size=${word#--} ;;
    *) rest+=("$word") ;;
    esac
  done
  words=("${rest[@]}")
}

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
if [ "${words[0]:-}" = --help ] || [ "${words[0]:-}" = -h ]; then
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
  exit
fi
take_size
refuse_unknown_words
install_packages "${packages[@]}" "${test_packages[@]}"
refuse_unknown_words # where there was no ctest before
targets=(all)
[ "$size" = quick ] || targets+=(all-tests)
build ON "${targets[@]}"
step="testing"
# Tests that look for nvcc and ptxas find them in PATH.
if toolkit=$(find_cuda); then
  export PATH="$toolkit/bin:$PATH"
fi
label="^$size\$"
if [ "$size" = quick ] && .ci/changed kernelgen-bench tests/bench | grep -q .; then
  label="^(quick|bench)\$"
fi
code=0
rm -f build/tests.xml
# One test more than there are cores: some wait for programs that sleep.
ctest --test-dir build --output-on-failure --output-junit "$PWD/build/tests.xml" -j $(($(jobs_at_once) + 1)) -L "$label" \
  --no-tests=error "${words[@]}" || code=$?
.ci/untested build "$size"
times >build/times
processor=$(tail -n 1 build/times)
say "$((SECONDS / 60)) minutes by the clock; of processor time ${processor% *} and ${processor#* } in the system"
exit $code
