"""What the tests of the program profile-view share: arguments, sample databases, running it."""
import argparse
import os
import pathlib
import subprocess
import sys

SKIPPED = 77  # exit status, as ctest is told
SAMPLES = {
    "mnist": "mnist_train_step.hlo.txt",
    "bert": "bert_pretrain_step.hlo.txt",
    "llama": "llama_stage.paddle.txt",
    "resnet50": "resnet50_train_step.tfnodes.txt",
}


class Failure(Exception):
    pass


def expect(condition, message):
    if not condition:
        raise Failure(message)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="folder of profile and profile-view")
    parser.add_argument("--samples", type=pathlib.Path, required=True)
    parser.add_argument("--artefacts", type=pathlib.Path, required=True, help="where pictures are kept")
    options = parser.parse_args()
    for name in ("programs", "samples", "artefacts"):
        setattr(options, name, getattr(options, name).resolve())  # programs run in folders of their own
    return options


def run(command, cwd=None, env=None):
    return subprocess.run([str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=240)


def replay(options, file, path, *more):
    """On the null device; its clock is virtual, so pictures are the same every time."""
    command = [options.programs / "profile", "--replay", file, "--device", "null", "--repeats", "5", "-q", "-f", *more, "-o", path]
    result = run(command)
    expect(result.returncode == 0, f"{command}: {result.stderr}")
    return path


def database(options, sample):
    """The sample's, made once for all tests of the viewer: the programs of tests/unit/ui keep it at the same place."""
    folder = options.programs / "ui_samples"
    folder.mkdir(exist_ok=True)
    path = folder / f"{sample}.db"
    program = options.programs / "profile"
    if path.exists() and path.stat().st_mtime > program.stat().st_mtime:
        return path
    own = replay(options, options.samples / SAMPLES[sample], folder / f"{sample}.db.{os.getpid()}")
    return own.replace(path)


def main(test):
    try:
        return test(arguments())
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1
