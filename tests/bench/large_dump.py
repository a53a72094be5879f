#!/usr/bin/env python3
"""Imports ever larger dumps, and prints a JSON object: seconds and peak memory of `profile import` by size.

  large_dump.py PROFILE PROGRAM FOLDER [--megabytes 125,250,500]

A dump is PROGRAM (HLO with % names) over and over: as one module, whose computations get new names, and as many modules. The dumps and the
databases are made in FOLDER, one at a time. Time should grow with the size, memory by no more than a few bytes a byte of the largest module.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import time

NAME = re.compile(r'%[A-Za-z_][\w.-]*')


def one_module(program, size, out):
    """All computations in one module; the last copy's entry is the module's."""
    header, body = program.split('\n', 1)
    copies = size // len(body) + 1
    out.write(header + '\n')
    for i in range(copies):
        copy = NAME.sub(rf'\g<0>.copy{i}', body)
        out.write(copy if i + 1 == copies else copy.replace('\nENTRY ', '\n'))
    return 1


def many_modules(program, size, out):
    copies = size // len(program) + 1
    for i in range(copies):
        out.write(re.sub(r'^HloModule \S+?(?=[,\s])', rf'\g<0>.copy{i}', program))
    return copies


def imported(profile, dump, database):
    """Seconds, seconds of processor time, and peak resident bytes of the process."""
    begin = time.monotonic()
    process = subprocess.Popen([profile, 'import', dump, '-o', database, '-f'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode(errors='replace')
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f'{profile} import {dump}: status {status}\n{said}')
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def measure(a, make, megabytes):
    dump, database = a.folder / 'large.hlo', a.folder / 'large.db'
    with open(dump, 'w', encoding='utf8') as out:
        modules = make(a.program.read_text(encoding='utf8'), megabytes * 1_000_000, out)
    seconds, cpu, peak = imported(a.profile, dump, database)
    size = dump.stat().st_size
    row = {'form': make.__name__, 'modules': modules, 'bytes': size, 'seconds': round(seconds, 2), 'cpu_seconds': round(cpu, 2),
           'mb_per_s': round(size / seconds / 1e6, 1), 'peak_bytes': peak, 'peak_bytes_per_byte': round(peak / size, 2),
           'database_bytes_per_byte': round(database.stat().st_size / size, 2)}
    dump.unlink()
    database.unlink()
    return row


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('profile')
    p.add_argument('program', type=pathlib.Path)
    p.add_argument('folder', type=pathlib.Path)
    p.add_argument('--megabytes', default='125,250,500')
    a = p.parse_args()
    sizes = [int(size) for size in a.megabytes.split(',')]
    rows = [measure(a, make, size) for make in (one_module, many_modules) for size in sizes]
    print(json.dumps({'program': a.program.name, 'imports': rows}, indent=1))


if __name__ == '__main__':
    main()
