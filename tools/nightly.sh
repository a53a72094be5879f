#!/usr/bin/env bash
# What takes too long for every change: fuzzing for ten minutes a target, 20,000 random modules against the reference, and every format of
# the other importers cut, edited 10,000 times and millions of lines long.
#   tools/nightly.sh [SEED=1]
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
failed=0
PROFILE_FUZZ_SEED=${1:-1} tools/fuzz.sh 600 || failed=1
tools/build.sh differential || exit 1
tools/build.sh unit_importers || exit 1
PROFILE_HOSTILE=full build/tests/unit_importers || failed=1
for language in llvm-ir c cuda; do build/tests/differential --from "${1:-1}" --count 20000 --language "$language" || failed=1; done
# Every distinct kernel of the op files and samples as machine code; skipped (77) where there is no NVRTC.
cmake --build build --target cuda_text || exit 1
build/tests/cuda_text --architecture 80 90 100 -- tests/ops/*.hlo samples/*.hlo.txt
status=$?
[ $status -eq 0 ] || [ $status -eq 77 ] || failed=1
exit $failed
