#!/usr/bin/env python3
"""Texts one mistake away from sound ones: mutate.py OUT [--every N] [--twice] FILE…

Of each instruction of each file one thing is changed: a number, an attribute, an operand, the result's shape or type, a word of its
configuration, or its opcode. Random bytes hardly ever get past the parser; these do, and reach what trusts the verifier. The texts go to
OUT, which tools/fuzz.sh runs through every target; their number is printed. The same files give the same texts. --every N keeps one in N,
--twice changes each text once more.
"""
import argparse
import pathlib
import random
import re

NUMBERS = ["-1", "0", "1", "3", "64", "4611686018427387904", "9223372036854775807", "-9223372036854775808"]
LISTS = ["{}", "{0}", "{0,0}", "{0,1,2,3}"]
SIZES = ["0", "1", "2", "1000000", "9223372036854775807", "<=4", "?"]
TYPES = ["pred", "s4", "u8", "s32", "f16", "f32", "f64", "c64", "f8e4m3fn", "token"]
SHAPES = ["()", "f32[]", "f32[0]", "s32[3]", "(f32[], s32[2])", "f32[2,3,1,2,1]", "f32[?,3]"]
VALUES = ["{}", "[]", "-1", "null", '\\"x\\"', '"x"']
WORDS = ["x", "EQ", "true", "b0f_0io->b0f"]
LINE = re.compile(r"^(\s*(?:ROOT )?%?[\w.\-]+ = )(.*)$")
OPCODE = re.compile(r" ([a-z][a-z0-9\-]*)\(")
ARRAY = re.compile(r"[a-z]\w*\[[^\]]*\](?:\{[^}]*\})?")


def parts(text):
    """shape, opcode, operands, attributes of `shape opcode(operands), attributes`; None where it is none."""
    found = OPCODE.search(text)
    if not found:
        return None
    depth, end = 1, found.end()
    while end < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return text[: found.start()], found.group(1), text[found.end() : end - 1], text[end:]


def replaced(text, pattern, values, group=0):
    """`text` with one match of `pattern` replaced, in every way."""
    for match in re.finditer(pattern, text):
        for value in values:
            if value != match.group(group):
                yield text[: match.start(group)] + value + text[match.end(group) :]


def attributes(text):
    yield from replaced(text, r"-?\d+", NUMBERS)
    yield from replaced(text, r", [a-z_]+=(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|[^,{}]+)", [""])
    yield from replaced(text, r"=(\{[^{}]*\})", LISTS, 1)
    yield from replaced(text, r"=([a-z]\w*)(?=,|$)", WORDS, 1)
    yield from replaced(text, r'\\?"(\w+)\\?":', ["x"], 1)
    yield from replaced(text, r':(\\?"[^"]*"|true|false|\[[^\]]*\])', VALUES, 1)


def shapes(text):
    yield from SHAPES
    yield from (f"({text})", f"({text}, {text})", f"(({text}), u8[0])")
    yield from replaced(text, r"(?<=[\[,])\d+(?=[\],])", SIZES)
    yield from replaced(text, r"\b(?:pred|[sufc]\d+|bf16|f8\w+)(?=\[)", TYPES)
    yield from replaced(re.sub(r"\{[^}]*\}", "", text), r"(?<=\[)\d+,|,\d+(?=\])", [""])
    if text.startswith("("):
        leaves = ARRAY.findall(text)
        yield from leaves
        yield f"({', '.join(leaves[:-1])})"


def operands(text, names, rng):
    given = re.split(r", ?(?![^{]*\})", text) if text else []
    for k, word in enumerate(given):
        for name in rng.sample(names, min(3, len(names))):
            if name != word:
                yield ", ".join(given[:k] + [name] + given[k + 1 :])
        yield ", ".join(given[:k] + given[k + 1 :])
        yield ", ".join(given[: k + 1] + given[k:])


def mutations(text, opcodes, rng):
    lines = text.split("\n")
    names = [line.split(" = ")[0].replace("ROOT ", "").strip() for line in lines if LINE.match(line)]
    for i, line in enumerate(lines):
        match = LINE.match(line)
        found = match and parts(match.group(2))
        if not found:
            continue
        shape, opcode, given, attrs = found
        made = [(shape, opcode, given, a) for a in attributes(attrs)] + [(s, opcode, given, attrs) for s in shapes(shape)]
        if opcode not in ("constant", "parameter"):
            made += [(shape, opcode, o, attrs) for o in operands(given, names, rng)]
            made += [(shape, o, given, attrs) for o in rng.sample(opcodes, 6)]
        for s, o, g, a in made:
            yield "\n".join(lines[:i] + [f"{match.group(1)}{s} {o}({g}){a}"] + lines[i + 1 :])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    table = (pathlib.Path(__file__).parents[2] / "src/ir/op.def").read_text()
    opcodes = re.findall(r'^OP\([a-z0-9_]*, "([^"]*)"', table, re.M)
    rng = random.Random(1)
    given.out.mkdir(parents=True, exist_ok=True)
    count = 0
    for file in sorted(given.files):
        for text in mutations(file.read_text(errors="replace"), opcodes, rng):
            if rng.randrange(given.every):
                continue
            if given.twice:
                text = rng.choice(list(mutations(text, opcodes, rng)) or [text])
            (given.out / f"{file.stem}.{count}").write_text(text)
            count += 1
    print(count)


if __name__ == "__main__":
    main()
