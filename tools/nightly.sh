#!/usr/bin/env bash
# What takes too long for every change: fuzzing for ten minutes a target, 20,000 random modules against the reference, and every format of
# the other importers cut, edited 10,000 times and millions of lines long.
#   tools/nightly.sh [SEED=1]
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
failed=0
PROFILE_FUZZ_SEED=${1:-1} PROFILE_FUZZ_EVERY=1 tools/fuzz.sh 600 || failed=1
tools/build.sh differential || exit 1
tools/build.sh unit_importers || exit 1
PROFILE_HOSTILE=full build/tests/unit_importers || failed=1
tools/build.sh unit_symbols || exit 1
PROFILE_HOSTILE=full build/tests/unit_symbols --gtest_filter='*LargeSymbols*' || failed=1
# The same cuts and edits with AddressSanitizer and UndefinedBehaviorSanitizer, in the build of the fuzzers.
for unit in importers symbols paddle tensorflow_logs tensorflow_lower; do
  cmake --build build-fuzz --target "unit_$unit" && PROFILE_HOSTILE=full "build-fuzz/tests/unit_$unit" --gtest_filter="*Hostile*:AnyGraph*:Binary*" || failed=1
done
for language in llvm-ir c cuda; do build/tests/differential --from "${1:-1}" --count 20000 --language "$language" || failed=1; done
# Real files of every format, damaged in every way (two hours, most of them for Llama and ResNet50); what fails is kept in build-fuzz/findings.
folders=(samples)
[ ! -d ../shared/corpus ] || folders+=(../shared/corpus/{tf,paddle,symbols})
cmake --build build-fuzz --target fuzz_hostile && mkdir -p build-fuzz/findings &&
  find -L "${folders[@]}" -type f -size -400k -print0 |
  xargs -0 build-fuzz/tests/fuzz_hostile --seed "${1:-1}" --keep build-fuzz/findings || failed=1
# Every distinct kernel of the samples, and one of every opcode and type, as machine code and on the host; those of the op files and of 1,000
# random modules as machine code; skipped (77) where there is no NVRTC.
cmake --build build --target cuda_text || exit 1
machine_code() {
  build/tests/cuda_text "$@"
  local status=$?
  [ $status -eq 0 ] || [ $status -eq 77 ] || failed=1
}
machine_code --architecture 80 90 100 --threads "$(nproc)" --host -- samples/*.hlo.txt samples/*.paddle.txt samples/*.tfnodes.txt
machine_code --architecture 80 90 100 --threads "$(nproc)" --host --types
machine_code --architecture 80 90 100 --threads "$(nproc)" -- tests/ops/*.hlo
machine_code --architecture 80 90 100 --threads "$(nproc)" --random 1000 --seed "${1:-1}"
# All op files on the cuda device, on a GPU that the host plays.
cmake --build build --target fake_gpu ops || exit 1
LD_LIBRARY_PATH=build/tests/fake_gpu PROFILE_CACHE=build/tests/cubins_ops build/tests/ops --gtest_filter='*HaveTheExpectedValues*' || failed=1
# Every error of CUDA at every call of a run.
cmake --build build --target unit_device_cuda || exit 1
PROFILE_INJECTION=full build/tests/unit_device_cuda --gtest_filter='*Injection*' || failed=1
# BERT through NVIDIA's compiler and the whole cuda device, on a GPU of the host that computes nothing.
cmake --build build --target fake_gpu profile || exit 1
for mode in stream graph; do
  LD_LIBRARY_PATH=build/tests/fake_gpu_nvrtc FAKE_GPU=idle PROFILE_CACHE=build/tests/cubins_bert build/profile \
    --replay samples/bert_pretrain_step.hlo.txt --device cuda --mode $mode --repeats 2 -q -f -o build/tests/bert_cuda.db > build/tests/bert_cuda.txt || failed=1
done
# What is to be run where a GPU can be had, as far as the host's GPU can follow.
LD_LIBRARY_PATH=$PWD/build/tests/fake_gpu ONLY='^0[0-5]' tools/gpu-check.sh build/tests/gpu_check || failed=1
exit $failed
