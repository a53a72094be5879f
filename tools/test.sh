#!/usr/bin/env bash
# Every test on a bare machine: sets up, builds and runs ctest. Arguments go to ctest (tools/test.sh -R model).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/tools/build.sh"
# One at a time: the tests of the CPU device take all cores themselves.
ctest --test-dir "$root/build" --output-on-failure --no-tests=error "$@"
