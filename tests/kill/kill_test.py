#!/usr/bin/env python3
"""Kills `profile` with SIGKILL at 50 moments of import and replay: the database must open afterwards, be whole, and hold what was saved.

What was saved is known from outside: an import has printed its account, a run shows its passes to a reader that follows it.
"""
import argparse
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time


def passes(path):
    """Passes that a reader sees while the run goes on; 0 before there is a database."""
    if not path.exists():
        return 0
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
    try:
        return database.execute("SELECT count(*) FROM pass").fetchone()[0]
    except sqlite3.OperationalError:  # the schema is not committed yet
        return 0
    finally:
        database.close()


def check(profile, path, imported, seen):
    """The faults of a database that a killed process left."""
    if not path.exists():
        return ["the database is gone"] if imported or seen else []
    listed = subprocess.run([profile, "list", path], capture_output=True, text=True)
    if listed.returncode != 0 and not (listed.returncode == 1 and not imported and not seen):
        return [f"profile list: {listed.returncode}: {listed.stderr.strip()}"]
    database = sqlite3.connect(path)
    faults = [row[0] for row in database.execute("PRAGMA integrity_check") if row[0] != "ok"]
    tables = {row[0] for row in database.execute("SELECT name FROM sqlite_schema")}
    if imported and ("source" not in tables or not database.execute("SELECT count(*) FROM source").fetchone()[0]):
        faults.append("the import that was reported is lost")
    kept = database.execute("SELECT count(*) FROM pass").fetchone()[0] if "pass" in tables else 0
    database.close()
    return faults + ([f"{seen} passes were seen, {kept} are kept"] if kept < seen else [])


def replays_again(profile, dump, path):
    """The left database takes the next run, and the killed one is called interrupted."""
    again = subprocess.run([profile, "replay", dump, "-o", path, "--device", "null", "-q"], capture_output=True, text=True)
    if again.returncode != 0:
        return [f"the next replay: {again.returncode}: {again.stderr.strip()}"]
    database = sqlite3.connect(path)
    running = database.execute("SELECT count(*) FROM run WHERE status = 'running'").fetchone()[0]
    database.close()
    return [f"{running} runs are still called running"] if running else []


def wait_for_passes(path, wanted, limit_s):
    """Returns when a reader sees so many passes, or after the limit."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end and passes(path) < wanted:
        time.sleep(0.002)


def one(profile, dump, folder, moment):
    """Of five kills one hits an import, two the stages before the first pass (by time), two the passes (by what has been seen)."""
    path = folder / f"{moment}.db"
    kind = moment % 5
    replay = [profile, "replay", dump, "-o", path, "--device", "null", "--repeats", "1000000", "-q"]
    process = subprocess.Popen([profile, "import", dump, "-o", path] if kind == 0 else replay, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    if kind < 3:
        time.sleep(moment * 0.002)
    else:
        wait_for_passes(path, moment, 20)
    seen = passes(path)
    process.kill()
    imported = bool(process.communicate()[0])
    faults = check(profile, path, imported, seen)
    return seen, faults or (replays_again(profile, dump, path) if moment % 10 == 9 else [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("profile")
    parser.add_argument("dump")
    parser.add_argument("--moments", type=int, default=50)
    arguments = parser.parse_args()
    failed = with_passes = 0
    with tempfile.TemporaryDirectory(prefix="kill.") as name:
        for moment in range(arguments.moments):
            seen, faults = one(arguments.profile, arguments.dump, pathlib.Path(name), moment)
            with_passes += seen > 0
            for fault in faults:
                failed += 1
                print(f"kill {moment}: {fault}", file=sys.stderr)
    if with_passes == 0:
        print("no kill came after the first pass", file=sys.stderr)
    print(f"{arguments.moments} kills, {with_passes} of them after passes were saved; {failed} faults")
    sys.exit(1 if failed or with_passes == 0 else 0)


if __name__ == "__main__":
    main()
