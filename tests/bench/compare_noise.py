#!/usr/bin/env python3
"""How often does `profile compare` call a change between runs of the same program, where nothing has changed?

compare_noise.py PROFILE DATABASE    {"runs": …, "pairs": …, "judged": …, "called": …, "guessed": …, "totals_called": …, "totals_guessed": …,
"alike_percent": [median, largest], "noise_percent": [median, largest]}

DATABASE holds runs of one program on one machine: profile --replay FILE -o DATABASE, several times. All pairs of them are compared; a verdict
with a question mark is a guess.
"""
import itertools
import json
import statistics
import subprocess
import sys

SURE, GUESS = {"slower", "faster"}, {"slower?", "faster?"}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(profile, database):
    runs = [row["run"] for row in json.loads(run(profile, "query", database, "SELECT id AS run FROM run ORDER BY id", "--format", "json"))]
    steps, totals, alike, noise = [], [], [], []
    for before, after in itertools.combinations(runs, 2):
        found = json.loads(run(profile, "compare", database, str(before), str(after), "--format", "json"))
        steps += [step["verdict"] for step in found["steps"]]
        totals.append(found["total"][0]["verdict"])
        if found["total"][0]["noise_percent"] is not None:
            alike.append(abs(found["total"][0]["alike_percent"]))
            noise.append(found["total"][0]["noise_percent"])
    judged = [verdict for verdict in steps if verdict in SURE | GUESS | {"same"}]
    count = lambda verdicts, words: sum(verdict in words for verdict in verdicts)
    middle = lambda values: [round(statistics.median(values), 1), round(max(values), 1)] if values else []
    print(json.dumps({"runs": len(runs), "pairs": len(totals), "judged": len(judged), "called": count(judged, SURE), "guessed": count(judged, GUESS),
                      "totals_called": count(totals, SURE), "totals_guessed": count(totals, GUESS), "alike_percent": middle(alike),
                      "noise_percent": middle(noise)}))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: compare_noise.py PROFILE DATABASE")
    main(*sys.argv[1:])
