#!/usr/bin/env python3
"""Runs .case files: command lines with the output that they must have.

A case is read line by line; what starts a line tells what it is:

    # words                  a comment
    ~ TIME [0-9.]+ (ms|s)    in this case, what matches the pattern is shown as <TIME>
    $ profile --version      a command, given to sh in a fresh directory ($SAMPLES: the dumps of samples/; the tree's build/, samples/ and
                             tools/ are there too); the commands of one case share the directory
    profile 0.1.0            a line of its stdout
    ! profile: no such file  a line of its stderr
    = 2                      its exit status, where that is not 0
    ? unshare -rm true       what this system must be able to do: where the command fails the rest of the case is left out, with a message
    @ README.md tools/       the commands in the ```sh blocks of a file of the tree, each of which must exit 0; those that start with one of
                             the words after the name are left out
    \\$ 5                    a line of stdout that would be taken for one of the above

Empty lines at the end of an output do not count. A case passes if `--update` would not change it.
"""
import argparse
import dataclasses
import difflib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

MARKS = "#~$!=@?\\"


@dataclasses.dataclass
class Command:
    line: str
    stdout: list = dataclasses.field(default_factory=list)
    stderr: list = dataclasses.field(default_factory=list)
    status: int = 0


@dataclasses.dataclass
class Normal:
    name: str
    pattern: re.Pattern


@dataclasses.dataclass
class Needed:
    """`? COMMAND`"""
    line: str


@dataclasses.dataclass
class Commands:
    """`@ FILE LEFT_OUT...`"""
    file: str
    left_out: tuple


def parse(text, name="case"):
    """The items of a case in order: comments (str), Normal, Command, Commands."""
    items = []
    for number, line in enumerate(text.splitlines(), 1):
        mark, rest = (line[:1], line[2:]) if line[1:2] in (" ", "") else ("", line)
        if mark and mark == line[:1] and mark in "#~$@?":
            items.append(item_of(mark, rest, f"{name}:{number}"))
        elif not items or not isinstance(items[-1], Command):
            if line:
                raise ValueError(f"{name}:{number}: output before any command; start the command's line with '$ '")
        elif mark == "!" and line:
            items[-1].stderr.append(rest)
        elif mark == "=" and line:
            items[-1].status = int(rest)
        else:
            items[-1].stdout.append(line[1:] if line[:1] == "\\" and line[1:2] in MARKS else line)
    for item in items:
        if isinstance(item, Command):
            item.stdout = trimmed(item.stdout)
    return items


def item_of(mark, rest, place):
    if mark == "#":
        return rest
    if mark == "$":
        return Command(rest)
    if mark == "?":
        return Needed(rest)
    words = rest.split()
    if mark == "@":
        if not words:
            raise ValueError(f"{place}: no file; write '@ README.md'")
        return Commands(words[0], tuple(words[1:]))
    if len(words) < 2:
        raise ValueError(f"{place}: no pattern; write '~ NAME PATTERN'")
    return Normal(words[0], re.compile(rest.split(None, 1)[1]))


def trimmed(lines):
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def printed(items):
    """The text of a case; parse(printed(items)) == items."""
    lines = []
    for item in items:
        if isinstance(item, str):
            lines.append(f"# {item}".rstrip())
        elif isinstance(item, Normal):
            lines.append(f"~ {item.name} {item.pattern.pattern}")
        elif isinstance(item, Needed):
            lines.append(f"? {item.line}")
        elif isinstance(item, Commands):
            lines.append(" ".join(["@", item.file, *item.left_out]))
        else:
            lines.append(f"$ {item.line}")
            lines += [escaped(line) for line in item.stdout]
            lines += [f"! {line}".rstrip() for line in item.stderr]
            lines += [f"= {item.status}"] if item.status else []
            lines.append("")
    return "\n".join(trimmed(lines)) + "\n"


def escaped(line):
    return "\\" + line if line[:1] and line[0] in MARKS and line[1:2] in (" ", "") or line[:1] == "\\" else line


def sh_blocks(text):
    """The lines of all ```sh blocks; a line that ends in a backslash goes on in the next."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = re.sub(r"\\\n\s*", "", "".join(blocks)).splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


@dataclasses.dataclass
class World:
    """Where commands run."""
    tree: pathlib.Path
    programs: pathlib.Path  # the folder of the built programs
    directory: pathlib.Path
    timeout_s: float

    def run(self, line):
        env = dict(os.environ, HOME=str(self.directory), LC_ALL="C.UTF-8", SAMPLES=str(self.tree / "samples"),
                   PATH=f"{self.programs}:{os.environ['PATH']}")
        for name in ("COLUMNS", "NO_COLOR", "CLICOLOR_FORCE"):
            env.pop(name, None)
        shell = subprocess.Popen(["sh", "-c", line], cwd=self.directory, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True)
        try:
            stdout, stderr = shell.communicate(timeout=self.timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)  # with all that it started
            shell.communicate()
            raise
        status = shell.returncode if shell.returncode >= 0 else 128 - shell.returncode
        return Command(line, self.lines(stdout), self.lines(stderr), status)

    def lines(self, output):
        """As text, the run's own paths replaced by the names that the case knows them by."""
        text = output.decode("utf-8", "backslashreplace")
        text = text.replace(str(self.tree / "samples"), "$SAMPLES").replace(str(self.directory), "$PWD")
        return trimmed([line.rstrip() for line in text.splitlines()])

    def place_links(self):
        for name, target in (("samples", self.tree / "samples"), ("tools", self.tree / "tools"), ("build", self.programs)):
            if target.exists():
                (self.directory / name).symlink_to(target)


def normalised(lines, normals):
    for normal in normals:
        lines = [normal.pattern.sub(f"<{normal.name}>", line) for line in lines]
    return lines


def rerun(items, world):
    """The case as its commands answer now, and the failures of commands whose output is not compared."""
    normals = [item for item in items if isinstance(item, Normal)]
    result, failures = [], []
    for number, item in enumerate(items):
        if isinstance(item, Needed) and world.run(item.line).status:
            print(f"skipped from here on, because this system refuses: {item.line}")
            return result + items[number:], failures
        if isinstance(item, Command):
            now = world.run(item.line)
            item = dataclasses.replace(now, stdout=normalised(now.stdout, normals), stderr=normalised(now.stderr, normals))
        elif isinstance(item, Commands):
            for line in sh_blocks((world.tree / item.file).read_text()):
                if line.startswith(item.left_out):
                    continue
                now = world.run(line)
                if now.status:
                    failures.append("\n".join([f"$ {line}", *now.stdout, *(f"! {text}" for text in now.stderr), f"= {now.status}"]))
        result.append(item)
    return result, failures


def check(path, world, update):
    """"" if the case holds (or was updated), else what to show."""
    try:
        items = parse(path.read_text(), str(path))
        now, failures = rerun(items, world)
    except ValueError as error:
        return str(error)
    except subprocess.TimeoutExpired as error:
        return f"{path}: '{error.cmd[-1]}' has not ended after {error.timeout:g} s"
    if failures:
        return "\n".join([f"{path}: commands that failed:", *failures])
    before, after = printed(items), printed(now)
    if before == after:
        return ""
    if update:
        path.write_text(after)
        print(f"{path}: updated; read the diff")
        return ""
    diff = difflib.unified_diff(before.splitlines(), after.splitlines(), "expected", "now", lineterm="", n=3)
    return "\n".join([f"{path}: another output than expected; if it is right: tests/cases/run.py --update {path.stem}", *diff])


def main():
    tree = pathlib.Path(__file__).resolve().parent.parent.parent
    parser = argparse.ArgumentParser(description="Runs the cases named (all without a name) against the built programs.")
    parser.add_argument("names", nargs="*", metavar="CASE", help="name or path of a case")
    parser.add_argument("--programs", type=pathlib.Path, default=tree / "build", help="folder of the built programs (build)")
    parser.add_argument("--update", action="store_true", help="write what the commands answer now into the cases")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one command (120)")
    arguments = parser.parse_args()
    folder = tree / "tests" / "cases"
    paths = [pathlib.Path(name) if name.endswith(".case") else folder / f"{name}.case" for name in arguments.names]
    failed = 0
    for path in paths or sorted(folder.glob("*.case")):
        with tempfile.TemporaryDirectory(prefix="case.") as directory:
            world = World(tree, arguments.programs.resolve(), pathlib.Path(directory).resolve(), arguments.timeout)
            world.place_links()
            message = check(path, world, arguments.update)
        if message:
            failed += 1
            print(message, file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
