#!/usr/bin/env python3
"""Compares a step with XLA on the CPU: same module, same inputs, same threads, rounds alternating between the two programs.

  peer_xla.py BENCH_STEP ORACLE_FOLDER MODULE RECIPE [--rounds 7] [--inner 1] [--firsts 3]

Needs jax (pip install jax, in an environment outside the tree) and the folder with xla_oracle.py. Each round runs `inner` passes of ours, then
`inner` of XLA's; a round's figure is the median of its passes. The time to the first result is measured in `firsts` fresh processes of each,
alternating too. Prints one JSON line: medians, their ratio, the median of the ratios round by
round, time to first result and peak memory of both, raw rounds.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time


def worker(oracle_folder, module, recipe):
    """XLA's side: first line = stages, then one pass for each line of stdin."""
    sys.path.insert(0, oracle_folder)
    os.environ.setdefault('XLA_FLAGS', '--xla_allow_excess_precision=true')
    import jax
    import xla_oracle as oracle
    from jax._src.lib import _jax
    from jaxlib import _hlo
    rec = json.load(open(recipe))
    seed = rec.get('seed', 1)
    parsed = oracle.Module(open(module).read(), rec.get('constants'), seed).select()
    text = parsed.text(None)
    params = rec.get('params', {})
    inputs = [jax.device_put(oracle.generate(params.get(n), t, d, seed, n)) for n, t, d in parsed.inputs()]
    for x in inputs:
        x.block_until_ready()
    begin = time.perf_counter()
    proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    mlir = _jax.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(proto))
    client = oracle.client()
    exe = client.compile_and_load(mlir, _jax.DeviceList(tuple(client.local_devices())), _jax.CompileOptions())
    compiled = time.perf_counter()

    def run():
        t = time.perf_counter()
        out = exe.execute_sharded(inputs).disassemble_into_single_device_arrays()
        for leaf in out:
            leaf[0].block_until_ready()
        return time.perf_counter() - t

    first = run()
    print(json.dumps({'compile_s': compiled - begin, 'first_pass_s': first}), flush=True)
    for _ in sys.stdin:
        print(f'{run():.9f}', flush=True)
    with open('/proc/self/status') as f:
        peak = next(int(line.split()[1]) for line in f if line.startswith('VmHWM')) // 1000
    print(json.dumps({'rss_mb': peak}), flush=True)


class Peer:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.stages = json.loads(self.process.stdout.readline())

    def passes(self, count):
        times = []
        for _ in range(count):
            self.process.stdin.write('\n')
            self.process.stdin.flush()
            times.append(float(self.process.stdout.readline()))
        return statistics.median(times)

    def first_result(self):
        return sum(v for k, v in self.stages.items() if k.endswith('_s'))

    def finish(self):
        self.process.stdin.close()
        self.stages.update(json.loads(self.process.stdout.readline()))
        self.process.wait()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('bench_step', 'oracle_folder', 'module', 'recipe'):
        p.add_argument(name)
    p.add_argument('--rounds', type=int, default=7)
    p.add_argument('--inner', type=int, default=1)
    p.add_argument('--firsts', type=int, default=3)
    a = p.parse_args()
    commands = [a.bench_step, a.module, a.recipe], [sys.executable, os.path.abspath(__file__), '--worker', a.oracle_folder, a.module, a.recipe]
    firsts = []
    for _ in range(a.firsts - 1):
        firsts.append([])
        for command in commands:
            peer = Peer(command)
            firsts[-1].append(peer.first_result())
            peer.finish()
    ours, xla = (Peer(command) for command in commands)
    firsts.append([ours.first_result(), xla.first_result()])
    rounds = [(ours.passes(a.inner), xla.passes(a.inner)) for _ in range(a.rounds)]
    ours.finish()
    xla.finish()
    mine, theirs = ([r[i] for r in rounds] for i in (0, 1))
    first = [statistics.median(f[i] for f in firsts) for i in (0, 1)]
    print(json.dumps({
        'module': os.path.basename(a.module), 'ours_s': statistics.median(mine), 'xla_s': statistics.median(theirs),
        'ratio': statistics.median(mine) / statistics.median(theirs), 'median_of_ratios': statistics.median(m / t for m, t in rounds),
        'first_result_ours_s': first[0], 'first_result_xla_s': first[1], 'first_result_ratio': statistics.median(m / t for m, t in firsts), 'firsts': firsts,
        'ours': ours.stages, 'xla': xla.stages, 'rounds': rounds}))


if __name__ == '__main__':
    if len(sys.argv) > 1 and sys.argv[1] == '--worker':
        worker(*sys.argv[2:])
    else:
        main()
