#!/usr/bin/env bash
# Set-up and a Release build in build/: what demo.sh and test.sh share.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/tools/setup.sh"
cd "$root"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Several files at a time: a first build takes a third of the time. For work on the code configure without: a change costs less.
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8 >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
cmake --build build ${1:+--target "$1"}
