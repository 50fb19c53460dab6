"""Runs a benchmark in children that are killed at random moments. Prints a JSON line of what was left.

usage: killed.py DIRECTORY SEED KILLS
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from iosonde.bench.backends.places import parse_place
from iosonde.bench.metadata.kept_tree import read_kept
from iosonde.bench.metadata.spec import Spec, settled
from iosonde.bench.metadata.steps import MetadataSteps
from iosonde.host.processes import Alone

SPEC = Spec(data_sets=2, objects=60, iterations=40, size_bytes=5000, verify=True, seed=1)
RANKS = 3


class Silent:
    def __init__(self):
        self.notes = []

    def progress(self, *_):
        pass

    def wanted(self):
        return False

    def note(self, text):
        self.notes.append(text)

    def result(self, _):
        pass


def run(directory, phases):
    place = parse_place(directory, {})
    watch = Silent()
    spec = settled(SPEC, read_kept(place, Alone()), RANKS, phases, directory)
    steps = MetadataSteps(spec, place, Alone(), RANKS, watch)
    steps.begin(making="precreate" in phases)
    results = []
    if "precreate" in phases:
        results.append(steps.precreate())
    results += [steps.benchmark(i) for i in range(20 if "precreate" in phases else 2)]
    return results, watch.notes


def objects(directory):
    return sum(1 for path in Path(directory).rglob("*") if path.is_file() and len(path.name) == 16)


def main():
    directory, seed, kills = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    repaired = 0
    for _ in range(kills):
        child = os.fork()
        if child == 0:
            run(directory, ("precreate", "benchmark"))
            os._exit(0)
        time.sleep(rng.uniform(0.002, 0.08))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        after = os.fork()
        if after == 0:
            kept = read_kept(parse_place(directory, {}), Alone())
            phases = ("benchmark",) if kept else ("precreate", "benchmark")
            results, notes = run(directory, phases)
            failures = sum(result.total.failures for result in results)
            found = objects(directory)
            right = failures == 0 and found == 2 * 60 * RANKS
            print(json.dumps({"failures": failures, "objects": found, "notes": notes}), flush=True)
            os._exit(0 if right else 1)
        _, status = os.waitpid(after, 0)
        if status:
            sys.exit(f"seed {seed}: exit status {status}")
        repaired += 1
    print(json.dumps({"survived": repaired}))


main()
