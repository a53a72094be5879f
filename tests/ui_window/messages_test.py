#!/usr/bin/env python3
"""What profile-view says of what it cannot show, and how it ends."""
import pathlib
import sqlite3
import sys
import tempfile

import viewer


def spoil(path, sql):
    connection = sqlite3.connect(path)
    connection.execute(sql)
    connection.commit()
    connection.close()


def lock(path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    return connection


def test(options):
    view = options.programs / "profile-view"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        good = viewer.database(options, "mnist").read_bytes()

        def make(file, data):
            (folder / file).write_bytes(data)
            return folder / file

        def check(what, arguments, status, *said):
            result = viewer.run([view, *arguments, "--screenshot", folder / "x.png"], cwd=folder)
            viewer.expect(result.returncode == status, f"{what}: exit status {result.returncode}, not {status}; it said: {result.stderr}")
            for part in said:
                viewer.expect(part in result.stderr, f"{what}: '{part}' is not in: {result.stderr}")
            viewer.expect(all(line.startswith("profile-view: ") for line in result.stderr.splitlines()), f"{what}: {result.stderr}")

        make("good.db", good)
        check("a good one", ["good.db"], 0)
        check("missing", ["none.db"], 1, "none.db", "no such file")
        check("a text", [make("text.db", b"HloModule a\n")], 1, "text.db")
        check("nothing in it", [make("zero.db", b"")], 1, "zero.db", "is empty")
        check("damaged", [make("damaged.db", good[:200] + b"\x5a" * 100_000 + good[100_200:])], 1, "damaged.db")
        check("cut off", [make("cut.db", good[: len(good) // 2])], 1, "cut.db")
        make("foreign.db", b"")
        spoil(folder / "foreign.db", "CREATE TABLE theirs (x)")
        check("foreign", ["foreign.db"], 1, "foreign.db")
        make("newer.db", good)
        spoil(folder / "newer.db", "PRAGMA user_version = 9999")
        check("newer", ["newer.db"], 1, "newer.db", "newer")
        make("locked.db", good)
        connection = lock(folder / "locked.db")
        check("locked", ["locked.db"], 1, "locked.db")
        connection.close()
        viewer.run([options.programs / "profile", "import", options.samples / viewer.SAMPLES["mnist"], "-o", folder / "no_run.db"])
        check("without a run", ["no_run.db"], 1, "holds no run yet")
        check("one good, one bad", ["good.db", "none.db"], 1, "none.db")
        check("no database", [], 2, "no database is named")
        make("profile.db", good)
        check("profile.db of the folder", [], 0)
        check("no such panel", ["good.db", "--panel", "tpo"], 2, "--panel 'tpo'", "top")
        check("no such step", ["good.db", "--select", "nothing.1"], 2, "nothing.1")
        check("no such run", ["good.db", "--run", "9"], 2, "run 9")
        check("no such size", ["good.db", "--size", "huge"], 2, "--size 'huge'")
        check("a picture of a folder that is not there", ["good.db", "--screenshot", folder / "no" / "x.png"], 2)
        result = viewer.run([options.programs / "profile", "view", "good.db", "--panel", "top", "--screenshot", "viewed.png"], cwd=folder)
        viewer.expect(result.returncode == 0 and (folder / "viewed.png").exists(), f"profile view: {result.returncode} {result.stderr}")
        result = viewer.run([view, "good.db"], cwd=folder, env={"PATH": "/usr/bin", "HOME": name})
        viewer.expect(result.returncode == 6 and "--screenshot" in result.stderr, f"no display: {result.returncode} {result.stderr}")
    return 0


if __name__ == "__main__":
    sys.exit(viewer.main(test))
