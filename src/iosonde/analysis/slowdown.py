"""Slowdown over history: windows -> baseline -> slowdown -> spans."""

from __future__ import annotations

from iosonde.model.frames import SlowdownQuery, SlowdownResult
from iosonde.store.store import Store


def analyse(store: Store, query: SlowdownQuery) -> SlowdownResult:
    """Windows with baseline and slowdown, slow spans, and what is usual per series."""
    raise NotImplementedError
