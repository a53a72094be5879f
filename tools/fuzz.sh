#!/usr/bin/env bash
# Fuzzes the importer, the verifier, the cost model, the planner and the reference, each for a while: tools/fuzz.sh [SECONDS=20] [TARGET...]
#
# First come the op files with one mistake each (tests/fuzz/mutate.py): one in PROFILE_FUZZ_EVERY (10) of some 65,000. Then libFuzzer's inputs,
# which start from the op files and the MNIST sample, words from op.def. A finding ends the run with exit status 1 and leaves the bytes in
# build-fuzz/findings; the corpus that grows is kept in build-fuzz/corpus, so that the next run goes on from it. PROFILE_FUZZ_SEED (1): a fresh
# checkout with the same seed tries the same inputs, as far as the time goes.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
seconds=${1:-20}
shift || true
targets=("$@")
[[ $# -gt 0 ]] || targets=(parse verify cost plan reference)

tools/setup.sh fuzz
compiler=$(compgen -c clang++- | grep -E '^clang\+\+-[0-9]+$' | sort -t- -k2 -n | tail -n 1)
# Without CXXFLAGS: the errors that CI makes of warnings are for g++'s.
CXXFLAGS="" cmake -S . -B build-fuzz -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8 -DPROFILE_FUZZ=ON -DPROFILE_SANITIZE=ON >/dev/null
cmake --build build-fuzz --target "${targets[@]/#/fuzz_}" | tail -n 1

# A dictionary of opcodes and attributes; every opcode of the table is in it, none is listed by hand.
{
  sed -n 's/^OP([a-z0-9_]*, "\([^"]*\)".*/"\1("/p' src/ir/op.def
  grep -oh '[a-z_]*={' tests/ops/*.hlo | sort -u | sed 's/.*/"&"/'
} >build-fuzz/words.dict

rm -rf build-fuzz/mistakes
mistakes=$(tests/fuzz/mutate.py build-fuzz/mistakes --every "${PROFILE_FUZZ_EVERY:-10}" tests/ops/*.hlo)

# run_target TARGET ARGUMENTS...
run_target() {
  build-fuzz/tests/fuzz_"$1" -timeout=20 -rss_limit_mb=3000 -artifact_prefix="build-fuzz/findings/$1-" "${@:2}"
}

# fuzz_one TARGET: one line that says how it went, and the first words of a finding.
fuzz_one() {
  local target=$1 log=build-fuzz/$1.log
  mkdir -p "build-fuzz/corpus/$target"
  if find build-fuzz/mistakes -type f -print0 | xargs -0 -n 1000 bash -c 'run_target "$@"' - "$target" >"$log" 2>&1 &&
    run_target "$target" "build-fuzz/corpus/$target" tests/ops samples -dict=build-fuzz/words.dict -max_len=4096 \
      -seed="${PROFILE_FUZZ_SEED:-1}" -max_total_time="$seconds" -print_final_stats=1 >"$log" 2>&1; then
    echo "fuzz $target: $mistakes mistakes and $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, no finding"
    return
  fi
  echo "fuzz $target: FAILED, see $log
$(grep -E 'ERROR|SUMMARY|runtime error|Test unit written' "$log" | head -n 5)"
  return 1
}
export -f fuzz_one run_target
export seconds mistakes

mkdir -p build-fuzz/findings
printf '%s\0' "${targets[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'fuzz_one "$1"' -
