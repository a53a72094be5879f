#!/usr/bin/env python3
"""Draws each panel and layout of the sample databases without a display, and keeps the pictures to look at."""
import re
import struct
import sys
import zlib

import viewer

SIZES = ("1280x800", "2560x1440")
EACH = 21  # bytes from one looked at to the next: every seventh pixel


def panels(options):
    """Their names, as the program tells them in its message."""
    said = viewer.run([options.programs / "profile-view", "--panel", "?", "--screenshot", "x.png"]).stderr
    return re.search(r"there are (.*)", said).group(1).strip().split(", ")


def colours(path):
    """Size of an RGB picture and how many values its pixels have, of those that are looked at: a blank one has 1."""
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
    return (width, height), len(set(zip(rows[1::EACH], rows[2::EACH], rows[3::EACH])))


def test(options):
    options.artefacts.mkdir(parents=True, exist_ok=True)
    names = [*panels(options), "layout"]
    for sample in ("bert", "resnet50", "llama"):
        for size in SIZES:
            theme = "dark" if size == SIZES[0] else "light"
            name = f"{sample}_{size}"
            command = [options.programs / "profile-view", viewer.database(options, sample), "--panel", "all", "--screenshot", options.artefacts / f"{name}.png"]
            result = viewer.run([*command, "--size", size, "--theme", theme, "--select", "12"])
            viewer.expect(result.returncode == 0 and not result.stderr, f"{name}: {result.returncode} {result.stderr}")
            for panel in names:
                path = options.artefacts / f"{name}_{panel}.png"
                shape, count = colours(path)
                viewer.expect(f"{shape[0]}x{shape[1]}" == size, f"{path.name}: {shape}")
                viewer.expect(count > 20, f"{path.name} is blank")
    return 0


if __name__ == "__main__":
    sys.exit(viewer.main(test))
