#!/usr/bin/env bash
# Set-up and a Release build in build/: what demo.sh and test.sh share.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/tools/setup.sh"
cd "$root"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
cmake --build build ${1:+--target "$1"}
