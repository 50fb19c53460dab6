"""Quality flags of numbers from other tools: one word each, used everywhere."""

from __future__ import annotations

from typing import NamedTuple

QUALITY: dict[str, str] = {
    "monitor-down": "the monitor recorded zeros while there must have been traffic: taken as missing",
    "negative-zero": "samples that were written as -0.0, which stands for missing",
    "missing": "samples that are not there",
    "counter-reset": "a counter fell back, so that step is missing",
    "clock-skew": "two clocks disagree about when the job ran",
    "over-covered": "the job moved more than the servers saw, beyond what lost samples explain",
    "naive-time": "clock times without a zone, read in the zone of --zone, else this host's",
    "ambiguous-time": "a clock time that occurs twice, or not at all, as clocks are changed",
    "wrong-unit": "the file states a unit that its numbers contradict",
    "incomplete": "the record says itself that it is incomplete",
    "stale": "recorded long before the job began",
    "no-traffic": "the job did no I/O worth the name",
    "not-a-number": "a field that is no number: taken as missing",
    "duplicate": "the same row again: the first one counts",
    "out-of-order": "rows that are not in the order of time",
    "left-out": "unknown columns or names, skipped",
    "estimated": "derived from something else, for want of a record",
}
"""Flag -> meaning. A flagged number is shown with its flag, and never silently used."""


class Note(NamedTuple):
    """Finding on the quality of an input: flag, place, and count."""

    flag: str
    """Flag of ``QUALITY``."""
    what: str
    """Place and problem, for people: ``OST0003 fell back at 12:03:05``."""
    n: int = 1

    def __str__(self) -> str:
        """``stale: year.csv, column lead: up to 95162 s before the begin (x 24)``."""
        return f"{self.flag}: {self.what}" + (f" (x {self.n})" if self.n > 1 else "")


class LeftOut(NamedTuple):
    """Dropped rows. ``note``: the equivalent note on their file, if there is one."""

    n: int
    why: str
    note: Note | None = None

    def __str__(self) -> str:
        """``3 left out: moved nothing``."""
        return f"{self.n} left out: {self.why}"
