"""From files of collectl, sacct and a probe to the answer of `iosonde blame`.

    python -m benchmarks blame_files [--seeds 10]

A generated day as collectl files, sacct and a probe's samples is imported, and ``iosonde blame`` asked for the event: a
hog on four nodes, or a fault of the storage.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.truth.load.as_files import HOG, TARGET, hog_event, write_files
from benchmarks.truth.load.week import Cluster
from benchmarks.truth.shares import shares, show
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


def verdict(hog: bool, seed: int) -> tuple[bool, ...]:
    """The hog is first, "caused most of it", named with confidence; another is named with confidence."""
    found = asked(seed, hog=hog)
    sure = [who for who, word in found if word is not Confidence.ACTIVE]
    first = bool(found) and found[0][0] == HOG
    return first, (HOG, Confidence.MOST) in found, HOG in sure, any(who != HOG for who in sure)


def main(seeds: int = 10, first: int = 100) -> None:
    """Print shares of the seeds."""
    show(
        ("event", "n", "hog first", "hog 'caused most of it'", "hog named", "another named"),
        (
            ("hog" if hog else "fault", seeds, *shares(partial(verdict, hog), seeds, first))
            for hog in (True, False)
        ),
    )
