#!/usr/bin/env bash
# Shows the whole way on a bare machine: sets up, builds, replays a BERT training step, prints where its time goes and leaves profile.db.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/tools/build.sh" profile
cd "$root"
build/profile --replay samples/bert_pretrain_step.hlo.txt
