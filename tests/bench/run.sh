#!/usr/bin/env bash
# Runs every benchmark on an idle machine and keeps its raw output.
#
#   tests/bench/run.sh BUILD RESULTS [ORACLE PYTHON]     ORACLE: folder with xla_oracle.py and the recipes; PYTHON: one that has jax
set -euo pipefail
build=$1 results=$2 oracle=${3:-} python=${4:-python3}
here=$(cd "$(dirname "$0")" && pwd)
samples=$here/../../samples
mkdir -p "$results"
{
  grep -m1 'model name' /proc/cpuinfo
  nproc
  cat /proc/loadavg
} > "$results/machine.txt"
"$build"/tests/bench_parse_hlo "$samples"/*.hlo.txt > "$results/parse_hlo.json"
"$build"/tests/bench_kernels --rounds 7 > "$results/kernels.json"
"$build"/tests/bench_products 2 3 > "$results/products.json"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$build"/tests/bench_store "$scratch" "$samples/bert_pretrain_step.hlo.txt" > "$results/store.json"
{
  separator='{'
  for passes in 100 1000; do  # 1 M and 10 M slices
    "$build"/tests/bench_timeline make "$scratch/timeline.db" 10000 $passes
    echo "$separator \"${passes}_passes_of_10000_steps\":"
    "$build"/tests/bench_timeline show "$scratch/timeline.db"
    separator=','
  done
  echo '}'
} > "$results/timeline.json"
[ -n "$oracle" ] || exit 0
"$python" "$here/peer_xla.py" "$build/tests/bench_step" "$oracle" "$samples/mnist_train_step.hlo.txt" "$oracle/mnist_train_step.recipe.json" \
  --rounds 9 --inner 200 > "$results/peer_mnist.json"
"$python" "$here/peer_xla.py" "$build/tests/bench_step" "$oracle" "$samples/bert_pretrain_step.hlo.txt" "$oracle/bert_pretrain_step.recipe.json" \
  --rounds 5 > "$results/peer_bert.json"
