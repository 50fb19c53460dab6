"""Who is named for events of known cause, on worlds with a capacity (``worlds``).

    python -m benchmarks blame_worlds [--seeds 60] [--only hog,two]

first     a culprit is the first of the ranking; "by operations": whoever did most in the event is one
said      of culprits "caused most of it"; named: a culprit is named at all, with any word
accused   an innocent "caused most of it"; wrong: an innocent is named, with any word
together  "all of them together", and nobody named
unsure    not identifiable: several have the same course of load
"""

from __future__ import annotations

from functools import partial

from benchmarks.truth.load.worlds import KINDS, world
from benchmarks.truth.shares import shares, show
from iosonde.jobs.attribution.blame import blame
from iosonde.jobs.attribution.culprits import Confidence


def verdict(kind: str, seed: int) -> tuple[bool, ...]:
    """Flags of one event, in the order of the table."""
    made = world(kind, seed)
    by = "user" if made.by_user else "job_id"
    found = blame(made.joined, made.begin_ns, made.end_ns, made.slowdown, by)
    guilty = set(made.culprits)
    named = [one for one in found.ranked if one.suspect.confidence is not Confidence.ACTIVE]
    most = [one.who for one in named if one.suspect.confidence is Confidence.MOST]
    first = [one.who for one in found.ranked[:1]]
    largest = [one.who for one in found.shares.ranked[:1]]
    return (
        bool(guilty.intersection(first)),
        bool(guilty.intersection(largest)),
        bool(guilty.intersection(most)),
        guilty <= {one.who for one in named} and bool(guilty),
        bool(set(most) - guilty),
        bool({one.who for one in named} - guilty),
        not named and found.found is not None and found.found.together,
        not named and any(one.alike for one in found.ranked),
    )


def main(seeds: int = 60, first: int = 0, only: str = "") -> None:
    """Print a row a kind of event."""
    head = ("first", "by operations", "said", "named", "accused", "wrong", "together", "unsure")
    kinds = only.split(",") if only else KINDS
    show(
        ("event", *head),
        ((kind, *map(float, shares(partial(verdict, kind), seeds, first))) for kind in kinds),
    )
