#!/usr/bin/env python3
"""Stops `profile` by Ctrl-C, kill and hang-up in each stage: it ends within seconds, says so, and what was saved is in the database.

A signal comes when the stage is seen from outside (a run, a pass, a line of output), not after a time that a slow machine would miss.
"""
import argparse
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

SAID = "Stopping; what was measured is kept. Once more ends at once."
PARTIAL = 5  # exit status
LIMIT_S = 120  # for a machine that is busy


class Failure(Exception):
    pass


def ask(path, sql):
    """The first row, or None where there is no database, no such table or no row."""
    if not path.exists():
        return None
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
    try:
        return database.execute(sql).fetchone()
    except sqlite3.OperationalError:
        return None
    finally:
        database.close()


def until(seen, process):
    end = time.monotonic() + LIMIT_S
    while not seen():
        if process.poll() is not None:
            raise Failure(f"ended before it was stopped: {process.returncode}: {process.stderr.read().strip()}")
        if time.monotonic() > end:
            process.kill()
            raise Failure("never came so far")
        time.sleep(0.005)


def expect(what, now, wanted):
    if now != wanted:
        raise Failure(f"{what}: {now!r}, not {wanted!r}")


class Stage:
    """`arguments` of profile; `seen(path)`: it has come so far."""

    def __init__(self, name, arguments, seen, passes=None):
        self.name, self.arguments, self.seen = name, arguments, seen
        self.passes = passes  # that are kept at least


def stages(mnist, bert):
    run = lambda path: ask(path, "SELECT 1 FROM run") is not None
    steps = lambda path: ask(path, "SELECT 1 FROM step") is not None
    passes = lambda path: ask(path, "SELECT 1 FROM pass WHERE pass > 4") is not None
    replay = lambda dump, *more: ["replay", dump, "-q", "-o", "DB", *more]
    return [
        Stage("compiling", replay(bert), run),
        Stage("verifying", replay(bert, "--verify"), steps),
        Stage("measuring", replay(mnist, "--device", "null", "--repeats", "1000000"), passes, passes=5),
    ]


def check_database(path, stage):
    database = sqlite3.connect(path)
    faults = [row[0] for row in database.execute("PRAGMA integrity_check") if row[0] != "ok"]
    expect("integrity", faults, [])
    expect("status of the run", database.execute("SELECT status FROM run").fetchall(), [("interrupted",)])
    kept = database.execute("SELECT count(*) FROM pass").fetchone()[0]
    stats = database.execute("SELECT count(*), min(n) FROM step_stat").fetchone()
    database.close()
    if stage.passes and (kept < stage.passes or not stats[0] or stats[1] != kept):
        raise Failure(f"{kept} passes are kept, {stats[0]} steps have statistics, of {stats[1]} passes")


def start(profile, stage, path, **more):
    arguments = [str(path) if word == "DB" else word for word in stage.arguments]
    return subprocess.Popen([profile, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def stopped_once(profile, stage, path, number):
    process = start(profile, stage, path)
    until(lambda: stage.seen(path), process)
    process.send_signal(number)
    out, err = process.communicate(timeout=LIMIT_S)
    expect("exit status", process.returncode, PARTIAL)
    expect("stderr", err.strip(), "")  # quiet
    if "Interrupted: " not in out:
        raise Failure(f"says nothing of the interrupt: {out[-200:]!r}")
    check_database(path, stage)


def stopped_twice(profile, stage, path):
    """The second Ctrl-C does not wait for a pass; the run is called interrupted when the database is next written."""
    process = start(profile, stage, path)
    until(lambda: stage.seen(path), process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_S)
    if process.returncode not in (-signal.SIGINT, PARTIAL):
        raise Failure(f"exit status {process.returncode}")
    again = subprocess.run([profile, "replay", str(path), "--device", "null", "-q", "--repeats", "1"],
                           capture_output=True, text=True)
    if ask(path, "SELECT status FROM run WHERE id = 1") != ("interrupted",):
        raise Failure(f"the next replay: {again.returncode}: {again.stderr.strip()}; {ask(path, 'SELECT status FROM run')}")


def says_so(profile, stage, path):
    process = subprocess.Popen([profile, *(str(path) if word == "DB" else word for word in stage.arguments if word != "-q")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until(lambda: stage.seen(path), process)
    process.send_signal(signal.SIGINT)
    expect("stderr", process.communicate(timeout=LIMIT_S)[1].strip(), SAID)


def ignored(profile, stage, path):
    """nohup: a hang-up changes nothing."""
    process = start(profile, stage, path, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    until(lambda: stage.seen(path), process)
    process.send_signal(signal.SIGHUP)
    before = ask(path, "SELECT count(*) FROM pass")[0]
    until(lambda: ask(path, "SELECT count(*) FROM pass")[0] > before, process)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=LIMIT_S)
    expect("exit status", process.returncode, PARTIAL)


def importing(profile, mnist, folder):
    """An import of a large file ends at once, the database is as it was before."""
    large, path = folder / "large.hlo", folder / "import.db"
    lines = "".join(f"  a{i} = f32[8] add(a{i - 1}, a{i // 2})\n" for i in range(1, 200000))
    large.write_text(f"HloModule large\nENTRY e {{\n  a0 = f32[8] parameter(0)\n{lines}  ROOT r = f32[8] negate(a1)\n}}\n")
    subprocess.run([profile, "import", mnist, "-o", str(path)], check=True, capture_output=True)
    process = subprocess.Popen([profile, "import", str(large), "-o", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    log = pathlib.Path(f"{path}-wal")
    until(lambda: log.exists() and log.stat().st_size > 0, process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_S)
    expect("exit status", process.returncode, -signal.SIGINT)
    database = sqlite3.connect(path)
    expect("sources", database.execute("SELECT count(*) FROM source").fetchone(), (1,))
    expect("integrity", database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
    database.close()


def reading(profile, folder):
    """A query that never ends is ended by Ctrl-C, and by a reader that has seen enough."""
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
    process = subprocess.Popen([profile, "query", str(folder / "import.db"), endless, "--format", "csv"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    process.stdout.read(100000)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_S)
    expect("exit status", process.returncode, -signal.SIGINT)
    process = subprocess.Popen([profile, "query", str(folder / "import.db"), endless], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(100)
    process.stdout.close()
    expect("stderr", process.stderr.read(), b"")
    expect("exit status without a reader", process.wait(timeout=LIMIT_S), 0)


def tests(profile, mnist, bert, folder):
    """Names and bodies."""
    all_stages = stages(mnist, bert)
    for stage in all_stages:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if stage.passes else (signal.SIGINT,):
            path = folder / f"{stage.name}.{number.name}.db"
            yield f"{number.name} while {stage.name}", lambda s=stage, p=path, n=number: stopped_once(profile, s, p, n)
    yield "twice", lambda: stopped_twice(profile, all_stages[2], folder / "twice.db")
    yield "says so", lambda: says_so(profile, all_stages[2], folder / "says.db")
    yield "nohup", lambda: ignored(profile, all_stages[2], folder / "nohup.db")
    yield "importing", lambda: importing(profile, mnist, folder)
    yield "reading", lambda: reading(profile, folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("profile")
    parser.add_argument("samples", type=pathlib.Path)
    arguments = parser.parse_args()
    dumps = [str(arguments.samples / name) for name in ("mnist_train_step.hlo.txt", "bert_pretrain_step.hlo.txt")]
    failed = count = 0
    with tempfile.TemporaryDirectory(prefix="interrupt.") as name:
        for title, body in tests(arguments.profile, *dumps, pathlib.Path(name)):
            count += 1
            try:
                body()
            except (Failure, subprocess.SubprocessError, sqlite3.Error) as failure:
                failed += 1
                print(f"{title}: {failure}", file=sys.stderr)
    print(f"{count} tests, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
