#!/bin/bash
# What only a machine with a GPU can tell, in less than five minutes and without a compiler: does every kernel run there and agree with the
# reference, do the three ways to measure agree, what is said where something fails.
#
#   tools/gpu-check.sh [FOLDER]      FOLDER: where results go (./gpu-check); PROFILE=program (build/profile), SAMPLES=folder (samples),
#                                    ONLY=expression: the stages whose names match it, SECONDS_IN_ALL=290,
#                                    REPEATS=20 of the small program, BUDGET=20 seconds of the large one
#
# A line of JSON after every stage, each with a time limit of its own, in FOLDER/stages.jsonl: a check that is cut off still says what it saw.
# Exit 1: a stage failed; 6: there is no GPU.
set -u
root=$(cd -P "$(dirname "$0")/.." && pwd) || exit 1
out=$(realpath -m "${1:-gpu-check}")
profile=$(realpath "${PROFILE:-$root/build/profile}")
samples=$(realpath "${SAMPLES:-$root/samples}")
classes=$root/tests/gpu/classes.hlo convolutions=$root/tests/gpu/convolutions.hlo
repeats=${REPEATS:-20} budget=${BUDGET:-20}
end_of_all=$((SECONDS + ${SECONDS_IN_ALL:-290}))
mkdir -p "$out" && cd "$out" || exit 1
: > stages.jsonl
failed=0

json() { sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/\t/ /g' | tr -d '\000-\010\013-\037' | awk '{printf "%s%s", (NR > 1 ? "\\n" : ""), $0}'; }

# stage NAME SECONDS COMMAND…: output in NAME.log; the line holds its end. What the stages before it have left of all seconds is its limit too.
stage() {
  local name=$1 limit=$2 begin end rc
  local left=$((end_of_all - SECONDS))
  shift 2
  [[ $name =~ ${ONLY:-} ]] || return 0
  [ "$limit" -le "$left" ] || limit=$((left > 1 ? left : 1))
  begin=$(date +%s%N)
  timeout -k 5 "$limit" "$@" > "$name.log" 2>&1
  rc=$?
  end=$(date +%s%N)
  [ $rc -eq 0 ] || failed=1
  printf '{"stage": "%s", "rc": %d, "seconds": %d.%03d, "limit_s": %d, "tail": "%s"}\n' "$name" $rc $(((end - begin) / 1000000000)) \
    $(((end - begin) / 1000000 % 1000)) "$limit" "$(tail -n 12 "$name.log" | cut -c1-400 | json)" | tee -a stages.jsonl
  return $rc
}

# replay NAME SECONDS FILE MODE OPTION…: a run in NAME.db.
replay() {
  local name=$1 limit=$2 file=$3 mode=$4
  shift 4
  stage "$name" "$limit" "$profile" --replay "$file" --device cuda --mode "$mode" -q -f -o "$name.db" "$@"
}

# query NAME DB SQL
query() { [ -f "$2" ] && stage "$1" 10 "$profile" query "$2" "$3" --format csv; }

machine() {
  uname -a
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.max.sm,clocks_throttle_reasons.active,power.draw,mig.mode.current --format=csv 2>&1
  grep RmProfilingAdminOnly /proc/driver/nvidia/params 2>&1
  "$profile" doctor --format csv
}
export -f machine; export profile
stage 00_machine 20 bash -c machine

printf 'HloModule tiny\nENTRY e {\n a = f32[1000,7] parameter(0)\n ROOT r = f32[1000,7] exponential(a)\n}\n' > tiny.hlo
replay 01_tiny 30 tiny.hlo events --verify --repeats 3
[ $? -eq 6 ] && exit 6
mnist="$samples/mnist_train_step.hlo.txt" bert="$samples/bert_pretrain_step.hlo.txt"
replay 02_classes 90 "$classes" events --verify --repeats 3 --max-loss 0
replay 02_convolutions 60 "$convolutions" events --verify --repeats 3 --max-loss 0 --autotune 5
query 02_engines 02_convolutions.db "SELECT k.name, k.language, k.implementation, t.rank, t.median_ns, t.implementation AS trial FROM kernel k LEFT JOIN kernel_trial t USING (run, kernel) ORDER BY k.kernel, t.rank"
replay 03_mnist_verify 40 "$mnist" events --verify --repeats 3 --max-loss 0
for mode in stream graph events; do replay "04_mnist_$mode" 30 "$mnist" $mode --repeats "$repeats"; done
for mode in stream graph events; do
  query "05_mnist_sum_$mode" "04_mnist_$mode.db" "SELECT count(*) AS steps, sum(median_ns) AS sum_of_steps_ns, sum(flags <> '') AS flagged FROM step_stat"
done
replay 06_bert_stream 60 "$bert" stream --budget "$budget" --max-loss 0
replay 07_bert_graph 40 "$bert" graph --budget "$budget"
query 08_bert_top 06_bert_stream.db "SELECT name, median_ns, n, flags FROM step_time ORDER BY median_ns DESC LIMIT 20"
query 09_kernels 06_bert_stream.db "SELECT name, implementation FROM kernel ORDER BY name LIMIT 400"
query 10_device 06_bert_stream.db "SELECT * FROM device"
replay 10_counters 30 "$mnist" stream --counters --repeats "$repeats"
query 10_counted 10_counters.db "SELECT (SELECT value FROM run_option WHERE name = 'counters_how') AS how, name, bytes, dram_bytes, occupancy_percent, tensor_percent, l2_hit_percent, sm_active_percent FROM step_counter UNION ALL SELECT (SELECT value FROM run_option WHERE name = 'counters_how'), NULL, NULL, NULL, NULL, NULL, NULL, NULL LIMIT 12"
replay 10_cold 30 "$mnist" stream --cold --repeats "$repeats"
query 10_cold_sum 10_cold.db "SELECT count(*) AS steps, sum(median_ns) AS sum_of_steps_ns, sum(flags <> '') AS flagged FROM step_stat"
if command -v compute-sanitizer > /dev/null; then
  for tool in memcheck racecheck; do
    stage "11_$tool" 40 compute-sanitizer --tool $tool --error-exitcode 1 "$profile" --replay "$classes" --device cuda --mode events --repeats 1 --warmup 0 -q -f -o $tool.db
  done
fi
replay 12_bert_verify 120 "$bert" events --verify --repeats 1 --max-loss 0
exit $failed
