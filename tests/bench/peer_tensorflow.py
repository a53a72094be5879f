#!/usr/bin/env python3
"""Compares the ResNet50 training step with TensorFlow's on the CPU: same step, same threads, rounds alternating between the two programs.

  peer_tensorflow.py BENCH_STEP MODULE TF_RESNET50 PYTHON [--rounds 7] [--other BENCH_STEP]

MODULE: `profile print samples/resnet50_train_step.tfnodes.txt`. TF_RESNET50: the script that makes TensorFlow's step; PYTHON: one that has
tensorflow and tf_keras. Each round runs one pass of each; --other adds an older build of ours. Prints one JSON line: medians, least times, the
median of the ratios round by round, raw rounds.
"""
import argparse
import json
import os
import runpy
import statistics
import sys
import time

import peer_xla


def worker(script):
    """TensorFlow's side: first line = stages, then one step for each line of stdin."""
    sys.argv = [script, '--steps', '0']
    made = runpy.run_path(script)
    step, data, target = made['make_step'](32, False)

    def run():
        begin = time.perf_counter()
        float(step(data, target))
        return time.perf_counter() - begin

    print(json.dumps({'first_s': run(), 'version': made['tf'].__version__, 'onednn': os.environ.get('TF_ENABLE_ONEDNN_OPTS', 'default')}), flush=True)
    for _ in sys.stdin:
        print(f'{run():.9f}', flush=True)
    with open('/proc/self/status') as f:
        peak = next(int(line.split()[1]) for line in f if line.startswith('VmHWM')) // 1000
    print(json.dumps({'rss_mb': peak}), flush=True)


def main():
    if sys.argv[1:2] == ['--worker']:
        return worker(sys.argv[2])
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('bench_step', 'module', 'tf_resnet50', 'python'):
        p.add_argument(name)
    p.add_argument('--rounds', type=int, default=7)
    p.add_argument('--other')
    a = p.parse_args()
    os.environ['TF_ENABLE_ONEDNN_OPTS'] = '1'
    peers = {'ours': peer_xla.Peer([a.bench_step, a.module]), 'tensorflow': peer_xla.Peer([a.python, os.path.abspath(__file__), '--worker', a.tf_resnet50])}
    if a.other:
        peers['other'] = peer_xla.Peer([a.other, a.module])
    rounds = [{name: peer.passes(1) for name, peer in peers.items()} for _ in range(a.rounds)]
    for peer in peers.values():
        peer.finish()
    result = {'rounds': rounds, 'stages': {name: peer.stages for name, peer in peers.items()}}
    for name in peers:
        times = [r[name] for r in rounds]
        result[name] = {'median_s': statistics.median(times), 'min_s': min(times)}
    for name in peers:
        if name != 'ours':
            result[f'ours_to_{name}'] = statistics.median(r['ours'] / r[name] for r in rounds)
    print(json.dumps(result))


if __name__ == '__main__':
    main()
