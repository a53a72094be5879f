#!/usr/bin/env python3
"""Compares the parser with XLA's on the same texts in one run, file by file, alternating.

  peer_parser.py BENCH_PARSE_HLO FILE... [--rounds 5]

Needs jax (pip install jax, in an environment outside the tree). Both sides read the text before the clock starts and count processor time of
one thread; ours is the median of the repeats of bench_parse_hlo, XLA's is hlo_module_from_text. Prints a JSON object: for each file bytes,
seconds of each round on both sides, MB/s, ratio, and the bytes of memory that our module keeps for a byte of text; and medians of all.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

from jaxlib import _hlo


def xla_seconds(text):
    begin = time.thread_time()
    module = _hlo.hlo_module_from_text(text)
    seconds = time.thread_time() - begin
    del module
    return seconds


def ours(bench, path):
    return json.loads(subprocess.run([bench, path, '3'], check=True, capture_output=True, text=True).stdout)


def measure(bench, path, rounds):
    text = open(path, encoding='utf8', errors='surrogateescape').read()
    mine, theirs, kept = [], [], 0.0
    for _ in range(rounds):
        result = ours(bench, path)
        mine.append(result['parse_ms'] / 1e3)
        kept = result['module_bytes_per_byte']
        theirs.append(xla_seconds(text))
    size = os.path.getsize(path)
    return {'file': os.path.basename(path), 'bytes': size, 'ours_s': mine, 'xla_s': theirs,
            'ours_mb_per_s': size / statistics.median(mine) / 1e6, 'xla_mb_per_s': size / statistics.median(theirs) / 1e6,
            'ratio': statistics.median(t / m for m, t in zip(mine, theirs)), 'module_bytes_per_byte': kept}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('bench')
    p.add_argument('files', nargs='+')
    p.add_argument('--rounds', type=int, default=5)
    a = p.parse_args()
    files = [measure(a.bench, path, a.rounds) for path in a.files]
    columns = ('ours_mb_per_s', 'xla_mb_per_s', 'ratio', 'module_bytes_per_byte')
    print(json.dumps({'median': {c: statistics.median(f[c] for f in files) for c in columns}, 'files': files}, indent=1))


if __name__ == '__main__':
    main()
