#!/bin/sh
# The rewritten kernels of an unpacked archive under NVIDIA's compute-sanitizer: out-of-bounds and
# misaligned accesses, races, and wrong use of shfl.sync and barriers. Prints one line per tool and block
# shape; exit code 1 if any of them found something.
# Usage: ./sanitize.sh [options of the runner, such as --kernel jacobi]
set -eu
cd "$(dirname "$0")"
if ! command -v compute-sanitizer >/dev/null; then
  echo "sanitize.sh: compute-sanitizer (of the CUDA toolkit) is not on PATH" >&2
  exit 1
fi
failed=0
for tool in memcheck racecheck synccheck; do
  for block in 512x1 128x1 32x16; do
    log=sanitize.$tool.$block.log
    if compute-sanitizer --tool $tool --error-exitcode 9 \
      ./runner --profile --size check --block $block --variant full --variant full-no-alias "$@" \
      >"$log" 2>&1; then
      rc=0
    else
      rc=$?
      failed=1
    fi
    echo "$tool $block: $(sed -n 's/^=* *\(ERROR SUMMARY\|RACECHECK SUMMARY\)/\1/p' "$log"), exit code $rc"
  done
done
exit $failed
