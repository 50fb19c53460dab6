"""What is reported on: targets, each as seen from a host."""

from __future__ import annotations

from typing import NamedTuple

from iosonde.model.frames import SeriesKey


class WatchedTarget(NamedTuple):
    """What is reported on: a target as seen from a host, at one rate."""

    host: str
    target: str
    period_ns: int


def place_of(key: SeriesKey) -> WatchedTarget:
    """The place of a series."""
    return WatchedTarget(key.host, key.target, key.period_ns)
