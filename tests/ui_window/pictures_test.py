#!/usr/bin/env python3
"""Draws each panel and layout of the sample databases without a display, and keeps the pictures to look at."""
import re
import struct
import sys
import tempfile
import zlib

import viewer

SIZES = ("1280x800", "2560x1440")


def panels(options):
    """Their names, as the program tells them in its message."""
    said = viewer.run([options.programs / "profile-view", "--panel", "?", "--screenshot", "x.png"]).stderr
    return re.search(r"there are (.*)", said).group(1).strip().split(", ")


def colours(path):
    """Size of an RGB picture and how many colours its rows have: a blank one has 1."""
    data = path.read_bytes()
    viewer.expect(data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG")
    width, height = struct.unpack(">II", data[16:24])
    at, packed = 8, b""
    while at < len(data):
        length = struct.unpack(">I", data[at : at + 4])[0]
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += length + 12
    rows = zlib.decompress(packed)
    return (width, height), len(set(rows[i : i + 3] for i in range(1, min(len(rows), 3_000_000), 3)))


def test(options):
    options.artefacts.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for sample in ("bert", "resnet50", "llama"):
            database = viewer.database(options, folder, sample)
            for size in SIZES:
                theme = "dark" if size == SIZES[0] else "light"
                for panel in [*panels(options), ""]:
                    path = options.artefacts / f"{sample}_{panel or 'layout'}_{size}.png"
                    command = [options.programs / "profile-view", database, "--screenshot", path, "--size", size, "--theme", theme, "--select", "12"]
                    result = viewer.run([*command, "--panel", panel] if panel else command)
                    viewer.expect(result.returncode == 0 and not result.stderr, f"{path.name}: {result.returncode} {result.stderr}")
                    shape, count = colours(path)
                    viewer.expect(f"{shape[0]}x{shape[1]}" == size, f"{path.name}: {shape}")
                    viewer.expect(count > 20, f"{path.name} is blank")
    return 0


if __name__ == "__main__":
    sys.exit(viewer.main(test))
