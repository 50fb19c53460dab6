"""The whole path: ``python -m benchmarks.load.from_files [--seeds 10]``.

A generated day as collectl files, sacct and a probe's samples is imported, and ``iosonde blame`` asked for the event: a
hog on four nodes, or a fault of the storage.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
from pathlib import Path

from benchmarks import machine
from benchmarks.load.as_files import HOG, TARGET, hog_event, write_files
from benchmarks.load.week import Cluster
from iosonde.cli.main import main as iosonde
from iosonde.jobs.attribution.culprits import Confidence
from iosonde.jobs.blame.answers import blamed
from iosonde.jobs.blame.interval import BlameQuestion

CLUSTER = Cluster(exclusive=8, shared=4, jobs=160, days=0.9)


def asked(seed: int, *, hog: bool) -> list[tuple[str, Confidence]]:
    """Suspects of the event that the store has, with how sure they are."""
    event = hog_event(seed, hog=hog, cluster=CLUSTER)
    with tempfile.TemporaryDirectory() as folder:
        *records, samples = map(str, write_files(event, Path(folder) / "files"))
        store = str(Path(folder) / "store")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            iosonde(["import", *records, "--store", store])
            iosonde(["import", samples, "--target", TARGET, "--store", store])
        middle = (event.begin_ns + event.end_ns) // 2
        answer = blamed(
            Path(store), BlameQuestion(TARGET, at_ns=middle), event.end_ns + 86_400 * 10**9
        )
    return [(one.who, one.suspect.confidence) for one in answer.found.ranked]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=100)
    given = parser.parse_args()
    print(machine.line())
    print(
        "\n| event | n | hog first | hog 'caused most of it' | hog named | another named |\n|---|---|---|---|---|---|"
    )
    for hog in (True, False):
        first = most = named = wrong = 0
        for seed in range(given.first, given.first + given.seeds):
            found = asked(seed, hog=hog)
            sure = [who for who, word in found if word is not Confidence.ACTIVE]
            first += bool(found) and found[0][0] == HOG
            most += (HOG, Confidence.MOST) in found
            named += HOG in sure
            wrong += any(who != HOG for who in sure)
        kind = "hog" if hog else "fault"
        print(f"| {kind} | {given.seeds} | {first} | {most} | {named} | {wrong} |", flush=True)


if __name__ == "__main__":
    main()
