#!/usr/bin/env python3
"""Imports large dumps of every format, and prints a table: MB/s, CPU seconds and peak memory of `profile import` by size.

  imports.py PROFILE [--samples DIR] [--corpus DIR] [--only NAME,…] [--megabytes 10,20,50] [--rounds 1] [-o imports.json]

dumps.py makes the dumps out of samples/ and of a corpus of real files (../shared/corpus beside the tree; formats whose file is missing are
said and left out). One dump and one database at a time, in a temporary folder. `growth` is the time of the largest by that of the smallest,
divided by the ratio of their sizes: about 1 where time is linear.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import dumps
from large_dump import imported

HERE = pathlib.Path(__file__).resolve().parent


def measure(a, name, megabytes, folder):
    dump, database = folder / name, folder / 'import.db'
    size = dumps.write(dump, dumps.FORMATS[name], a.samples, a.corpus, megabytes * 1_000_000)
    rounds = [imported(a.profile, dump, database) for _ in range(a.rounds)]
    seconds, cpu, peak = min(r[0] for r in rounds), min(r[1] for r in rounds), max(r[2] for r in rounds)
    row = {'bytes': size, 'seconds': round(seconds, 3), 'cpu_seconds': round(cpu, 3), 'mb_per_s': round(size / seconds / 1e6, 1),
           'mb_per_cpu_s': round(size / cpu / 1e6, 1), 'peak_bytes': peak, 'peak_bytes_per_byte': round(peak / size, 1),
           'database_bytes_per_byte': round(database.stat().st_size / size, 2)}
    dump.unlink()
    database.unlink()
    return row


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('profile')
    p.add_argument('--samples', type=pathlib.Path, default=HERE / '../../samples')
    p.add_argument('--corpus', type=pathlib.Path, default=HERE / '../../../shared/corpus')
    p.add_argument('--only', default=','.join(dumps.FORMATS))
    p.add_argument('--megabytes', default='10,20,50')
    p.add_argument('--rounds', type=int, default=1)
    p.add_argument('-o', '--output', type=pathlib.Path)
    a = p.parse_args()
    sizes = sorted(int(size) for size in a.megabytes.split(','))
    result = {}
    print(f'{"format":16} ' + ' '.join(f'{size:>5} MB: MB/s  /CPU-s  peak B/B' for size in sizes) + '  growth')
    with tempfile.TemporaryDirectory() as folder:
        for name in a.only.split(','):
            try:
                rows = [measure(a, name, size, pathlib.Path(folder)) for size in sizes]
            except FileNotFoundError as missing:
                print(f'{name}: {missing.filename} is missing', file=sys.stderr)
                continue
            growth = rows[-1]['cpu_seconds'] / rows[0]['cpu_seconds'] / (rows[-1]['bytes'] / rows[0]['bytes'])
            result[name] = {'sizes': rows, 'growth': round(growth, 2)}
            print(f'{name:16} ' + ' '.join(f'{r["mb_per_s"]:14.1f} {r["mb_per_cpu_s"]:7.1f} {r["peak_bytes_per_byte"]:9.1f}' for r in rows) +
                  f'  {growth:6.2f}', flush=True)
    if a.output:
        a.output.write_text(json.dumps(result, indent=1) + '\n')


if __name__ == '__main__':
    main()
