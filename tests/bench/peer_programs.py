#!/usr/bin/env python3
"""Compares whole programs with XLA on the CPU: same text, same inputs, same threads, rounds alternating between the two.

  peer_programs.py BENCH_STEP ORACLE_FOLDER FOLDER [NAME…] [--stage before] [--rounds 5] [--json FILE]
  peer_programs.py --table RESULTS…      the table of what --json has written, a program and stage a row; later files count

FOLDER has NAME.STAGE.hlo.txt and NAME.recipe.json; without names, the programs that its programs.tsv calls `bench`. XLA's side is that of
peer_xla.py; it gets the text before its optimisation, whatever stage is ours: the other is what it made of it, and runs. Each round runs one pass of ours, then one of XLA's. A row: medians and least times of both, their ratio by medians and by least
times, the time from text to a compiled program of both, and its ratio; the same from text to the first result (with the memory of both). The
last row: geometric means, and the worst.
"""
import argparse
import json
import os
import statistics
import sys

import peer_xla


def bench_names(folder):
    with open(os.path.join(folder, 'programs.tsv')) as file:
        rows = [line.rstrip('\n').split('\t') for line in file]
    return [row[0] for row in rows if len(row) > 1 and row[1] == 'bench']


def geomean(values):
    return statistics.geometric_mean(values) if values else float('nan')


def measured(options, name):
    module = os.path.join(options.folder, f'{name}.{options.stage}.hlo.txt')
    recipe = os.path.join(options.folder, f'{name}.recipe.json')
    given = os.path.join(options.folder, f'{name}.before.hlo.txt')
    ours = peer_xla.Peer([options.bench_step, module, recipe])
    xla = peer_xla.Peer([sys.executable, os.path.abspath(peer_xla.__file__), '--worker', options.oracle_folder, given, recipe])
    for peer in (ours, xla):
        peer.passes(1)
    rounds = [(ours.passes(1), xla.passes(1)) for _ in range(options.rounds)]
    stages = [dict(ours.stages), dict(xla.stages)]
    for peer in (ours, xla):
        peer.finish()
    mine, theirs = zip(*rounds)
    compile_ours = sum(stages[0][key] for key in ('parse_s', 'plan_s', 'compile_s'))
    first = [ours.first_result(), xla.first_result()]
    return {
        'name': name, 'stage': options.stage, 'ours_ms': statistics.median(mine) * 1e3, 'xla_ms': statistics.median(theirs) * 1e3, 'ours_min_ms': min(mine) * 1e3,
        'xla_min_ms': min(theirs) * 1e3, 'ratio': statistics.median(mine) / statistics.median(theirs), 'min_ratio': min(mine) / min(theirs),
        'compile_ours_ms': compile_ours * 1e3, 'compile_xla_ms': stages[1]['compile_s'] * 1e3,
        'compile_ratio': compile_ours / stages[1]['compile_s'], 'first_ours_ms': first[0] * 1e3, 'first_xla_ms': first[1] * 1e3,
        'first_ratio': first[0] / first[1], 'rounds': rounds}


def print_table(rows):
    """Medians beside each other, by stage."""
    print('| program | our text | ours, ms | XLA, ms | ratio | compile: ours, ms | XLA, ms | ratio | first result: ours, ms | XLA, ms | ratio |\n' +
          '|---' * 11 + '|')
    for row in rows:
        cells = [row[f'{what}{side}'] for what in ('', 'compile_', 'first_') for side in ('ours_ms', 'xla_ms', 'ratio')]
        print(f"| {row['name']} | {row['stage']} | " + ' | '.join(f'{cell:.3g}' for cell in cells) + ' |')
    for stage in ('before', 'after'):
        ours = [row for row in rows if row['stage'] == stage]
        for title, of in (('geometric mean', geomean), ('worst', max)):
            if ours:
                cells = [f"| | {of([r[what] for r in ours]):.3g} |" for what in ('ratio', 'compile_ratio', 'first_ratio')]
                print(f'| **{title}** of {len(ours)} | {stage} ' + ' '.join(cells))


def table(files):
    rows = {}
    for name in files:
        with open(name) as file:
            rows.update({(row.setdefault('stage', 'before'), row['name']): row for row in json.load(file)})
    print_table([rows[key] for key in sorted(rows, reverse=False)])


COLUMNS = ('ours_ms', 'xla_ms', 'ratio', 'ours_min_ms', 'xla_min_ms', 'min_ratio', 'compile_ours_ms', 'compile_xla_ms', 'compile_ratio',
           'first_ours_ms', 'first_xla_ms', 'first_ratio')


def main():
    if sys.argv[1:2] == ['--table']:
        return table(sys.argv[2:])
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('bench_step', 'oracle_folder', 'folder'):
        p.add_argument(name)
    p.add_argument('names', nargs='*')
    p.add_argument('--stage', default='before', choices=('before', 'after'))
    p.add_argument('--rounds', type=int, default=5)
    p.add_argument('--json')
    options = p.parse_args()
    print('| program | ' + ' | '.join(COLUMNS) + ' |')
    print('|---' * (len(COLUMNS) + 1) + '|')
    rows = []
    for name in options.names or bench_names(options.folder):
        rows.append(measured(options, name))
        print(f'| {name} | ' + ' | '.join(f'{rows[-1][c]:.3g}' for c in COLUMNS) + ' |', flush=True)
    means = {c: geomean([row[c] for row in rows]) for c in ('ratio', 'min_ratio', 'compile_ratio', 'first_ratio')}
    worst = {c: max(row[c] for row in rows) for c in means}
    for title, values in (('**geometric mean**', means), ('**worst**', worst)):
        print(f'| {title} | ' + ' | '.join(f'{values[c]:.3g}' if c in values else '' for c in COLUMNS) + ' |')
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(rows, file)


if __name__ == '__main__':
    main()
