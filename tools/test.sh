#!/usr/bin/env bash
# Every test on a bare machine: sets up, builds and runs ctest. Arguments go to ctest (tools/test.sh -R model).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/tools/build.sh"
# Two at a time; the tests of the CPU device take all cores themselves and run alone (PROCESSORS 2).
ctest --test-dir "$root/build" --parallel 2 --output-on-failure --no-tests=error "$@"
